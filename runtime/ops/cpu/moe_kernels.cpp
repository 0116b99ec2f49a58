#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/wide.h"
#include "runtime/ops/thread_pool.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// Products of one row of the weights with every pair of its expert.
template <typename T>
void productRow(const MoeProductCall& call, int64_t output, int64_t begin, int64_t end) {
    const T* weight =
        static_cast<const T*>(call.weights) + (call.experts[begin] * call.outputs + output) * call.columns;
    for (int64_t pair = begin; pair < end; ++pair) {
        const int64_t row = call.inputRows ? call.inputRows[pair] : pair;
        const T* input = static_cast<const T*>(call.input) + row * call.columns;
        Wide<T> sum = Wide<T>::fill(0);
        forEachVector<T>(call.columns, [&](int64_t offset, int64_t count) {
            sum = fmadd(Wide<T>::load(weight + offset, count), Wide<T>::load(input + offset, count), sum);
        });
        static_cast<T*>(call.output)[pair * call.outputs + output] = static_cast<T>(sum.sum());
    }
}

template <typename T>
void product(const MoeProductCall& call) {
    parallelFor(call.outputs, rowGrain(call.columns * call.pairs), [&](int64_t first, int64_t last) {
        for (int64_t begin = 0, end = 0; begin < call.pairs; begin = end) {
            while (end < call.pairs && call.experts[end] == call.experts[begin])
                ++end;
            for (int64_t output = first; output < last; ++output)
                productRow<T>(call, output, begin, end);
        }
    });
}

/// As at::sum adds whole groups of registers (ATen/native/cpu/SumKernel.cpp): one after the other, sixteen at
/// a time. Not here: its third level, from 256 summands on, and its other order for the columns left over.
constexpr int64_t kSummands = 16;

template <typename T, typename W>
void sumToken(const MoeSumCall& call, int64_t token) {
    const int64_t first = token * call.topK;
    const auto* weights = static_cast<const W*>(call.routingWeights) + first;
    T* output = static_cast<T*>(call.output) + token * call.width;
    forEachVector<T>(call.width, [&](int64_t offset, int64_t count) {
        Wide<T> total = Wide<T>::fill(0), part = Wide<T>::fill(0);
        for (int64_t i = 0; i < call.topK; ++i) {
            const T* from = static_cast<const T*>(call.outputs) + call.places[first + i] * call.width;
            const Wide<T> weighted = Wide<T>::load(from + offset, count) *
                                     Wide<T>::fill(static_cast<typename Wide<T>::Scalar>(weights[i]));
            // Weights in float32 make the products float32, those in T round them.
            if constexpr (std::is_same_v<T, W>)
                part = part + weighted.rounded();
            else
                part = part + weighted;
            if ((i + 1) % kSummands == 0) {
                total = total + part;
                part = Wide<T>::fill(0);
            }
        }
        (part + total).store(output + offset, count);
    });
}

template <typename T>
void sum(const MoeSumCall& call) {
    parallelFor(call.tokens, rowGrain(call.width * call.topK), [&](int64_t begin, int64_t end) {
        for (int64_t token = begin; token < end; ++token) {
            if (call.weightsDtype == call.dtype)
                sumToken<T, T>(call, token);
            else
                sumToken<T, float>(call, token);
        }
    });
}

template <typename Scalar>
using Candidate = std::pair<Scalar, int64_t>;

/// Not a number counts as the largest, as at::topk has it.
template <typename Scalar>
bool isLarger(const Candidate<Scalar>& a, const Candidate<Scalar>& b) {
    return (std::isnan(a.first) && !std::isnan(b.first)) || a.first > b.first;
}

/// The k largest in front. The algorithms are those of at::topk (ATen/native/TopKImpl.h), so that equal
/// scores give the same experts in the same order.
template <typename Scalar>
void select(std::vector<Candidate<Scalar>>& queue, int64_t k, bool sorted) {
    const auto begin = queue.begin(), end = queue.end();
    if (k * 64 <= static_cast<int64_t>(queue.size())) {
        std::partial_sort(begin, begin + k, end, isLarger<Scalar>);
        return;
    }
    std::nth_element(begin, begin + k - 1, end, isLarger<Scalar>);
    if (sorted)
        std::sort(begin, begin + k - 1, isLarger<Scalar>);
}

template <typename Scalar>
void softmax(Scalar* values, int64_t count) {
    using Vec = at::vec::Vectorized<Scalar>;
    const Scalar highest = at::vec::reduce_all<Scalar>(
        [](const Vec& a, const Vec& b) { return at::vec::maximum(a, b); }, values, count);
    at::vec::map([highest](const Vec& x) { return (x - Vec(highest)).exp(); }, values, values, count);
    const Scalar total =
        at::vec::reduce_all<Scalar>([](const Vec& a, const Vec& b) { return a + b; }, values, count);
    at::vec::map([total](const Vec& x) { return x / Vec(total); }, values, values, count);
}

/// The sum as at::sum makes it over a short last dimension: what a register does not hold first, then the
/// lanes of the whole registers one after the other.
template <typename Scalar>
Scalar shortSum(const Scalar* values, int64_t count) {
    using Vec = at::vec::Vectorized<Scalar>;
    const int64_t whole = count / Vec::size() * Vec::size();
    Scalar total = 0;
    for (int64_t i = whole; i < count; ++i)
        total += values[i];
    Vec lanes(0);
    for (int64_t i = 0; i < whole; i += Vec::size())
        lanes = lanes + Vec::loadu(values + i);
    Scalar each[Vec::size()];
    lanes.store(each);
    for (int64_t i = 0; i < Vec::size(); ++i)
        total += each[i];
    return total;
}

template <typename Scalar>
void storeWeights(const MoeRouteCall& call, int64_t token, const Scalar* weights) {
    WORKBENCH_DISPATCH(call.weightsDtype, {
        T* to = static_cast<T*>(call.weights) + token * call.topK;
        for (int64_t i = 0; i < call.topK; ++i)
            to[i] = static_cast<T>(weights[i]);
    })
}

template <typename Scalar>
struct RouteScratch {
    std::vector<Scalar> scores, weights;
    std::vector<Candidate<Scalar>> queue;
};

template <typename T>
void routeToken(const MoeRouteCall& call, int64_t token, RouteScratch<Acc<T>>& memory) {
    using Scalar = Acc<T>;
    const T* logits = static_cast<const T*>(call.logits) + token * call.experts;
    memory.scores.assign(logits, logits + call.experts);
    if (call.order == RouteOrder::SoftmaxFirst)
        softmax(memory.scores.data(), call.experts);
    memory.queue.clear();
    for (int64_t i = 0; i < call.experts; ++i)
        memory.queue.emplace_back(memory.scores[static_cast<size_t>(i)], i);
    select(memory.queue, call.topK, call.sorted);
    memory.weights.clear();
    for (int64_t i = 0; i < call.topK; ++i) {
        memory.weights.push_back(memory.queue[static_cast<size_t>(i)].first);
        call.indices[token * call.topK + i] = memory.queue[static_cast<size_t>(i)].second;
    }
    if (call.order == RouteOrder::TopKFirst)
        softmax(memory.weights.data(), call.topK);
    if (call.renormalize) {
        const Scalar total = shortSum(memory.weights.data(), call.topK);
        for (Scalar& weight : memory.weights)
            weight /= total;
    }
    storeWeights(call, token, memory.weights.data());
}

template <typename T>
void route(const MoeRouteCall& call) {
    parallelFor(call.tokens, rowGrain(call.experts * 8), [&](int64_t begin, int64_t end) {
        thread_local RouteScratch<Acc<T>> memory;
        for (int64_t token = begin; token < end; ++token)
            routeToken<T>(call, token, memory);
    });
}

} // namespace

void moeProduct(const MoeProductCall& call) {
    WORKBENCH_DISPATCH(call.dtype, product<T>(call))
}

void moeSum(const MoeSumCall& call) {
    WORKBENCH_DISPATCH(call.dtype, sum<T>(call))
}

void moeRoute(const MoeRouteCall& call) {
    WORKBENCH_DISPATCH(call.logitsDtype, route<T>(call))
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
