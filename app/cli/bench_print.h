#pragma once

#include "app/session/bench_report.h"

#include <ostream>

namespace workbench::cli {

/// A measurement as text: speeds of every program, comparisons, latencies, time by kind of operator, memory,
/// patterns.
void printBench(std::ostream& out, const BenchReport& report);

} // namespace workbench::cli
