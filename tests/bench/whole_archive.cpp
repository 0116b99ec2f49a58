#include "core/archive/pt2_reader.h"
#include "core/archive/pt2_writer.h"
#include "core/archive/trace_reader.h"

#include <cstdio>

/// `whole_archive TRACE_DIR FILE.pt2`: a trace as an archive with every layer in it, for viewers that know no
/// folding. Its parameters are one number each: the graph is what is looked at.

namespace workbench {
namespace {

Status writeWhole(const std::filesystem::path& folder, const std::filesystem::path& file) {
    Result<Trace> trace = readTrace(folder);
    if (!trace)
        return trace.error();
    const Result<Pt2Archive> traced = readPt2(trace->archive);
    if (!traced)
        return traced.error();
    Graph& graph = trace->graph;
    for (const Input& input : graph.inputs)
        if (input.kind != Input::Kind::user)
            graph.values[static_cast<std::size_t>(input.value)].meta.shape = {SymInt(1)};
    Pt2WriteOptions options;
    options.envelope = traced->envelope;
    options.data = [&](const Input& input) -> Result<std::string> {
        return std::string(bytesPerElement(graph.value(input.value).meta.dtype), '\0');
    };
    return writePt2(graph, options, file);
}

} // namespace
} // namespace workbench

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: whole_archive TRACE_DIR FILE.pt2\n");
        return 2;
    }
    const workbench::Status written = workbench::writeWhole(arguments[1], arguments[2]);
    if (!written)
        std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return written ? 0 : 1;
}
