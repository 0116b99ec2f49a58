#include "core/archive/pt2_reader.h"
#include "core/graph/text.h"

#include <cstdio>
#include <cstring>
#include <string_view>

/// Archives from the command line, for tests written in Python: `archive_tool print FILE` writes the graph's
/// text.

using namespace workbench;

namespace {

int fail(const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 3;
}

int printArchive(const char* path) {
    const Result<Pt2Archive> archive = readPt2(path);
    if (!archive)
        return fail(archive.error());
    const std::string text = print(archive->graph);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string_view(argv[1]) == "print")
        return printArchive(argv[2]);
    std::fprintf(stderr, "usage: archive_tool print FILE\n");
    return 2;
}
