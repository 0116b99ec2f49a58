#include "core/archive/pt2_reader.h"
#include "core/archive/trace_reader.h"
#include "core/graph/compare.h"
#include "core/graph/text.h"

#include <cstdio>
#include <cstring>
#include <string_view>

/// Archives and traces from the command line, for tests written in Python.

using namespace workbench;

namespace {

constexpr const char* kUsage =
    "usage: archive_tool print FILE.pt2          the graph's text\n"
    "       archive_tool trace FOLDER            the text of the whole model's graph\n"
    "       archive_tool compare FOLDER FOLDER   exit 1 and the first difference of two traces\n";

int fail(const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 3;
}

int printGraph(const Graph& graph) {
    const std::string text = print(graph);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

int compareTraces(const char* first, const char* second) {
    const Result<Trace> a = readTrace(first);
    if (!a)
        return fail(a.error());
    const Result<Trace> b = readTrace(second);
    if (!b)
        return fail(b.error());
    const std::optional<std::string> difference = firstDifference(a->graph, b->graph);
    std::printf("%s\n", difference ? difference->c_str()
                                   : ("equal, " + std::to_string(a->graph.nodes.size()) + " nodes").c_str());
    return difference ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (argc == 3 && command == "print") {
        const Result<Pt2Archive> archive = readPt2(argv[2]);
        return archive ? printGraph(archive->graph) : fail(archive.error());
    }
    if (argc == 3 && command == "trace") {
        const Result<Trace> trace = readTrace(argv[2]);
        return trace ? printGraph(trace->graph) : fail(trace.error());
    }
    if (argc == 4 && command == "compare")
        return compareTraces(argv[2], argv[3]);
    std::fputs(kUsage, stderr);
    return 2;
}
