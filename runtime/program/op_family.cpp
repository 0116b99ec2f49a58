#include "runtime/program/op_family.h"

#include <array>
#include <utility>

namespace workbench {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

/// By the operator's name without its overload. What is not here computes elements one by one: in a model
/// that is not fused that includes the parts of norms and rotations.
constexpr std::array kFamilies{
    Entry{"aten.linear", "products"},
    Entry{"aten.mm", "products"},
    Entry{"aten.bmm", "products"},
    Entry{"aten.matmul", "products"},
    Entry{"aten.addmm", "products"},
    Entry{"workbench.attention", "attention"},
    Entry{"aten._softmax", "softmax"},
    Entry{"aten.softmax", "softmax"},
    Entry{"workbench.rms_norm", "norms"},
    Entry{"workbench.add_rms_norm", "norms"},
    Entry{"aten.rms_norm", "norms"},
    Entry{"aten.layer_norm", "norms"},
    Entry{"aten.native_layer_norm", "norms"},
    Entry{"workbench.rope", "rotary"},
    Entry{"workbench.qk_norm_rope", "rotary"},
    Entry{"aten.cos", "rotary"},
    Entry{"aten.sin", "rotary"},
    Entry{"workbench.act_and_mul", "activations"},
    Entry{"workbench.moe_experts", "experts"},
    Entry{"workbench.moe_route", "experts"},
    Entry{"aten.silu", "activations"},
    Entry{"aten.gelu", "activations"},
    Entry{"aten.relu", "activations"},
    Entry{"aten.sigmoid", "activations"},
    Entry{"aten.tanh", "activations"},
    Entry{"aten.embedding", "embedding"},
    Entry{"aten.cat", "copies"},
    Entry{"aten.clone", "copies"},
    Entry{"aten._to_copy", "copies"},
    Entry{"aten.to", "copies"},
    Entry{"aten.index", "copies"},
    Entry{"aten.contiguous", "copies"},
    Entry{"aten.view", "views"},
    Entry{"aten.reshape", "views"},
    Entry{"aten.transpose", "views"},
    Entry{"aten.permute", "views"},
    Entry{"aten.t", "views"},
    Entry{"aten.unsqueeze", "views"},
    Entry{"aten.squeeze", "views"},
    Entry{"aten.expand", "views"},
    Entry{"aten.slice", "views"},
    Entry{"aten.select", "views"},
    Entry{"aten.split", "views"},
    Entry{"aten.split_with_sizes", "views"},
    Entry{"aten.chunk", "views"},
    Entry{"aten.alias", "views"},
};

} // namespace

std::string_view opFamily(std::string_view op) {
    const std::size_t overload = op.find('.', op.find('.') + 1);
    const std::string_view name = op.substr(0, overload);
    for (const auto& [known, family] : kFamilies)
        if (known == name)
            return family;
    return "elementwise";
}

} // namespace workbench
