#pragma once

#include "app/session/bench_report.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QString>

/// A measurement in words.

namespace workbench::gui {

class ReportText {
    Q_DECLARE_TR_FUNCTIONS(workbench::gui::ReportText)
public:
    /// "Decode: 1.31 times as fast (1.28 to 1.35)"
    static QString headline(const Comparison& comparison, const QString& what);
    /// Model, load and machine; `source`: the file that it is of, may be empty.
    static QString about(const BenchReport& report, const QString& source);
    /// What there is beside speeds: hand-written code or why there is none, memory. Empty: nothing.
    static QString details(const BenchReport& report);

private:
    static QString load(const BenchLoad& load);
    static QString machine(const nlohmann::json& machine);
    static QString native(const BenchReport& report);
    static QString memory(const nlohmann::json& memory);
};

} // namespace workbench::gui
