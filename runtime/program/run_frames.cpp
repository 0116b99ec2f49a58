#include "runtime/program/run_frames.h"

#include "runtime/program/memory_plan.h"
#include "runtime/program/program.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace workbench {
namespace {

constexpr std::int64_t kAlignment = 64; // bytes: a cache line, and what kernels may expect of a tensor

/// A contiguous tensor in `memory`, `offset` bytes behind its begin.
at::Tensor placed(const at::Tensor& memory, std::int64_t offset, at::ScalarType dtype,
                  at::IntArrayRef sizes) {
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(memory.storage()), memory.key_set(), c10::scalarTypeToTypeMeta(dtype));
    c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    impl->set_storage_offset(offset / static_cast<std::int64_t>(c10::elementSize(dtype)));
    impl->set_sizes_contiguous(sizes);
    return tensor;
}

} // namespace

RunFrames::Recorder::Recorder(const FramePlan& plan)
    : m_index(plan.root.size(), kNone), m_seen(plan.roots.size() + plan.adopted.size()) {
    std::int32_t next = 0;
    for (const FramePlan::Root& root : plan.roots)
        m_index[static_cast<std::size_t>(root.value)] = next++;
    for (const ValueId id : plan.adopted)
        m_index[static_cast<std::size_t>(id)] = next++;
}

void RunFrames::Recorder::see(ValueId id, const at::Tensor& value) {
    const std::int32_t index = m_index[static_cast<std::size_t>(id)];
    if (index == kNone)
        return;
    m_usable = m_usable && value.is_cpu();
    m_seen[static_cast<std::size_t>(index)] = {value.scalar_type(), value.sizes().vec(),
                                               static_cast<std::int64_t>(value.nbytes()),
                                               value.is_contiguous()};
}

void RunFrames::add(const SymbolBindings& sizes, Recorder seen) {
    forget(sizes);
    m_entries.push_front({sizes, seen.m_usable ? std::move(seen.m_seen) : std::vector<Recorder::Seen>(), {}});
    if (m_entries.size() > kMost)
        m_entries.pop_back();
}

void RunFrames::forget(const SymbolBindings& sizes) {
    std::erase_if(m_entries, [&](const Entry& entry) { return entry.sizes == sizes; });
}

RunFrame* RunFrames::find(const SymTable& sizes, const std::vector<at::Tensor>& constants,
                          const std::vector<BoundNode>& nodes) {
    const auto found = std::ranges::find(m_entries, sizes.bindings(), &Entry::sizes);
    if (found == m_entries.end() || found->seen.empty())
        return nullptr;
    m_entries.splice(m_entries.begin(), m_entries, found);
    Entry& entry = m_entries.front();
    if (!entry.frame.values.empty())
        return &entry.frame;
    RunFrame frame{constants, {}, {}};
    if (!layOut(entry, nodes, sizes, frame)) {
        entry.seen.clear();
        return nullptr;
    }
    prepare(entry, nodes, frame);
    entry.frame = std::move(frame);
    return &entry.frame;
}

/// RunFrames that lie in the memory that is left behind are laid out again when they are next needed.
void RunFrames::makeRoom(std::int64_t bytes) {
    if (m_memory.defined() && m_memory.numel() >= bytes)
        return;
    for (Entry& entry : m_entries)
        entry.frame = {};
    m_memory = at::Tensor(); // first, so that the two are never there together
    m_memory = at::empty({bytes}, at::kByte);
}

/// Gives the roots and their views their tensors. False where that is not worth it or a view is a copy, which
/// each run has to make.
bool RunFrames::layOut(const Entry& entry, const std::vector<BoundNode>& nodes, const SymTable& symbols,
                       RunFrame& frame) {
    std::vector<Lifetime> lifetimes;
    for (std::size_t i = 0; i < m_plan.roots.size(); ++i) {
        if (!entry.seen[i].contiguous)
            return false;
        lifetimes.push_back({entry.seen[i].bytes, m_plan.roots[i].first, m_plan.roots[i].last});
    }
    const MemoryPlan memory = planMemory(lifetimes, kAlignment);
    if (memory.bytes > kMostBytes)
        return false;
    makeRoom(memory.bytes);
    for (std::size_t i = 0; i < m_plan.roots.size(); ++i)
        frame.values[static_cast<std::size_t>(m_plan.roots[i].value)] =
            placed(m_memory, memory.offsets[i], entry.seen[i].dtype, entry.seen[i].sizes);
    for (const std::int32_t index : m_plan.views) {
        const BoundNode& view = nodes[static_cast<std::size_t>(index)];
        view.direct.call(frame.values, symbols, {});
        for (const ValueId id : view.outputs)
            if (!frame.values[static_cast<std::size_t>(id)].is_alias_of(m_memory))
                return false;
    }
    return true;
}

/// Prepares every call whose tensors all stay.
void RunFrames::prepare(const Entry& entry, const std::vector<BoundNode>& nodes, RunFrame& frame) const {
    const auto valueOf = [&](ValueId id) -> at::Tensor& {
        return frame.values[static_cast<std::size_t>(id)];
    };
    frame.homes.resize(m_plan.adopted.size());
    for (std::size_t i = 0; i < m_plan.adopted.size(); ++i) {
        const Recorder::Seen& seen = entry.seen[m_plan.roots.size() + i];
        if (seen.bytes <= kMostAdoptedBytes)
            valueOf(m_plan.adopted[i]) = frame.homes[i] = at::empty(seen.sizes, seen.dtype);
    }
    for (const FramePlan::Step& step : m_plan.steps) {
        const BoundNode& node = nodes[static_cast<std::size_t>(step.node)];
        const auto stays = [&](ValueId id) { return id == node.direct.varying || valueOf(id).defined(); };
        DirectCall::Function& prepared = frame.prepared.emplace_back();
        if (node.direct.prepare && std::ranges::all_of(node.inputs(), stays) &&
            std::ranges::all_of(node.outputs, stays))
            prepared = node.direct.prepare(frame.values);
    }
    for (const ValueId id : m_plan.adopted)
        valueOf(id) = at::Tensor();
}

} // namespace workbench
