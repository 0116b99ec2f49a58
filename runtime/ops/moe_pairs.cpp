#include "runtime/ops/moe_pairs.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_assert_async.h>
#include <ATen/ops/all.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <c10/util/Exception.h>

namespace workbench::ops {
namespace {

/// A counting sort: two passes over the pairs.
ExpertPairs sortOnCpu(const at::Tensor& indices, int64_t experts) {
    const int64_t count = indices.numel();
    const int64_t k = indices.size(1);
    const int64_t* chosen = indices.const_data_ptr<int64_t>();
    const at::Tensor memory = at::empty({3, count}, indices.options());
    ExpertPairs pairs{memory[0], memory[1], memory[2], {}};
    pairs.begins.assign(static_cast<size_t>(experts) + 1, 0);
    for (int64_t i = 0; i < count; ++i)
        ++pairs.begins[static_cast<size_t>(expertAt(chosen[i], experts)) + 1];
    for (size_t expert = 0; expert < static_cast<size_t>(experts); ++expert)
        pairs.begins[expert + 1] += pairs.begins[expert];
    std::vector<int64_t> next(pairs.begins.begin(), pairs.begins.end() - 1);
    auto* tokens = memory.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < count; ++i) {
        const int64_t expert = expertAt(chosen[i], experts);
        const int64_t place = next[static_cast<size_t>(expert)]++;
        tokens[place] = i / k;
        tokens[count + place] = expert;
        tokens[2 * count + i] = place;
    }
    return pairs;
}

/// expertAt without a look at the numbers, which are the GPU's.
at::Tensor expertsOnGpu(const at::Tensor& chosen, int64_t experts) {
    const at::Tensor counted = at::where(chosen < 0, chosen + experts, chosen);
    at::_assert_async(at::all((counted >= 0).logical_and(counted < experts)));
    return counted;
}

} // namespace

int64_t expertAt(int64_t index, int64_t experts) {
    const int64_t expert = index < 0 ? index + experts : index;
    TORCH_CHECK_INDEX(expert >= 0 && expert < experts, "workbench::moe_experts: index ", index,
                      " is not one of the ", experts, " experts.");
    return expert;
}

ExpertPairs sortByExpert(const at::Tensor& indices, int64_t experts) {
    const at::Tensor chosen = indices.contiguous();
    if (chosen.is_cpu())
        return sortOnCpu(chosen, experts);
    const auto [sorted, order] = at::sort(expertsOnGpu(chosen, experts).flatten(), /*stable=*/true, 0, false);
    const at::Tensor places = at::empty_like(order);
    places.index_copy_(0, order, at::arange(order.numel(), order.options()));
    return {order.floor_divide(chosen.size(1)), sorted, places, {}};
}

} // namespace workbench::ops
