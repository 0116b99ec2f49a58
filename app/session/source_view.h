#pragma once

#include "app/session/traced_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

/// A source file as the trace saw it, with the line that made a node.
struct SourceView {
    std::string file; ///< full path as recorded
    std::int32_t line = 0;
    std::string function;
    std::vector<std::string> lines; ///< the whole file; only the recorded line when the file is not shown
    std::int32_t firstLine = 1;     ///< number of lines.front()
    std::string notShown;           ///< why the file is not shown; empty when it is
};

/// The file is read only when the trace recorded its hash and it still has that hash: another text would mark
/// a wrong line.
SourceView sourceView(const TracedModel& model, const SourceFrame& frame);

} // namespace workbench
