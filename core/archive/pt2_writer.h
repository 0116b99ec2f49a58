#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace workbench {

struct Pt2WriteOptions {
    /// Pt2Archive::envelope of the archive that the graph comes from: symbol ranges, guards, how the program
    /// is called. Empty: symbols are at least 1, inputs are positional.
    std::string envelope;
    /// The bytes of a stored input, contiguous, of its dtype and shape. For a derived parameter: the
    /// concatenation of its sources. Called once per tensor, while the file is written.
    std::function<Result<std::string>(const Input&)> data;
    /// Groups of parameters that are one tensor: its data is written once.
    std::vector<std::vector<std::string>> tied;
};

/// Writes a graph as an archive that torch.export.load accepts (with the workbench_ops package imported where
/// it has ops of ours). Symbolic sizes in arguments become sym_size nodes again; stored inputs that nothing
/// uses are left out. Atomic: an older file stays whole when anything fails.
Status writePt2(const Graph& graph, const Pt2WriteOptions& options, const std::filesystem::path& path);

} // namespace workbench
