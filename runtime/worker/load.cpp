#include "core/graph/text.h"
#include "runtime/worker/devices.h"
#include "runtime/worker/load_checks.h"
#include "runtime/worker/weight_spec.h"
#include "runtime/worker/workshop.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Hands tensors through and tells how far loading is, at most ten times a second.
class ReportingSource : public ParameterSource {
public:
    ReportingSource(WeightStore& store, const Request& request, std::int64_t total)
        : m_store(store), m_request(request), m_total(total) {}

    Result<at::Tensor> fetch(const Input& input, const TensorMeta& meta) override {
        return reported<at::Tensor>([&] { return m_store.fetch(input, meta); });
    }
    Result<ops::PackedWeight> fetchPacked(const Input& input, const TensorMeta& meta) override {
        return reported<ops::PackedWeight>([&] { return m_store.fetchPacked(input, meta); });
    }
    Result<ops::PackedWeight> fetchPackedAsStored(const Input& input, const TensorMeta& meta) override {
        return reported<ops::PackedWeight>([&] { return m_store.fetchPackedAsStored(input, meta); });
    }
    std::optional<ops::PackedWeight> findPacked(const Input& input, const TensorMeta& meta) override {
        return m_store.findPacked(input, meta);
    }

private:
    template <typename T, typename F>
    Result<T> reported(const F& fetchOne) {
        if (m_request.cancelled())
            return Error{ErrorCode::cancelled, "Loading was cancelled.", {}};
        auto weight = fetchOne();
        ++m_done;
        if (const auto now = Clock::now(); now - m_last > std::chrono::milliseconds(100)) {
            m_last = now;
            m_request.progress("weights", m_done, m_total);
        }
        return weight;
    }

    WeightStore& m_store;
    const Request& m_request;
    std::int64_t m_total;
    std::int64_t m_done = 0;
    Clock::time_point m_last = Clock::now();
};

Json toJson(const ProductWeights& weights) {
    const auto count = [](const ProductWeights::Count& of) -> Json {
        return {{"matrices", of.matrices}, {"bytes", of.bytes}};
    };
    return {{"quantised", count(weights.quantised)},
            {"stored", count(weights.stored)},
            {"precise", count(weights.precise)}};
}

} // namespace

Result<std::shared_ptr<WeightStore>> Workshop::weights(const Json& weights, c10::Device device) {
    const std::string key = device.str() + weights.dump();
    if (m_weights && key == m_weightsKey)
        return m_weights;
    auto spec = weightSpecFromJson(weights);
    if (!spec)
        return spec.error();
    spec->device = device;
    auto store = WeightStore::open(std::move(*spec));
    if (!store)
        return store.error();
    m_weightsKey = key;
    m_weights = *store;
    return m_weights;
}

Result<Reply> Workshop::load(const Request& request) {
    const auto name = required<std::string>(request.params(), "name");
    const auto text = required<std::string>(request.params(), "graph");
    const auto spec = optional<Json>(request.params(), "weights", Json::object());
    const auto device = optional<std::string>(request.params(), "device", "cpu");
    const auto kvCacheBytes = optional<std::int64_t>(request.params(), "kv_cache_bytes", 0);
    if (const Error* error = firstError(name, text, spec, device, kvCacheBytes))
        return *error;
    auto placement = placementNamed(*device);
    if (!placement)
        return placement.error();
    m_loaded.erase(*name); // a failed load must not leave the old program to be mistaken for the new one
    m_native.clear();      // belongs to the programs that were loaded before it
    auto graph = parseGraph(*text);
    if (!graph)
        return graph.error();
    if (auto fits = checkDtype(*spec, *graph); !fits)
        return fits.error();
    auto store = weights(*spec, placement->device);
    if (!store)
        return store.error();
    if (auto packs = checkPlacement(*placement, (*store)->format()); !packs)
        return packs.error();
    const ProductWeights products = (*store)->productWeights(*graph);
    if (auto some = checkFormat((*store)->format(), products); !some)
        return some.error();
    if (auto fits = checkMemory(**store, *graph, placement->device); !fits)
        return fits.error();
    ReportingSource source(**store, request, static_cast<std::int64_t>(graph->inputs.size()));
    auto program = Program::create(std::move(*graph), source, *placement);
    if (!program)
        return program.error();
    // Programs that are there already may now read weights that were merged here.
    if (!placement->device.is_cpu())
        c10::impl::VirtualGuardImpl(placement->device.type()).getStream(placement->device).synchronize();
    Reply reply{{{"parameters", program->parameterCount()}, {"bytes", program->parameterBytes()}}};
    if ((*store)->format() != ops::WeightFormat::stored)
        reply.result["products"] = toJson(products);
    auto model = LanguageModel::create(std::move(*program));
    if (!model)
        return model.error();
    m_loaded.emplace(*name, Loaded{std::move(*model), *store, *kvCacheBytes, {}, nullptr, nullptr});
    return reply;
}

} // namespace workbench
