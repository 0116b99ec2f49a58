/// print_trace FOLDER: the graph of a trace folder as text.

#include "core/archive/trace_reader.h"
#include "core/graph/text.h"

#include <cstdio>

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    const auto trace = workbench::readTrace(arguments[1]);
    if (!trace) {
        std::fprintf(stderr, "%s\n", trace.error().message.c_str());
        return 3;
    }
    std::fputs(workbench::print(trace->graph).c_str(), stdout);
    return 0;
}
