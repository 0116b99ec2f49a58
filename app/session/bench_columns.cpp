#include "app/session/bench_columns.h"

namespace workbench {

std::vector<BenchColumn> columnsOf(const BenchReport& report) {
    std::vector<BenchColumn> columns;
    if (report.native)
        columns.push_back({"native", &*report.native});
    columns.push_back({"after", &report.after});
    columns.push_back({"before", &report.before});
    if (report.eager)
        columns.push_back({"eager", &*report.eager});
    return columns;
}

} // namespace workbench
