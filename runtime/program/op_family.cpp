#include "runtime/program/op_family.h"

#include "core/graph/op_classes.h"

#include <array>
#include <utility>

namespace workbench {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

/// What is in no class of core/graph/op_classes.h, or looks like another: by base name.
constexpr std::array kFamilies{
    Entry{"workbench.rope", "rotary"},
    Entry{"workbench.qk_norm_rope", "rotary"},
    Entry{"aten.cos", "rotary"},
    Entry{"aten.sin", "rotary"},
    Entry{"workbench.act_and_mul", "activations"},
    Entry{"workbench.moe_experts", "experts"},
    Entry{"workbench.moe_route", "experts"},
    Entry{"aten.embedding", "embedding"},
    Entry{"aten.cat", "copies"},
    Entry{"aten.clone", "copies"},
    Entry{"aten._to_copy", "copies"},
    Entry{"aten.to", "copies"},
    Entry{"aten.index", "copies"},
    Entry{"aten.contiguous", "copies"},
};

} // namespace

std::string_view opFamily(std::string_view op) {
    const std::string_view name = baseName(op);
    for (const auto& [known, family] : kFamilies)
        if (known == name)
            return family;
    if (isProduct(name))
        return "products";
    if (isFusedAttention(name))
        return "attention";
    if (isSoftmax(name))
        return "softmax";
    if (isTorchNorm(name) || isFusedNorm(name))
        return "norms";
    if (isActivation(name))
        return "activations";
    // In a model that is not fused that includes the parts of norms and rotations.
    return isView(name) ? "views" : "elementwise";
}

} // namespace workbench
