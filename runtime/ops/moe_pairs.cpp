#include "runtime/ops/moe_pairs.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sort.h>
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
    for (int64_t i = 0; i < count; ++i) {
        TORCH_CHECK_INDEX(chosen[i] >= 0 && chosen[i] < experts, "workbench::moe_experts: index ", chosen[i],
                          " is not one of the ", experts, " experts.");
        ++pairs.begins[static_cast<size_t>(chosen[i]) + 1];
    }
    for (size_t expert = 0; expert < static_cast<size_t>(experts); ++expert)
        pairs.begins[expert + 1] += pairs.begins[expert];
    std::vector<int64_t> next(pairs.begins.begin(), pairs.begins.end() - 1);
    auto* tokens = memory.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < count; ++i) {
        const int64_t place = next[static_cast<size_t>(chosen[i])]++;
        tokens[place] = i / k;
        tokens[count + place] = chosen[i];
        tokens[2 * count + i] = place;
    }
    return pairs;
}

} // namespace

ExpertPairs sortByExpert(const at::Tensor& indices, int64_t experts) {
    const at::Tensor chosen = indices.contiguous();
    if (chosen.is_cpu())
        return sortOnCpu(chosen, experts);
    const auto [sorted, order] = at::sort(chosen.flatten(), /*stable=*/true, 0, false);
    const at::Tensor places = at::empty_like(order);
    places.index_copy_(0, order, at::arange(order.numel(), order.options()));
    return {order.floor_divide(chosen.size(1)), sorted, places, {}};
}

} // namespace workbench::ops
