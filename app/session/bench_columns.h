#pragma once

#include "app/session/bench_report.h"

#include <vector>

namespace workbench {

/// A program of a measurement, by the name that tables and pictures give it.
struct BenchColumn {
    const char* name;
    const BenchProgram* program; ///< of the report
};

/// The programs that took part, what one writes by hand first.
std::vector<BenchColumn> columnsOf(const BenchReport& report);

} // namespace workbench
