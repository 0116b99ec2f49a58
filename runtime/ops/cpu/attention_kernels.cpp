#include "runtime/ops/cpu/attention_rows.h"
#include "runtime/ops/cpu/attention_tiles.h"
#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/thread_pool.h"

#include <ATen/Parallel.h>

#include <atomic>

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

/// A call that reads fewer key elements than this is done on one thread: waking the others costs more.
constexpr int64_t kSerialElements = 32768;

int threadsFor(const AttentionCall& call) {
    int64_t elements = 0;
    for (const AttentionSpan& span : call.spans)
        elements += span.queries * span.keys * call.queryHeads * call.width;
    return elements < kSerialElements || at::in_parallel_region() ? 1 : at::get_num_threads();
}

template <typename T>
void runTask(const AttentionCall& call, const AttentionTask& task, Acc<T>* partials) {
    if constexpr (!std::is_same_v<T, double>) {
        if (usesTiles(call, call.spans[static_cast<size_t>(task.span)]))
            return attendTiles<T>(call, task);
    }
    attendRows<T>(call, task, partials);
}

template <typename T>
void run(const AttentionCall& call) {
    const int threads = threadsFor(call);
    const AttentionPlan plan = planTasks(call, threads);
    std::vector<Acc<T>> partials(static_cast<size_t>(plan.partials * call.groups() * partialWidth(call)));
    // Tasks differ in cost, so threads take the next one when they are free.
    std::atomic<size_t> next{0};
    const auto work = [&](int64_t, int64_t) {
        for (size_t i = next++; i < plan.tasks.size(); i = next++)
            runTask<T>(call, plan.tasks[i], partials.data());
    };
    if (threads == 1)
        work(0, 1);
    else
        parallelFor(threads, 1, work);
    for (const AttentionJoin& join : plan.joins)
        joinPartials<T>(call, join, partials.data());
}

} // namespace

void attention(const AttentionCall& call) {
    WORKBENCH_DISPATCH(call.dtype, run<T>(call))
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
