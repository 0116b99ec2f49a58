#pragma once

#include "runtime/program/frame_plan.h"

#include <ATen/core/Tensor.h>

#include <list>

namespace workbench {

/// What of a program stays from run to run with the same sizes.
struct RunFrame {
    /// By ValueId: constants and the values of the plan. A run fills in the others and empties them again.
    std::vector<at::Tensor> values;
    std::vector<DirectCall::Function> prepared; ///< parallel to the plan's steps; empty: call the node
    std::vector<at::Tensor> homes; ///< parallel to the plan's `adopted`; undefined: stays where it is
};

/// The frames of a program. A decode step of a small model makes hundreds of outputs and views of a few
/// kilobytes; making the tensors and checking them costs a tenth of the step. So the first run with given
/// sizes notes what its values are like, the second lays them out in one block of memory (planMemory) and
/// prepares the calls, and all later ones find everything there. The block is that of all frames: no two of
/// them run together. For the CPU, and for at most kMostBytes: in a long run that cost is nothing next to the
/// work.
class RunFrames {
public:
    static constexpr std::size_t kMost = 32; ///< sizes that are remembered; the one not used for longest goes
    static constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
    static constexpr std::int64_t kMostAdoptedBytes = std::int64_t{64} << 10; ///< of a value: it is copied

    RunFrames() = default;
    explicit RunFrames(FramePlan plan) : m_plan(std::move(plan)) {}

    const FramePlan& plan() const { return m_plan; }
    bool isEmpty() const { return m_plan.roots.empty(); }

    /// nullptr before the second run with these sizes, or where a frame is not worth it.
    RunFrame* find(const SymTable& sizes, const std::vector<at::Tensor>& constants,
                   const std::vector<BoundNode>& nodes);

    /// What the values of the plan are like in a run.
    class Recorder {
    public:
        explicit Recorder(const FramePlan& plan);
        void see(ValueId id, const at::Tensor& value);

    private:
        friend class RunFrames;
        struct Seen {
            at::ScalarType dtype = at::ScalarType::Undefined;
            std::vector<std::int64_t> sizes;
            std::int64_t bytes = 0;
            bool contiguous = false;
        };
        std::vector<std::int32_t> m_index; ///< by ValueId, into m_seen, or kNone
        std::vector<Seen> m_seen;          ///< of the plan's roots, then of the adopted values
        bool m_usable = true;
    };
    /// A whole run had these sizes.
    void add(const SymbolBindings& sizes, Recorder seen);

    /// After a run that did not end.
    void forget(const SymbolBindings& sizes);

private:
    struct Entry {
        SymbolBindings sizes;
        std::vector<Recorder::Seen> seen; ///< empty where a frame is not worth it
        RunFrame frame;                   ///< without values until the second run
    };
    bool layOut(const Entry& entry, const std::vector<BoundNode>& nodes, const SymTable& symbols,
                RunFrame& frame);
    void prepare(const Entry& entry, const std::vector<BoundNode>& nodes, RunFrame& frame) const;
    void makeRoom(std::int64_t bytes);

    FramePlan m_plan;
    std::list<Entry> m_entries; ///< the one that was used last at the front
    at::Tensor m_memory;        ///< bytes
};

} // namespace workbench
