#pragma once

#include "app/session/tracer.h"

#include <filesystem>

namespace workbench {

/// Traces on disk, one directory per key; a trace appears whole or not at all, and two processes never make
/// the same one twice.
class TraceStore {
public:
    explicit TraceStore(std::filesystem::path root) : m_root(std::move(root)) {}

    /// The directory of the model's trace, made by the tracer where it is missing.
    Result<std::filesystem::path> get(const Tracer& tracer, const std::filesystem::path& model,
                                      const TraceOptions& options, const Job& job) const;
    /// Drops a trace that turned out to be damaged.
    void forget(const std::filesystem::path& trace) const;

private:
    std::filesystem::path m_root;
};

} // namespace workbench
