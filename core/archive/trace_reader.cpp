#include "core/archive/trace_reader.h"

#include "core/archive/pt2_reader.h"
#include "core/support/read_file.h"
#include "core/support/strict_json.h"

#include <set>

namespace workbench {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr int kMaxRecipeDepth = 8;

ScalarType dtypeFrom(const JsonView& view) {
    const std::optional<ScalarType> type = scalarTypeFromTorchName(view.text());
    if (!type)
        view.fault("is no known element type");
    return type.value_or(ScalarType::f32);
}

bool isNull(const JsonView& view) {
    return view.raw().is_null();
}

void readModel(const JsonView& model, Trace& trace) {
    model.expectKeys({"class", "model_type", "dtype", "checkpoint_dtype", "hidden_size", "num_layers",
                      "vocab_size", "max_window", "context_length", "eos_token_ids", "bos_token_id",
                      "config"});
    TraceFacts& facts = trace.facts;
    facts.className = model.at("class").text();
    facts.modelType = model.at("model_type").text();
    facts.dtype = dtypeFrom(model.at("dtype"));
    facts.checkpointDtype = isNull(model.at("checkpoint_dtype")) ? "" : model.at("checkpoint_dtype").text();
    facts.hiddenSize = model.at("hidden_size").integer();
    facts.layers = model.at("num_layers").integer();
    facts.vocabulary = model.at("vocab_size").integer();
    facts.maxWindow = model.at("max_window").integer();
    facts.contextLength = model.at("context_length").integer();
    facts.eosTokens = model.at("eos_token_ids").integers();
    if (!isNull(model.at("bos_token_id")))
        facts.bosToken = model.at("bos_token_id").integer();
    trace.config = model.at("config").raw();
    if (!trace.config.is_object())
        model.at("config").fault("is not an object");
}

std::optional<LayerPlan> readLayers(const JsonView& layers) {
    if (isNull(layers))
        return std::nullopt;
    layers.expectKeys({"prefix", "count", "traced_as"});
    return LayerPlan{layers.at("prefix").text(), layers.at("count").integer(),
                     layers.at("traced_as").integers()};
}

/// {"from": [...], "op": "cat", "dim": 0}
void checkRecipe(const JsonView& recipe, int depth) {
    const std::string op = recipe.at("op").oneOf({"copy", "cat", "stack", "unsupported"});
    recipe.at("dim").integer();
    const std::vector<JsonView> parts = recipe.at("from").items();
    if (op == "copy" && parts.size() != 1)
        recipe.fault("copies other than one tensor");
    if ((op == "cat" || op == "stack") && parts.empty())
        recipe.fault("joins no tensor");
    if (depth > kMaxRecipeDepth)
        return recipe.fault("is nested too deeply");
    for (const JsonView& part : parts) {
        if (part.has("tensor")) {
            part.expectKeys({"tensor"});
            part.at("tensor").text();
        } else {
            part.expectKeys({"from", "op", "dim"});
            checkRecipe(part, depth + 1);
        }
    }
}

void readParameters(const JsonView& parameters, Trace& trace) {
    for (const auto& [name, parameter] : parameters.members()) {
        parameter.expectKeys({"shape", "dtype", "from", "op", "dim"});
        parameter.at("shape").integers();
        parameter.at("dtype").text();
        checkRecipe(parameter, 0);
    }
    trace.parameters = parameters.raw();
}

std::optional<TraceProof> readProof(const JsonView& proof) {
    if (isNull(proof))
        return std::nullopt;
    proof.expectKeys({"reference", "dtype", "sequences", "max_abs_error", "relative_error", "tolerance"});
    return TraceProof{proof.at("reference").text(),        proof.at("dtype").text(),
                      proof.at("sequences").integers(),    proof.at("max_abs_error").number(),
                      proof.at("relative_error").number(), proof.at("tolerance").number()};
}

std::map<std::string, std::string> readTexts(const JsonView& object) {
    std::map<std::string, std::string> texts;
    for (const auto& [key, value] : object.members())
        texts[key] = value.text();
    return texts;
}

void readSidecar(const JsonView& root, Trace& trace) {
    root.expectKeys({"schema", "tracer", "model", "layers", "parameters", "tied", "computed", "sources",
                     "proof", "warnings"});
    const std::int64_t schema = root.at("schema").integer();
    if (schema != kSchema)
        return root.at("schema").fault("is " + std::to_string(schema) + "; only " + std::to_string(kSchema) +
                                       " is known, trace again");
    root.at("tracer").expectKeys({"version", "torch", "transformers"});
    trace.versions = readTexts(root.at("tracer"));
    if (auto own = trace.versions.extract("version")) {
        own.key() = "tracer";
        trace.versions.insert(std::move(own));
    }
    readModel(root.at("model"), trace);
    trace.layers = readLayers(root.at("layers"));
    readParameters(root.at("parameters"), trace);
    for (const JsonView& group : root.at("tied").items())
        trace.tied.push_back(group.texts());
    trace.computed = root.at("computed").texts();
    trace.sources = readTexts(root.at("sources"));
    trace.proof = readProof(root.at("proof"));
    trace.warnings = root.at("warnings").texts();
}

/// Every stored input of the graph must be explained: by the checkpoint (directly or through a tied name) or
/// by the archive.
Status checkInputs(const Trace& trace, const Pt2Archive& archive, const std::filesystem::path& file) {
    std::set<std::string> known;
    for (const auto& [name, parameter] : trace.parameters.items())
        known.insert(name);
    for (const auto& [name, tensor] : archive.tensors)
        known.insert(name);
    for (const std::vector<std::string>& group : trace.tied)
        for (const std::string& member : group)
            for (const std::string& other : group)
                if (known.count(other) != 0)
                    known.insert(member);
    for (const Input& input : trace.graph.inputs) {
        if (input.kind == Input::Kind::user)
            continue;
        const std::string where = file.string();
        if (known.count(input.target) == 0)
            return Error{ErrorCode::badInput,
                         "The trace " + where + " does not say where '" + input.target +
                             "' comes from; trace again.",
                         where};
        const auto parameter = trace.parameters.find(input.target);
        if (parameter == trace.parameters.end())
            continue;
        SymShape shape;
        for (const nlohmann::json& size : parameter->at("shape"))
            shape.emplace_back(size.get<std::int64_t>());
        if (shape != trace.graph.value(input.value).meta.shape)
            return Error{ErrorCode::badInput,
                         "The trace " + where + " gives '" + input.target +
                             "' another shape than its program; trace again.",
                         where};
    }
    return Ok{};
}

} // namespace

Result<Trace> readTrace(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "trace.json";
    const Result<std::string> text = readFile(file);
    if (!text)
        return text.error();
    const std::string what = "The trace " + file.string();
    const Result<nlohmann::json> json = parseJson(*text, what);
    if (!json)
        return json.error();
    Trace trace;
    JsonFault fault(what);
    readSidecar(JsonView(*json, "", fault), trace);
    if (fault.found())
        return fault.error();
    trace.archive = folder / "trace.pt2";
    Result<Pt2Archive> archive = readPt2(trace.archive);
    if (!archive)
        return archive.error();
    if (trace.layers) {
        Result<Graph> whole = replicateLayers(archive->graph, *trace.layers);
        if (!whole)
            return whole.error();
        trace.graph = std::move(*whole);
    } else {
        trace.graph = std::move(archive->graph);
    }
    const Status explained = checkInputs(trace, *archive, file);
    if (!explained)
        return explained.error();
    return trace;
}

} // namespace workbench
