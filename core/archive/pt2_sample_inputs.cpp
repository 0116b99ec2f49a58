#include "core/archive/pt2_sample_inputs.h"

#include "core/archive/pt2_sizes.h"
#include "core/support/zip_writer.h"

#include <limits>

namespace workbench::pt2 {
namespace {

constexpr std::int64_t kMaxBytes = 1 << 24;

const char* storageClass(ScalarType type) {
    switch (type) {
    case ScalarType::f64:
        return "DoubleStorage";
    case ScalarType::f32:
        return "FloatStorage";
    case ScalarType::f16:
        return "HalfStorage";
    case ScalarType::bf16:
        return "BFloat16Storage";
    case ScalarType::i64:
        return "LongStorage";
    case ScalarType::i32:
        return "IntStorage";
    case ScalarType::i16:
        return "ShortStorage";
    case ScalarType::i8:
        return "CharStorage";
    case ScalarType::u8:
        return "ByteStorage";
    case ScalarType::boolean:
        return "BoolStorage";
    case ScalarType::f8e4m3:
    case ScalarType::f8e5m2:
        return nullptr;
    }
    return nullptr;
}

/// The few opcodes of pickle protocol 2 that tensors need (Lib/pickletools.py of CPython names them).
class Pickle {
public:
    Pickle() : m_bytes("\x80\x02") {}
    void global(const std::string& module, const std::string& name) {
        m_bytes += "c" + module + "\n" + name + "\n";
    }
    void text(const std::string& value) {
        m_bytes += 'X';
        number(static_cast<std::int64_t>(value.size()));
        m_bytes += value;
    }
    void integer(std::int64_t value) {
        m_bytes += 'J';
        number(value);
    }
    void code(char opcode) { m_bytes += opcode; }
    void sizes(const std::vector<std::int64_t>& values) {
        code('(');
        for (std::int64_t value : values)
            integer(value);
        code('t');
    }
    std::string finish() { return std::move(m_bytes) + "."; }

private:
    void number(std::int64_t value) {
        for (int i = 0; i < 4; ++i)
            m_bytes += static_cast<char>(value >> (8 * i));
    }
    std::string m_bytes;
};

/// A contiguous tensor in storage `key`, as torch._utils._rebuild_tensor_v2 takes it.
void addTensor(Pickle& pickle, const std::string& key, const char* storage,
               const std::vector<std::int64_t>& shape, std::int64_t elements) {
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i])
        strides[i] = stride;
    pickle.global("torch._utils", "_rebuild_tensor_v2");
    pickle.code('(');
    pickle.code('(');
    pickle.text("storage");
    pickle.global("torch", storage);
    pickle.text(key);
    pickle.text("cpu");
    pickle.integer(elements);
    pickle.code('t');
    pickle.code('Q'); // the tuple names a storage
    pickle.integer(0);
    pickle.sizes(shape);
    pickle.sizes(strides);
    pickle.code('\x89'); // False: no gradient
    pickle.global("collections", "OrderedDict");
    pickle.code(')');
    pickle.code('R');
    pickle.code('t');
    pickle.code('R');
}

} // namespace

std::string sampleInputs(const Graph& graph) {
    const SymbolBindings examples = exampleSizes(graph);
    std::vector<std::pair<std::string, std::string>> storages;
    Pickle pickle;
    pickle.code('('); // (args, kwargs)
    pickle.code('('); // args
    for (const Input& input : graph.inputs) {
        if (input.kind != Input::Kind::user)
            continue;
        const TensorMeta& meta = graph.value(input.value).meta;
        const char* storage = storageClass(meta.dtype);
        std::int64_t bytes = static_cast<std::int64_t>(bytesPerElement(meta.dtype));
        std::vector<std::int64_t> shape;
        for (const SymInt& size : meta.shape) {
            shape.push_back(size.evaluate(examples) ? *size.evaluate(examples) : -1);
            if (shape.back() < 0 || __builtin_mul_overflow(bytes, shape.back(), &bytes) || bytes > kMaxBytes)
                return {};
        }
        if (!storage)
            return {};
        const std::string key = std::to_string(storages.size());
        addTensor(pickle, key, storage, shape,
                  bytes / static_cast<std::int64_t>(bytesPerElement(meta.dtype)));
        storages.emplace_back("archive/data/" + key, std::string(static_cast<std::size_t>(bytes), '\0'));
    }
    pickle.code('t');
    pickle.code('}');
    pickle.code('t');
    std::vector<std::pair<std::string, std::string>> members = {{"archive/data.pkl", pickle.finish()},
                                                                {"archive/byteorder", "little"}};
    members.insert(members.end(), storages.begin(), storages.end());
    members.emplace_back("archive/version", "3\n");
    return zipBytes(members);
}

} // namespace workbench::pt2
