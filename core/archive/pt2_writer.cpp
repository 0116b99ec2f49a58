#include "core/archive/pt2_writer.h"

#include "core/archive/pt2_program.h"
#include "core/archive/pt2_sample_inputs.h"
#include "core/support/zip_writer.h"

#include <algorithm>
#include <map>

namespace workbench {
namespace {

using Json = nlohmann::json;

constexpr const char* kRoot = "model/";

std::uint64_t byteCount(const TensorMeta& meta) {
    std::uint64_t bytes = bytesPerElement(meta.dtype);
    for (const SymInt& size : meta.shape)
        bytes *= static_cast<std::uint64_t>(size.constant());
    return bytes;
}

/// Writes tensors and gathers their index.
class DataWriter {
public:
    DataWriter(const Graph& graph, const Pt2WriteOptions& options, const Json& envelope)
        : m_graph(graph), m_options(options), m_envelope(envelope) {
        for (const std::vector<std::string>& group : options.tied)
            for (const std::string& member : group)
                m_tied[member] = group.front();
    }

    Status add(const Input& input, ZipWriter& zip) {
        const TensorMeta& meta = m_graph.value(input.value).meta;
        if (!std::all_of(meta.shape.begin(), meta.shape.end(),
                         [](const SymInt& size) { return size.isConstant(); }))
            return Error{ErrorCode::badInput,
                         "The parameter '" + input.target + "' has no constant shape and cannot be written.",
                         input.target};
        const bool isWeight =
            input.kind == Input::Kind::parameter ||
            (input.kind == Input::Kind::buffer && pt2::isPersistent(m_envelope, input.target));
        Json& index = isWeight ? m_weights : m_constants;
        Json entry = {{"is_param", input.kind == Input::Kind::parameter},
                      {"use_pickle", false},
                      {"tensor_meta", pt2::storedMeta(meta)}};
        // As a parameter of a module does by itself: the program can be trained, whatever it was traced
        // under.
        entry["tensor_meta"]["requires_grad"] =
            input.kind == Input::Kind::parameter && isFloatingPoint(meta.dtype);
        const auto group = m_tied.find(input.target);
        std::string& shared = m_written[{isWeight, group == m_tied.end() ? input.target : group->second}];
        const bool isNew = shared.empty();
        if (isNew)
            shared = isWeight ? "weight_" + std::to_string(m_weightCount++)
                              : "tensor_" + std::to_string(m_constantCount++);
        entry["path_name"] = shared;
        index[input.target] = std::move(entry);
        return isNew
                   ? writeData(input, meta,
                               std::string(kRoot) + (isWeight ? "data/weights/" : "data/constants/") + shared,
                               zip)
                   : Status(Ok{});
    }

    std::string weightIndex() const { return Json{{"config", m_weights}}.dump(); }
    std::string constantIndex() const { return Json{{"config", m_constants}}.dump(); }

private:
    Status writeData(const Input& input, const TensorMeta& meta, const std::string& member, ZipWriter& zip) {
        const Result<std::string> bytes = m_options.data(input);
        if (!bytes)
            return bytes.error();
        if (bytes->size() != byteCount(meta))
            return Error{ErrorCode::badInput,
                         "The parameter '" + input.target + "' has " + std::to_string(bytes->size()) +
                             " bytes of data, but its shape needs " + std::to_string(byteCount(meta)) + ".",
                         input.target};
        return zip.add(member, *bytes);
    }

    const Graph& m_graph;
    const Pt2WriteOptions& m_options;
    const Json& m_envelope;
    std::map<std::string, std::string> m_tied;
    std::map<std::pair<bool, std::string>, std::string> m_written;
    Json m_weights = Json::object();
    Json m_constants = Json::object();
    int m_weightCount = 0;
    int m_constantCount = 0;
};

} // namespace

Status writePt2(const Graph& graph, const Pt2WriteOptions& options, const std::filesystem::path& path) {
    const Json envelope = pt2::parseEnvelope(options.envelope);
    const Result<Json> program = pt2::describeProgram(graph, options.envelope);
    if (!program)
        return program.error();
    Result<ZipWriter> zip = ZipWriter::create(path);
    if (!zip)
        return zip.error();
    DataWriter data(graph, options, envelope);
    for (const Input* input : pt2::keptInputs(graph)) {
        if (input->kind == Input::Kind::user)
            continue;
        const Status added = data.add(*input, *zip);
        if (!added)
            return added;
    }
    const std::string root = kRoot;
    const std::pair<std::string, std::string> members[] = {
        {"data/weights/model_weights_config.json", data.weightIndex()},
        {"data/constants/model_constants_config.json", data.constantIndex()},
        {"models/model.json", program->dump(-1, ' ', false, Json::error_handler_t::replace)},
        {"data/sample_inputs/model.pt", pt2::sampleInputs(graph)},
        {"archive_format", "pt2"},
        {"archive_version", "0"},
        {".data/version", "3\n"},
        {"byteorder", "little"}};
    for (const auto& [name, bytes] : members) {
        const Status added = zip->add(root + name, bytes);
        if (!added)
            return added;
    }
    return zip->commit();
}

} // namespace workbench
