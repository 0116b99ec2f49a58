#include "runtime/program/weight_store.h"

#include "runtime/program/random_weights.h"
#include "runtime/program/scalar_types.h"
#include "runtime/program/torch_edge.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>

#include <algorithm>

namespace workbench {
namespace {

std::string text(at::IntArrayRef sizes) {
    std::string result = "[";
    for (std::size_t i = 0; i < sizes.size(); ++i)
        result += (i ? ", " : "") + std::to_string(sizes[i]);
    return result + "]";
}

Result<std::vector<std::int64_t>> constantShape(const Input& input, const TensorMeta& meta) {
    std::vector<std::int64_t> shape;
    for (const SymInt& size : meta.shape) {
        if (!size.isConstant())
            return Error{ErrorCode::badInput,
                         input.target + " has the size " + size.text() +
                             ", but a stored tensor's sizes are constant.",
                         input.target};
        shape.push_back(size.constant());
    }
    return shape;
}

/// Other dtypes than the file's are only widened or narrowed between plain floating-point types: the numbers
/// of a quantised checkpoint mean nothing without their scales. Without a dtype, one of these types as it is.
Result<at::Tensor> converted(at::Tensor tensor, std::optional<ScalarType> dtype, const std::string& name) {
    const at::ScalarType stored = tensor.scalar_type();
    const at::ScalarType wanted = dtype ? toTorch(*dtype) : stored;
    const auto plain = [](at::ScalarType type) {
        return type == at::kDouble || type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
    };
    if (plain(stored) && plain(wanted))
        return stored == wanted ? tensor : tensor.to(wanted);
    if (dtype && stored == wanted)
        return tensor;
    return Error{ErrorCode::badInput,
                 name + " is stored as " + c10::toString(stored) + ", which cannot stand for " +
                     (dtype ? std::string(workbench::name(*dtype)) : "a floating-point weight") +
                     ": quantised checkpoints are not run.",
                 name};
}

/// Lets `source` look into `merged` and gives its own memory back, in every program that holds it: the
/// weights of a model and of its rewrite then exist once.
void moveInto(const at::Tensor& source, const at::Tensor& merged, std::int64_t row) {
    const at::Tensor view = merged.narrow(0, row, source.size(0));
    source.unsafeGetTensorImpl()->shallow_copy_from(view.getIntrusivePtr());
}

} // namespace

Result<std::shared_ptr<WeightStore>> WeightStore::open(WeightSpec spec) {
    std::shared_ptr<WeightStore> store(new WeightStore(std::move(spec)));
    if (!store->m_spec.directory.empty() && !store->m_spec.seed) {
        auto files = CheckpointFiles::open(store->m_spec.directory);
        if (!files)
            return files.error();
        store->m_checkpoint = std::move(*files);
    }
    if (!store->m_spec.archive.empty()) {
        auto archive = ArchiveFile::open(store->m_spec.archive);
        if (!archive)
            return archive.error();
        store->m_archive = std::move(*archive);
    }
    return store;
}

Result<at::Tensor> WeightStore::fetch(const Input& input, const TensorMeta& meta) {
    return guarded("Loading " + input.target, [&]() -> Result<at::Tensor> {
        auto shape = constantShape(input, meta);
        if (!shape)
            return shape.error();
        auto tensor = make(input, meta);
        if (!tensor)
            return tensor.error();
        if (tensor->sizes() != at::IntArrayRef(*shape))
            return otherShape(input, tensor->sizes(), *shape);
        return tensor;
    });
}

Error WeightStore::otherShape(const Input& input, at::IntArrayRef stored, at::IntArrayRef wanted) {
    return Error{ErrorCode::badInput,
                 input.target + " has the shape " + text(stored) + " in the weights, but " + text(wanted) +
                     " in the graph: the weights belong to another model.",
                 input.target};
}

/// On the store's device.
Result<at::Tensor> WeightStore::placed(Result<at::Tensor> tensor) const {
    return tensor && !m_spec.device.is_cpu() ? tensor->to(m_spec.device) : tensor;
}

Result<at::Tensor> WeightStore::make(const Input& input, const TensorMeta& meta) {
    if (input.derived)
        return derived(*input.derived, meta.dtype);
    auto shape = constantShape(input, meta);
    if (!shape)
        return shape.error();
    if (input.kind != Input::Kind::parameter && m_archive && m_archive->has(input.target)) {
        auto tensor = m_archive->read(input.target);
        return tensor ? placed(converted(*tensor, meta.dtype, input.target)) : tensor;
    }
    return stored(input.target, meta.dtype, &*shape);
}

const ParameterOrigin* WeightStore::originOf(const std::string& name) const {
    const auto place = m_spec.origins.find(name);
    return place == m_spec.origins.end() ? nullptr : &place->second;
}

/// Parameters that are copies of one checkpoint tensor (tied ones) have one key.
std::string WeightStore::keyOf(const std::string& name, std::string_view type) const {
    const ParameterOrigin* origin = originOf(name);
    const bool copied = origin && origin->op == ParameterOrigin::Op::tensor;
    return (copied ? "tensor " + origin->tensor : "parameter " + name) + " " + std::string(type);
}

std::string WeightStore::keyOf(const std::string& name, ScalarType dtype) const {
    return keyOf(name, workbench::name(dtype));
}

Result<at::Tensor> WeightStore::stored(const std::string& name, ScalarType dtype,
                                       const std::vector<std::int64_t>* shape) {
    if (shape)
        m_shapes[name] = *shape;
    const std::string key = keyOf(name, dtype);
    if (const auto known = m_tensors.find(key); known != m_tensors.end())
        return known->second;
    auto tensor = placed(parameter(name, dtype, shape));
    if (tensor)
        m_tensors[key] = *tensor;
    return tensor;
}

Result<at::Tensor> WeightStore::parameter(const std::string& name, std::optional<ScalarType> dtype,
                                          const std::vector<std::int64_t>* shape) {
    if (m_spec.seed)
        return random(name, dtype, shape);
    if (const ParameterOrigin* origin = originOf(name); origin && m_checkpoint)
        return assemble(name, *origin, dtype);
    for (const bool fromArchive : {false, true}) {
        if (fromArchive ? !(m_archive && m_archive->has(name)) : !(m_checkpoint && m_checkpoint->has(name)))
            continue;
        auto tensor = fromArchive ? m_archive->read(name) : m_checkpoint->read(name);
        return tensor ? converted(*tensor, dtype, name) : tensor;
    }
    return notFound(name);
}

Result<at::Tensor> WeightStore::assemble(const std::string& name, const ParameterOrigin& origin,
                                         std::optional<ScalarType> dtype) {
    if (origin.op == ParameterOrigin::Op::unsupported)
        return Error{ErrorCode::badInput,
                     name + " is made from the checkpoint by a conversion that the worker does not know.",
                     name};
    if (origin.op == ParameterOrigin::Op::tensor) {
        if (!m_checkpoint->has(origin.tensor))
            return notFound(origin.tensor);
        auto read = m_checkpoint->read(origin.tensor);
        return read ? converted(*read, dtype, origin.tensor) : read;
    }
    std::vector<at::Tensor> parts;
    for (const ParameterOrigin& from : origin.parts) {
        auto part = assemble(name, from, dtype);
        if (!part)
            return part;
        parts.push_back(std::move(*part));
    }
    return origin.op == ParameterOrigin::Op::cat ? at::cat(parts, origin.dim) : at::stack(parts, origin.dim);
}

Result<at::Tensor> WeightStore::random(const std::string& name, std::optional<ScalarType> dtype,
                                       const std::vector<std::int64_t>* shape) {
    const ParameterOrigin* origin = originOf(name);
    if (!shape && origin && origin->shape)
        shape = &*origin->shape;
    if (const auto seen = m_shapes.find(name); !shape && seen != m_shapes.end())
        shape = &seen->second;
    if (!shape)
        return Error{ErrorCode::badInput,
                     "The shape of " + name + " is not known, so that no random weights can be made for it.",
                     name};
    const bool copied = origin && origin->op == ParameterOrigin::Op::tensor;
    return converted(randomWeight(*m_spec.seed, copied ? origin->tensor : name, *shape), dtype, name);
}

Result<at::Tensor> WeightStore::notFound(const std::string& name) const {
    std::string places;
    if (m_checkpoint)
        places = "the checkpoint in " + m_spec.directory.string();
    if (m_archive)
        places += (places.empty() ? "" : " and ") + ("the archive " + m_spec.archive.string());
    if (places.empty())
        return Error{ErrorCode::badInput,
                     "There are no weights for " + name + ": neither a checkpoint nor an archive is given.",
                     name};
    return Error{ErrorCode::badInput, "The weights of " + name + " are missing in " + places + ".", name};
}

std::string WeightStore::derivedKey(const DerivedParameter& from, ScalarType dtype) {
    std::string key = "cat " + std::to_string(from.dim) + " " + std::string(name(dtype));
    for (const std::string& source : from.sources)
        key += " " + source;
    return key;
}

Result<at::Tensor> WeightStore::derived(const DerivedParameter& from, ScalarType dtype) {
    const std::string key = derivedKey(from, dtype);
    if (const auto known = m_tensors.find(key); known != m_tensors.end())
        return known->second;
    std::vector<at::Tensor> parts;
    std::vector<std::string> fresh;
    for (const std::string& source : from.sources) {
        if (!m_tensors.contains(keyOf(source, dtype)))
            fresh.push_back(keyOf(source, dtype));
        auto part = stored(source, dtype, nullptr);
        if (!part)
            return part.error();
        parts.push_back(*part);
    }
    const at::Tensor merged = at::cat(parts, from.dim);
    m_tensors[key] = merged;
    if (from.dim != 0) {
        for (const std::string& unused : fresh)
            m_tensors.erase(unused);
        return merged;
    }
    std::int64_t row = 0;
    for (const at::Tensor& part : parts) {
        moveInto(part, merged, row);
        row += part.size(0);
    }
    return merged;
}

} // namespace workbench
