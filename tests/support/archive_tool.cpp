#include "core/archive/pt2_reader.h"
#include "core/archive/pt2_writer.h"
#include "core/archive/trace_reader.h"
#include "core/graph/compare.h"
#include "core/graph/text.h"
#include "core/support/read_file.h"

#include <cstdio>
#include <cstring>
#include <string_view>

/// Archives and traces from the command line, for tests written in Python.

using namespace workbench;

namespace {

constexpr const char* kUsage =
    "usage: archive_tool print FILE.pt2          the graph's text\n"
    "       archive_tool trace FOLDER            the text of the whole model's graph\n"
    "       archive_tool compare FOLDER FOLDER   exit 1 and the first difference of two traces\n"
    "       archive_tool copy FILE.pt2 FILE.pt2  read and write again\n"
    "       archive_tool write GRAPH.txt FILE.pt2 FILE.pt2  the graph with the data of the first archive\n";

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

/// Data of a stored input from the archive; derived parameters along dim 0 are their sources one after
/// another.
Result<std::string> dataFrom(const Pt2Archive& archive, const Input& input) {
    if (!input.derived)
        return archive.readTensor(input.target);
    std::string bytes;
    for (const std::string& source : input.derived->sources) {
        const Result<std::string> part = archive.readTensor(source);
        if (!part)
            return part.error();
        bytes += *part;
    }
    return bytes;
}

int writeArchive(const Graph& graph, const Pt2Archive& source, const char* path) {
    Pt2WriteOptions options;
    options.envelope = source.envelope;
    options.data = [&](const Input& input) { return dataFrom(source, input); };
    const Status written = writePt2(graph, options, path);
    return written ? 0 : fail(written.error());
}

int copyArchive(const char* from, const char* to) {
    const Result<Pt2Archive> source = readPt2(from);
    return source ? writeArchive(source->graph, *source, to) : fail(source.error());
}

int writeText(const char* text, const char* from, const char* to) {
    const Result<std::string> bytes = readFile(text);
    if (!bytes)
        return fail(bytes.error());
    const Result<Graph> graph = parseGraph(*bytes);
    if (!graph)
        return fail(graph.error());
    const Result<Pt2Archive> source = readPt2(from);
    return source ? writeArchive(*graph, *source, to) : fail(source.error());
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
    if (argc == 4 && command == "copy")
        return copyArchive(argv[2], argv[3]);
    if (argc == 5 && command == "write")
        return writeText(argv[2], argv[3], argv[4]);
    std::fputs(kUsage, stderr);
    return 2;
}
