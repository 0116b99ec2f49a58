#include "app/session/traced_model.h"

#include "core/archive/pt2_reader.h"
#include "core/archive/trace_reader.h"
#include "core/plan/plan.h"
#include "fusion/fusion.h"

#include <algorithm>
#include <set>

namespace workbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool hasSafetensors(const fs::path& directory) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error))
        if (entry.path().extension() == ".safetensors")
            return true;
    return false;
}

/// What the graph does not show of a configuration: the kind of the model and the values of its rotary
/// tables. All else that a plan depends on is in the graph; token ids and the like differ between a model and
/// its fine-tunes.
json configOfPlan(const json& config) {
    json kept = json::object();
    for (const auto& [key, value] : config.items())
        if (key == "model_type" || key.starts_with("rope") || key == "partial_rotary_factor")
            kept[key] = value;
    return kept;
}

/// The worker drives programs of flat tokens; the tracer's are such by construction.
bool takesTokens(const Graph& graph) {
    std::set<std::string> names;
    for (const Input& input : graph.inputs)
        if (input.kind == Input::Kind::user)
            names.insert(input.target);
    return names == std::set<std::string>{"input_ids", "position_ids", "logits_to_keep"} &&
           graph.outputs.size() == 1;
}

std::int64_t largestWindow(const Graph& graph) {
    std::int64_t largest = 0;
    for (const Node& node : graph.nodes) {
        if (!node.op.starts_with("workbench.attention"))
            continue;
        const ArgumentValue* window = argument(node, "window");
        const SymInt* size = window ? std::get_if<SymInt>(window) : nullptr;
        if (size && size->isConstant())
            largest = std::max(largest, size->constant());
    }
    return largest;
}

std::int64_t lastSize(const Graph& graph) {
    if (graph.outputs.size() != 1)
        return 0;
    const SymShape& shape = graph.value(graph.outputs.front()).meta.shape;
    return !shape.empty() && shape.back().isConstant() ? shape.back().constant() : 0;
}

std::string rootClass(const Graph& graph) {
    for (const ModuleInfo& module : graph.modules)
        if (module.path.empty())
            return module.className;
    return {};
}

/// The element type of most parameters.
std::string commonDtype(const Graph& graph) {
    std::map<ScalarType, int> counts;
    for (const Input& input : graph.inputs)
        if (input.kind == Input::Kind::parameter)
            ++counts[graph.value(input.value).meta.dtype];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? "f32" : std::string(name(most->first));
}

bool isWhole(const Pt2Archive& archive) {
    return std::all_of(archive.graph.inputs.begin(), archive.graph.inputs.end(), [&](const Input& input) {
        const auto found = archive.tensors.find(input.target);
        return input.kind == Input::Kind::user || input.derived ||
               (found != archive.tensors.end() && !found->second.pickled);
    });
}

Status analyseInto(const Graph& traced, const json& config, TracedModel& model) {
    auto canonical = canonicalize(traced);
    if (!canonical)
        return canonical.error();
    model.canonical = std::move(canonical).value();
    model.analysis = analyze(model.canonical);
    model.fingerprint = fingerprint(model.canonical, config.dump());
    model.runnable = takesTokens(model.canonical);
    return Ok{};
}

ModelFacts factsOf(const Trace& trace) {
    ModelFacts facts;
    facts.className = trace.facts.className;
    facts.modelType = trace.facts.modelType;
    facts.dtype = name(trace.facts.dtype);
    facts.checkpointDtype = trace.facts.checkpointDtype;
    facts.layers = trace.facts.layers;
    facts.hiddenSize = trace.facts.hiddenSize;
    facts.vocabulary = trace.facts.vocabulary;
    facts.maxWindow = trace.facts.maxWindow;
    facts.contextLength = trace.facts.contextLength;
    facts.eosTokens = trace.facts.eosTokens;
    facts.versions = trace.versions;
    facts.versions["workbench"] = WORKBENCH_VERSION;
    facts.warnings = trace.warnings;
    return facts;
}

} // namespace

Result<TracedModel> readTracedModel(const fs::path& trace, const fs::path& directory, bool replica) {
    auto read = readTrace(trace);
    if (!read)
        return read.error();
    TracedModel model;
    model.directory = directory;
    model.archive = read->archive;
    model.facts = factsOf(*read);
    model.parameters = replica ? json::object() : read->parameters;
    model.tied = read->tied;
    model.sources = read->sources;
    model.hasWeights = replica || hasSafetensors(directory);
    if (auto analysed = analyseInto(read->graph, configOfPlan(read->config), model); !analysed)
        return analysed.error();
    return model;
}

Result<TracedModel> readArchiveModel(const fs::path& archive) {
    auto read = readPt2(archive);
    if (!read)
        return read.error();
    TracedModel model;
    model.archive = archive;
    model.parameters = json::object();
    model.sources = json::object();
    model.hasWeights = isWhole(*read);
    ModelFacts& facts = model.facts;
    facts.className = rootClass(read->graph);
    facts.dtype = commonDtype(read->graph);
    facts.vocabulary = lastSize(read->graph);
    facts.maxWindow = largestWindow(read->graph);
    facts.versions = {{"torch", read->torchVersion}, {"workbench", WORKBENCH_VERSION}};
    if (auto analysed = analyseInto(read->graph, json::object(), model); !analysed)
        return analysed.error();
    return model;
}

} // namespace workbench
