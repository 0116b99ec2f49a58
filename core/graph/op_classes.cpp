#include "core/graph/op_classes.h"

#include <algorithm>
#include <array>

namespace workbench {
namespace {

template <std::size_t N>
bool oneOf(std::string_view op, const std::array<std::string_view, N>& ops) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
}

} // namespace

std::string_view baseName(std::string_view op) {
    return op.substr(0, op.find('.', op.find('.') + 1));
}

bool isActivation(std::string_view op) {
    static constexpr std::array<std::string_view, 14> kOps{
        "aten.silu",  "aten.gelu",     "aten.relu",     "aten.sigmoid",    "aten.tanh",
        "aten.mish",  "aten.elu",      "aten.softplus", "aten.hardswish",  "aten.leaky_relu",
        "aten.relu6", "aten.hardtanh", "aten.celu",     "aten.log_sigmoid"};
    return oneOf(op, kOps);
}

bool isElementwise(std::string_view op) {
    static constexpr std::array<std::string_view, 21> kOps{
        "aten._to_copy", "aten.clone",      "aten.add",  "aten.sub", "aten.mul", "aten.div",
        "aten.neg",      "aten.abs",        "aten.pow",  "aten.exp", "aten.log", "aten.sqrt",
        "aten.rsqrt",    "aten.reciprocal", "aten.cos",  "aten.sin", "aten.erf", "aten.rsub",
        "aten.square",   "aten.maximum",    "aten.clamp"};
    return isActivation(op) || oneOf(op, kOps);
}

bool isView(std::string_view op) {
    static constexpr std::array<std::string_view, 17> kOps{
        "aten.view",      "aten.reshape", "aten._unsafe_view", "aten.transpose",        "aten.permute",
        "aten.t",         "aten.slice",   "aten.split",        "aten.split_with_sizes", "aten.chunk",
        "aten.unsqueeze", "aten.squeeze", "aten.expand",       "aten.select",           "aten.unbind",
        "aten.alias",     "aten.detach"};
    return oneOf(op, kOps);
}

bool isProduct(std::string_view op) {
    static constexpr std::array<std::string_view, 9> kOps{"aten.linear",  "aten.addmm", "aten.mm",
                                                          "aten.matmul",  "aten.bmm",   "aten.einsum",
                                                          "aten.baddbmm", "aten.mv",    "aten.addmv"};
    return oneOf(op, kOps) || op.find("grouped_mm") != std::string_view::npos;
}

bool isMatmul(std::string_view op) {
    return op == "aten.matmul" || op == "aten.bmm";
}

bool isSoftmax(std::string_view op) {
    return op == "aten.softmax" || op == "aten._softmax";
}

bool isTorchRmsNorm(std::string_view op) {
    return op == "aten.rms_norm" || op == "aten._fused_rms_norm";
}

bool isTorchNorm(std::string_view op) {
    static constexpr std::array<std::string_view, 6> kCentred{"aten.layer_norm", "aten.native_layer_norm",
                                                              "aten.group_norm", "aten.native_group_norm",
                                                              "aten.batch_norm", "aten.instance_norm"};
    return isTorchRmsNorm(op) || oneOf(op, kCentred);
}

bool isFusedNorm(std::string_view op) {
    static constexpr std::array<std::string_view, 3> kOps{"workbench.rms_norm", "workbench.add_rms_norm",
                                                          "workbench.qk_norm_rope"};
    return oneOf(op, kOps);
}

bool isFusedAttention(std::string_view op) {
    return op == "workbench.attention" || op.starts_with("aten.scaled_dot_product_attention") ||
           op.starts_with("aten._scaled_dot_product");
}

} // namespace workbench
