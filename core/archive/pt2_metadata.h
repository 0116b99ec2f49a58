#pragma once

#include "core/graph/graph.h"

#include <string>
#include <string_view>
#include <vector>

/// Readers of the two metadata strings that torch.export keeps per node.

namespace workbench::pt2 {

/// "key,path,type;key,path,type" outermost first. Paths lose the "@1" that marks a repeated call, types their
/// package:
/// {"model.layers.0", "LlamaDecoderLayer"}. Malformed entries are left out.
std::vector<ModuleInfo> parseModuleStack(std::string_view text);

/// Python's traceback text, outermost frame first. Frames inside torch at the end are dropped, so that the
/// last one is the model's own line; frames of the tracer are dropped everywhere.
SourceStack parseStackTrace(std::string_view text);

} // namespace workbench::pt2
