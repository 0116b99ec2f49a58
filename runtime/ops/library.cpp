// Registers the operators with PyTorch's dispatcher. The Python package workbench_ops registers the same
// schemas; whichever comes first defines them, and both may be loaded in one process.
#include "runtime/ops/activation.h"
#include "runtime/ops/attention.h"
#include "runtime/ops/checks.h"
#include "runtime/ops/host_tables.h"
#include "runtime/ops/moe.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/rope.h"
#include "runtime/ops/schemas.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <string_view>
#include <utility>

namespace workbench::ops {
namespace {

using Optional = std::optional<at::Tensor>;

at::Tensor attentionOp(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                       const at::Tensor& positions, int64_t layer, double scale, c10::string_view mask,
                       int64_t window, double softcap, const Optional& sinks, const Optional& slopes) {
    return attention({query, key, value, positions, layer, scale, parseMask("attention", mask), window,
                      softcap, sinks, slopes});
}

at::Tensor attentionOnTablesOp(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                               const at::Tensor& positions, const at::Tensor& keyPages,
                               const at::Tensor& valuePages, const at::Tensor& sequences,
                               const at::Tensor& blocks, double scale, c10::string_view mask, int64_t window,
                               double softcap, const Optional& sinks, const Optional& slopes) {
    const AttentionArgs args{query,  key,     value, positions, 0, scale, parseMask("attention", mask),
                             window, softcap, sinks, slopes};
    PagedKvView cache{keyPages, valuePages};
    return attentionOnTables(args, cache, hostTables(args, cache, sequences, blocks));
}

at::Tensor maskOp(const at::Tensor& positions, c10::string_view kind, int64_t window) {
    return mask(positions, parseMask("mask", kind), window);
}

at::Tensor rmsNormOp(const at::Tensor& input, const Optional& weight, double eps, double weightOffset,
                     c10::string_view cast) {
    return rmsNorm(input, weight, {eps, weightOffset, parseCast("rms_norm", cast)});
}

std::tuple<at::Tensor, at::Tensor> addRmsNormOp(const at::Tensor& input, const at::Tensor& residual,
                                                const Optional& weight, double eps, double weightOffset,
                                                c10::string_view cast) {
    return addRmsNorm(input, residual, weight, {eps, weightOffset, parseCast("add_rms_norm", cast)});
}

at::Tensor actAndMulOp(const at::Tensor& gateUp, c10::string_view activation) {
    return actAndMul(gateUp, parseActivation("act_and_mul", activation));
}

std::tuple<at::Tensor, at::Tensor> ropeOp(const at::Tensor& query, const at::Tensor& key,
                                          const at::Tensor& cos, const at::Tensor& sin,
                                          c10::string_view style) {
    return rope(query, key, cos, sin, parseStyle("rope", style));
}

std::tuple<at::Tensor, at::Tensor> qkNormRopeOp(const at::Tensor& query, const at::Tensor& key,
                                                const Optional& queryWeight, const Optional& keyWeight,
                                                const at::Tensor& cos, const at::Tensor& sin, double eps,
                                                double weightOffset, c10::string_view cast,
                                                c10::string_view style) {
    const NormSpec spec{eps, weightOffset, parseCast("qk_norm_rope", cast)};
    return qkNormRope(query, key, {queryWeight, keyWeight, spec}, cos, sin,
                      parseStyle("qk_norm_rope", style));
}

at::Tensor moeExpertsOp(const at::Tensor& hidden, const at::Tensor& routingWeights, const at::Tensor& indices,
                        const at::Tensor& gateUp, const at::Tensor& down, c10::string_view activation) {
    return moeExperts({hidden, routingWeights, indices, parseActivation("moe_experts", activation)}, gateUp,
                      down);
}

std::tuple<at::Tensor, at::Tensor> moeRouteOp(const at::Tensor& logits, int64_t topK, c10::string_view order,
                                              bool renormalize, bool sorted, at::ScalarType dtype) {
    return moeRoute(logits, {topK, parseRouteOrder(order), renormalize, sorted, dtype});
}

/// An operator with its first tensor's device as the current one, whose stream its kernels take.
template <auto kOp, class = decltype(kOp)>
struct OnDevice;
template <auto kOp, class R, class... Rest>
struct OnDevice<kOp, R (*)(const at::Tensor&, Rest...)> {
    static R call(const at::Tensor& first, Rest... rest) {
        const c10::DeviceGuard device(first.device());
        return kOp(first, std::forward<Rest>(rest)...);
    }
};

void define(torch::Library& library) {
    for (const Schema& schema : kSchemas) {
        const auto known =
            c10::Dispatcher::singleton().findSchema({std::string("workbench::") + schema.name, ""});
        if (!known.has_value())
            library.def(schema.text, {at::Tag::pt2_compliant_tag});
    }
}

void implement(torch::Library& library) {
    library.impl("attention", OnDevice<&attentionOp>::call);
    library.impl("mask", OnDevice<&maskOp>::call);
    library.impl("rms_norm", OnDevice<&rmsNormOp>::call);
    library.impl("add_rms_norm", OnDevice<&addRmsNormOp>::call);
    library.impl("act_and_mul", OnDevice<&actAndMulOp>::call);
    library.impl("rope", OnDevice<&ropeOp>::call);
    library.impl("qk_norm_rope", OnDevice<&qkNormRopeOp>::call);
    library.impl("moe_experts", OnDevice<&moeExpertsOp>::call);
    library.impl("moe_route", OnDevice<&moeRouteOp>::call);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(workbench, library) {
    define(library);
}

TORCH_LIBRARY_IMPL(workbench, CPU, library) {
    implement(library);
}

TORCH_LIBRARY_IMPL(workbench, CUDA, library) {
    if (cudaKernels() != nullptr)
        implement(library);
}

TORCH_LIBRARY(workbench_engine, library) {
    for (const Schema& schema : kEngineSchemas)
        library.def(schema.text);
}

TORCH_LIBRARY_IMPL(workbench_engine, CPU, library) {
    library.impl("attention_on_tables", OnDevice<&attentionOnTablesOp>::call);
}

TORCH_LIBRARY_IMPL(workbench_engine, CUDA, library) {
    if (cudaKernels() != nullptr)
        library.impl("attention_on_tables", OnDevice<&attentionOnTablesOp>::call);
}

} // namespace workbench::ops
