#include "runtime/ops/moe.h"

#include "runtime/ops/activation.h"
#include "runtime/ops/checks.h"
#include "runtime/ops/moe_pairs.h"
#include "runtime/ops/thread_pool.h"

#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

namespace workbench::ops {
namespace {

constexpr const char* kOp = "moe_experts";
/// From here on a GPU's grouped product, which cuts the pairs into tiles, beats one product per pair.
constexpr int64_t kManyPairs = 64;

/// What an expert weight is, plain or packed.
struct WeightShape {
    at::ScalarType dtype;
    int64_t experts;
    int64_t rows; ///< of one expert
    int64_t columns;
};

WeightShape shapeOf(const char* argument, const at::Tensor& weight) {
    TORCH_CHECK_VALUE(weight.dim() == 3 && weight.is_contiguous(), "workbench::moe_experts: ", argument,
                      " must be contiguous [experts, outputs, inputs], got ", weight.sizes(), ".");
    return {weight.scalar_type(), weight.size(0), weight.size(1), weight.size(2)};
}

WeightShape shapeOf(const char* argument, const PackedWeight& weight) {
    const auto& blocks = weight.panelBlocks();
    TORCH_CHECK_VALUE(!blocks.empty(), "workbench::moe_experts: ", argument, " has no experts.");
    for (const PanelBlock& block : blocks)
        TORCH_CHECK_VALUE(block.rows == blocks[0].rows, "workbench::moe_experts: ", argument,
                          " must have experts of one size, got ", block.rows, " and ", blocks[0].rows,
                          " rows.");
    return {weight.dtype(), static_cast<int64_t>(blocks.size()), blocks[0].rows, weight.columns()};
}

void checkChoice(const MoeArgs& args) {
    const at::Tensor& indices = args.indices;
    TORCH_CHECK_VALUE(indices.dim() == 2 && indices.scalar_type() == at::kLong,
                      "workbench::moe_experts: indices must be int64 [tokens, k], got ",
                      indices.scalar_type(), " ", indices.sizes(), ".");
    TORCH_CHECK_VALUE(args.routingWeights.sizes() == indices.sizes(),
                      "workbench::moe_experts: routing_weights must be ", indices.sizes(),
                      " like indices, got ", args.routingWeights.sizes(), ".");
    TORCH_CHECK_VALUE(args.hidden.dim() == 2 && args.hidden.size(0) == indices.size(0),
                      "workbench::moe_experts: hidden must be [", indices.size(0), ", inputs], got ",
                      args.hidden.sizes(), ".");
    const at::ScalarType dtype = args.routingWeights.scalar_type();
    TORCH_CHECK_VALUE(dtype == args.hidden.scalar_type() ||
                          (dtype == at::kFloat && args.hidden.scalar_type() != at::kDouble),
                      "workbench::moe_experts: routing_weights must be float32 or of the dtype ",
                      args.hidden.scalar_type(), " of hidden, got ", dtype, ".");
    TORCH_CHECK_VALUE(args.routingWeights.device() == args.hidden.device() &&
                          indices.device() == args.hidden.device(),
                      "workbench::moe_experts: hidden, routing_weights and indices must be on one device.");
}

void check(const MoeArgs& args, const WeightShape& gateUp, const WeightShape& down) {
    checkFloating(kOp, "hidden", args.hidden);
    checkChoice(args);
    TORCH_CHECK_VALUE(gateUp.dtype == args.hidden.scalar_type() && down.dtype == gateUp.dtype,
                      "workbench::moe_experts: hidden, gate_up and down must have one dtype, got ",
                      args.hidden.scalar_type(), ", ", gateUp.dtype, " and ", down.dtype, ".");
    TORCH_CHECK_VALUE(gateUp.columns == args.hidden.size(1) && gateUp.rows % 2 == 0 &&
                          gateUp.experts == down.experts && down.columns == gateUp.rows / 2,
                      "workbench::moe_experts: gate_up must be [experts, 2I, ", args.hidden.size(1),
                      "] and down [experts, outputs, I], got [", gateUp.experts, ", ", gateUp.rows, ", ",
                      gateUp.columns, "] and [", down.experts, ", ", down.rows, ", ", down.columns, "].");
}

/// The rows of the pairs' products with their experts' packed weights, [pairs, outputs].
at::Tensor product(const Kernels& kernels, const at::Tensor& input, const int64_t* inputRows,
                   const ExpertPairs& pairs, const PackedWeight& weight, int64_t outputs) {
    at::Tensor output = at::empty({pairs.experts.numel(), outputs}, input.options());
    GroupedLinearCall call{.dtype = input.scalar_type()};
    call.input = input.const_data_ptr();
    call.inputRows = inputRows;
    call.columns = weight.columns();
    call.blocks = weight.panelBlocks().data();
    call.begins = pairs.begins.data();
    call.groups = static_cast<int64_t>(weight.panelBlocks().size());
    call.outputs = outputs;
    call.output = output.mutable_data_ptr();
    kernels.groupedLinear(call);
    return output;
}

/// The same with plain weights [experts, outputs, columns].
at::Tensor product(const Kernels& kernels, const at::Tensor& input, const int64_t* inputRows,
                   const ExpertPairs& pairs, const at::Tensor& weight, int64_t outputs) {
    at::Tensor output = at::empty({pairs.experts.numel(), outputs}, input.options());
    MoeProductCall call{.dtype = input.scalar_type()};
    call.input = input.const_data_ptr();
    call.inputRows = inputRows;
    call.experts = pairs.experts.const_data_ptr<int64_t>();
    call.pairs = pairs.experts.numel();
    call.columns = weight.size(2);
    call.outputs = outputs;
    call.weights = weight.const_data_ptr();
    call.output = output.mutable_data_ptr();
    kernels.moeProduct(call);
    return output;
}

at::Tensor weightedSum(const Kernels& kernels, const MoeArgs& args, const at::Tensor& outputs,
                       const ExpertPairs& pairs) {
    const at::Tensor weights = args.routingWeights.contiguous();
    at::Tensor output = at::empty({args.hidden.size(0), outputs.size(1)}, args.hidden.options());
    MoeSumCall call{.dtype = outputs.scalar_type(), .weightsDtype = weights.scalar_type()};
    call.outputs = outputs.const_data_ptr();
    call.places = pairs.places.const_data_ptr<int64_t>();
    call.routingWeights = weights.const_data_ptr();
    call.tokens = args.hidden.size(0);
    call.topK = args.indices.size(1);
    call.width = outputs.size(1);
    call.output = output.mutable_data_ptr();
    kernels.moeSum(call);
    return output;
}

template <typename Weight>
at::Tensor run(const Kernels& kernels, const MoeArgs& args, const Weight& gateUp, const Weight& down) {
    const WeightShape first = shapeOf("gate_up", gateUp), second = shapeOf("down", down);
    check(args, first, second);
    if (args.indices.numel() == 0 || second.rows == 0)
        return at::zeros({args.hidden.size(0), second.rows}, args.hidden.options());
    const ExpertPairs pairs = sortByExpert(args.indices, first.experts);
    const at::Tensor hidden = args.hidden.contiguous();
    const at::Tensor both =
        product(kernels, hidden, pairs.tokens.const_data_ptr<int64_t>(), pairs, gateUp, first.rows);
    const at::Tensor gated = actAndMul(both, args.activation);
    return weightedSum(kernels, args, product(kernels, gated, nullptr, pairs, down, second.rows), pairs);
}

/// Whether PyTorch's grouped product takes these weights: bfloat16, rows of 16 bytes.
bool isGroupedOnGpu(const MoeArgs& args, const at::Tensor& gateUp, const at::Tensor& down) {
    return args.hidden.is_cuda() && args.hidden.scalar_type() == at::kBFloat16 &&
           args.indices.numel() >= kManyPairs && gateUp.size(2) % 8 == 0 && gateUp.size(1) % 16 == 0 &&
           down.size(1) % 8 == 0;
}

at::Tensor runGroupedOnGpu(const MoeArgs& args, const at::Tensor& gateUp, const at::Tensor& down) {
    check(args, shapeOf("gate_up", gateUp), shapeOf("down", down));
    const ExpertPairs pairs = sortByExpert(args.indices, gateUp.size(0));
    const at::Tensor experts = at::arange(gateUp.size(0), args.indices.options());
    const at::Tensor ends = at::searchsorted(pairs.experts, experts, /*out_int32=*/true, /*right=*/true);
    const at::Tensor rows = args.hidden.index_select(0, pairs.tokens);
    const at::Tensor both = at::_grouped_mm(rows, gateUp.transpose(1, 2), ends);
    const at::Tensor gated = actAndMul(both, args.activation);
    const at::Tensor outputs = at::_grouped_mm(gated, down.transpose(1, 2), ends).contiguous();
    return weightedSum(kernelsFor(kOp, args.hidden), args, outputs, pairs);
}

} // namespace

at::Tensor moeExperts(const MoeArgs& args, const at::Tensor& gateUp, const at::Tensor& down) {
    if (gateUp.dim() == 3 && down.dim() == 3 && isGroupedOnGpu(args, gateUp, down))
        return runGroupedOnGpu(args, gateUp, down);
    return run(kernelsFor(kOp, args.hidden), args, gateUp, down);
}

at::Tensor moeExperts(const MoeArgs& args, const PackedWeight& gateUp, const PackedWeight& down) {
    return moeExpertsWith(cpuKernels(), args, gateUp, down);
}

at::Tensor moeExpertsWith(const Kernels& kernels, const MoeArgs& args, const PackedWeight& gateUp,
                          const PackedWeight& down) {
    TORCH_CHECK_VALUE(args.hidden.is_cpu(),
                      "workbench::moe_experts: packed weights are for the CPU, got tokens on ",
                      args.hidden.device(), ".");
    return run(kernels, args, gateUp, down);
}

at::Tensor pickExperts(const PackedWeight& weight, const at::Tensor& indices) {
    const WeightShape shape = shapeOf("the weight", weight);
    TORCH_CHECK_VALUE(indices.is_cpu() && indices.dim() == 1 && indices.scalar_type() == at::kLong,
                      "workbench::moe_experts: indices must be int64 [pairs] on the CPU, got ",
                      indices.scalar_type(), " ", indices.sizes(), ".");
    const at::Tensor chosen = indices.contiguous();
    const int64_t* experts = chosen.const_data_ptr<int64_t>();
    at::Tensor output = at::empty({chosen.numel(), shape.rows, shape.columns}, shape.dtype);
    auto* to = static_cast<std::byte*>(output.mutable_data_ptr());
    const int64_t bytes = shape.rows * shape.columns * static_cast<int64_t>(c10::elementSize(shape.dtype));
    for (int64_t i = 0; i < chosen.numel(); ++i) {
        weight.copyBlock(expertAt(experts[i], shape.experts), to + i * bytes);
    }
    return output;
}

std::tuple<at::Tensor, at::Tensor> moeRoute(const at::Tensor& logits, const RouteSpec& spec) {
    return moeRouteWith(kernelsFor("moe_route", logits), logits, spec);
}

std::tuple<at::Tensor, at::Tensor> moeRouteWith(const Kernels& kernels, const at::Tensor& logits,
                                                const RouteSpec& spec) {
    checkFloating("moe_route", "logits", logits);
    TORCH_CHECK_VALUE(logits.dim() == 2 && spec.topK >= 1 && spec.topK <= logits.size(1),
                      "workbench::moe_route: logits must be [tokens, experts] with at least top_k = ",
                      spec.topK, " >= 1 experts, got ", logits.sizes(), ".");
    TORCH_CHECK_VALUE(at::isFloatingType(spec.dtype) && c10::elementSize(spec.dtype) >= 2,
                      "workbench::moe_route: dtype must be a floating-point type, got ", spec.dtype, ".");
    const at::Tensor rows = logits.contiguous();
    at::Tensor weights = at::empty({rows.size(0), spec.topK}, rows.options().dtype(spec.dtype));
    at::Tensor indices = at::empty({rows.size(0), spec.topK}, rows.options().dtype(at::kLong));
    if (weights.numel() == 0)
        return {weights, indices};
    MoeRouteCall call{.logitsDtype = rows.scalar_type(), .weightsDtype = spec.dtype};
    call.logits = rows.const_data_ptr();
    call.tokens = rows.size(0);
    call.experts = rows.size(1);
    call.topK = spec.topK;
    call.order = spec.order;
    call.renormalize = spec.renormalize;
    call.sorted = spec.sorted;
    call.weights = weights.mutable_data_ptr();
    call.indices = indices.mutable_data_ptr<int64_t>();
    kernels.moeRoute(call);
    return {weights, indices};
}

} // namespace workbench::ops
