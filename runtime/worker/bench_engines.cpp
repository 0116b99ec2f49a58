#include "runtime/worker/bench_engines.h"

#include "runtime/ops/kernel_clock.h"
#include "runtime/program/op_family.h"
#include "runtime/worker/devices.h"

#include <algorithm>

namespace workbench {
namespace {

/// Logits of float32 differ by the order of sums alone; those of bfloat16 by its rounding, a few times 2^-8
/// of the largest after many layers.
double tolerance(at::ScalarType dtype) {
    return dtype == at::kFloat ? 1e-5 : 0.06;
}

std::int64_t tokenBytes(const std::vector<AttentionShape>& shapes) {
    std::int64_t bytes = 0;
    for (const AttentionShape& shape : shapes)
        bytes += tokenBytes(shape);
    return bytes;
}

/// Tokens of whole blocks that a load holds at once.
std::int64_t storedTokens(const benchmark::Load& load, std::int64_t blockTokens) {
    const auto running = std::min<std::int64_t>(std::ssize(load), SchedulerLimits{}.runningRequests);
    const std::int64_t longest =
        (benchmark::longestTokens(load) + blockTokens - 1) / blockTokens * blockTokens;
    return std::min(running * longest, benchmark::allTokens(load) + std::ssize(load) * blockTokens);
}

void addSeconds(Json& families, std::string_view op, double seconds) {
    const std::string family(opFamily(op));
    families[family] = families.value(family, 0.0) + seconds;
}

/// By the families of the kernels' ops: a bar of hand-written code stands beside that of a program.
Json kernelsJson(const ops::KernelTimes& times) {
    Json families = Json::object();
#define WORKBENCH_ADD_SECONDS(NAME, CALL, OP) addSeconds(families, OP, times.NAME);
    WORKBENCH_KERNELS(WORKBENCH_ADD_SECONDS)
    WORKBENCH_CPU_KERNELS(WORKBENCH_ADD_SECONDS)
#undef WORKBENCH_ADD_SECONDS
    return families;
}

Json familiesJson(const Graph& graph, const std::vector<double>& seconds) {
    Json families = Json::object();
    for (std::size_t i = 0; i < seconds.size(); ++i)
        if (seconds[i] > 0)
            addSeconds(families, graph.nodes[i].op, seconds[i]);
    return families;
}

/// By the name of the first value that a node makes.
Json nodesJson(const Graph& graph, const std::vector<double>& seconds) {
    Json nodes = Json::object();
    for (std::size_t i = 0; i < seconds.size(); ++i)
        if (seconds[i] > 0 && !graph.nodes[i].outputs.empty())
            nodes[graph.value(graph.nodes[i].outputs.front()).name] = seconds[i];
    return nodes;
}

} // namespace

BenchEngines::BenchEngines(const std::vector<benchmark::Load>& loads, std::size_t programs)
    : m_loads(loads), m_programs(programs) {}

/// All caches together, and that of the comparison, take half of what was free at first at most.
PagedKvOptions BenchEngines::cacheFor(const std::vector<AttentionShape>& shapes, c10::Device device) {
    PagedKvOptions options;
    if (!m_largestCache)
        if (const auto available = availableBytes(device))
            m_largestCache = *available / (2 * (static_cast<std::int64_t>(m_programs) + 1));
    std::int64_t tokens = 0;
    for (const benchmark::Load& load : m_loads)
        tokens = std::max(tokens, storedTokens(load, options.blockTokens));
    // Layers with windows share blocks in groups, which leave slots empty.
    const bool windows = std::any_of(shapes.begin(), shapes.end(),
                                     [](const AttentionShape& shape) { return shape.window > 0; });
    options.bytes = (windows ? 3 : 1) * tokenBytes(shapes) * (tokens + 4 * options.blockTokens);
    if (m_largestCache)
        options.bytes = std::min(options.bytes, *m_largestCache);
    m_cacheBytes += options.bytes;
    return options;
}

Status BenchEngines::start(Entry entry, std::unique_ptr<ModelRunner> runner, const BlockLayout& layout) {
    EngineOptions options{.blocks = layout};
    options.blocks.reusePrefixes = false;
    for (const benchmark::Load& load : m_loads)
        options.queuedRequests = std::max<std::int64_t>(options.queuedRequests, std::ssize(load) + 1);
    auto engine = Engine::create(options, std::move(runner));
    if (!engine)
        return engine.error();
    entry.engine = std::move(*engine);
    m_entries.push_back(std::move(entry));
    return Ok{};
}

Status BenchEngines::add(const std::string& name, LanguageModel& model) {
    auto shapes = model.program().attentionShapes();
    if (!shapes)
        return shapes.error();
    const Placement placement = model.program().placement();
    auto runner = makeRunner(model, cacheFor(*shapes, placement.device));
    if (!runner)
        return runner.error();
    if (!m_original)
        m_original = &model;
    const BlockLayout layout = (*runner)->layout();
    Entry entry{name, nullptr, runner->get(), placement.direct};
    return start(std::move(entry), std::move(*runner), layout);
}

void BenchEngines::add(const std::string& name, std::shared_ptr<native::Decoder> decoder) {
    if (auto added = addNative(name, decoder); !added)
        m_native = {{"reason", added.error().message}};
}

Status BenchEngines::addNative(const std::string& name, const std::shared_ptr<native::Decoder>& decoder) {
    const PagedKvOptions options =
        cacheFor(native::attentionShapes(decoder->config(), decoder->dtype()), c10::kCPU);
    auto runner = native::NativeRunner::create(decoder, options);
    auto reference =
        m_original
            ? makeRunner(*m_original, options)
            : Error{ErrorCode::badInput, "Hand-written code is measured beside the model as it is.", {}};
    if (!runner || !reference)
        return runner ? reference.error() : runner.error();
    const BlockLayout layout = (*runner)->layout();
    if ((*reference)->layout().windows != layout.windows)
        return Error{ErrorCode::runtimeFailed, "The hand-written code sees other tokens than the model.", {}};
    auto agreement = benchmark::compareModels(**reference, **runner, layout);
    if (!agreement)
        return agreement.error();
    m_native = {{"relative_error", agreement->relativeError},
                {"tokens", agreement->tokens},
                {"equal", agreement->equal}};
    if (agreement->relativeError > tolerance(decoder->dtype()))
        return Error{ErrorCode::runtimeFailed,
                     "The hand-written code computes other numbers than the model: its logits are " +
                         std::to_string(agreement->relativeError) + " of the largest apart.",
                     {}};
    return start({name}, std::move(*runner), layout);
}

std::vector<benchmark::Contender> BenchEngines::contenders() const {
    std::vector<benchmark::Contender> all;
    for (const Entry& entry : m_entries)
        all.push_back({entry.name, entry.engine.get()});
    return all;
}

Json BenchEngines::notes() const {
    Json notes = Json::object();
    for (const Entry& entry : m_entries)
        if (entry.program && !entry.program->note().empty())
            notes[entry.name] = entry.program->note();
    return notes;
}

Result<Json> BenchEngines::profile(const benchmark::Load& load, const std::atomic<bool>& cancel) {
    Json all = Json::object();
    for (const Entry& entry : m_entries) {
        ops::KernelTimes kernels;
        CachedRunner* const clocked = entry.hasClocks ? entry.program : nullptr;
        std::vector<double> seconds(clocked ? clocked->graph().nodes.size() : 0);
        // The engine is idle: nothing runs until the load comes.
        ops::timeKernels(&kernels);
        if (clocked)
            clocked->timeNodes(&seconds);
        auto sample = benchmark::runRound(*entry.engine, load, cancel, {});
        ops::timeKernels(nullptr);
        if (clocked)
            clocked->timeNodes(nullptr);
        if (!sample)
            return sample.error();
        all[entry.name] = {
            {"steps", sample->steps}, {"step_s", sample->stepSeconds}, {"model_s", sample->modelSeconds}};
        if (entry.hasClocks)
            all[entry.name]["kernels"] = kernelsJson(kernels);
        if (clocked) {
            all[entry.name]["families"] = familiesJson(clocked->graph(), seconds);
            all[entry.name]["nodes"] = nodesJson(clocked->graph(), seconds);
        }
    }
    return all;
}

} // namespace workbench
