#include "app/gui/measure/report_text.h"

#include "app/session/json_fields.h"

#include <QtCore/QLocale>
#include <QtCore/QStringList>

#include <algorithm>
#include <cmath>
#include <limits>

namespace workbench::gui {
namespace {

QString ratioText(double ratio) {
    return QLocale().toString(ratio, 'f', 2);
}

QString megabytes(double bytes) {
    return QLocale().toString(bytes / 1e6, 'f', 0);
}

int many(std::int64_t count) {
    return static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
}

} // namespace

QString ReportText::headline(const Comparison& comparison, const QString& what) {
    if (std::isnan(comparison.ratio))
        return {};
    const QString range =
        tr("(%1 to %2)").arg(ratioText(comparison.interval.low), ratioText(comparison.interval.high));
    switch (comparison.verdict) {
    case SpeedVerdict::faster:
        return tr("%1: %2 times as fast %3").arg(what, ratioText(comparison.ratio), range);
    case SpeedVerdict::slower:
        return tr("%1: slower, %2 times the speed %3").arg(what, ratioText(comparison.ratio), range);
    case SpeedVerdict::withinSpread:
        return tr("%1: no difference beyond the spread, %2 times %3")
            .arg(what, ratioText(comparison.ratio), range);
    case SpeedVerdict::tooFewRounds:
        return tr("%1: %2 times so far; %n rounds give a verdict", nullptr, static_cast<int>(kFewestRounds))
            .arg(what, ratioText(comparison.ratio));
    }
    return {};
}

QString ReportText::machine(const nlohmann::json& machine) {
    QStringList parts;
    const auto add = [&](const char* key, const QString& format) {
        const auto found = machine.find(key);
        if (found != machine.end())
            parts << format.arg(
                QString::fromStdString(found->is_string() ? found->get<std::string>() : found->dump()));
    };
    add("threads", tr("%1 threads"));
    add("isa", "%1");
    add("torch", tr("PyTorch %1"));
    return parts.join(", ");
}

QString ReportText::load(const BenchLoad& load) {
    if (!load.trace.empty())
        return tr("%n requests of a trace", nullptr, many(static_cast<std::int64_t>(load.trace.size())));
    QStringList parts;
    if (load.concurrency > 1)
        parts << tr("%n requests at once", nullptr, many(load.concurrency));
    parts << (load.prompts.empty()
                  ? tr("%n prompt tokens", nullptr, many(load.promptTokens))
                  : tr("%n prompts", nullptr, many(static_cast<std::int64_t>(load.prompts.size()))));
    parts << tr("%n new tokens", nullptr, many(load.newTokens));
    return parts.join(" · ");
}

QString ReportText::about(const BenchReport& report, const QString& source) {
    QStringList parts;
    parts << source;
    parts << QString::fromStdString(report.model + ", " + report.dtype) +
                 (report.randomWeights ? tr(", random weights") : QString());
    parts << load(report.load);
    if (report.load.weights != kStoredWeights)
        parts << tr("weights in %1").arg(QString::fromStdString(report.load.weights)) +
                     (report.eager ? tr(" (transformers: as stored)") : QString());
    parts << tr("%n rounds in turn", nullptr, many(report.load.rounds));
    parts << machine(report.machine);
    parts.removeAll(QString());
    return parts.join(" · ");
}

QString ReportText::native(const BenchReport& report) {
    if (!report.native)
        return report.nativeReason.empty()
                   ? QString()
                   : tr("No hand-written code: %1").arg(QString::fromStdString(report.nativeReason));
    QStringList parts;
    if (!report.native->rounds.empty()) {
        const Comparison against = compare(*report.native, report.after, mainQuantity(report.load));
        if (!std::isnan(against.ratio))
            parts << tr("After is %1 times hand-written code (%2 to %3)")
                         .arg(ratioText(against.ratio), ratioText(against.interval.low),
                              ratioText(against.interval.high));
    }
    if (report.nativeCheck.is_object()) {
        const double error = numberOf(report.nativeCheck, "relative_error");
        const double equal = numberOf(report.nativeCheck, "equal");
        const double tokens = numberOf(report.nativeCheck, "tokens");
        if (!std::isnan(error))
            parts << tr("its logits are within %1 of the model's").arg(QLocale().toString(error, 'g', 2));
        if (!std::isnan(equal) && !std::isnan(tokens))
            parts << tr("%1 of %2 greedy tokens equal").arg(equal).arg(tokens);
    }
    return parts.join(", ");
}

QString ReportText::memory(const nlohmann::json& memory) {
    if (!memory.is_object() || std::isnan(numberOf(memory, "peak_bytes")))
        return {};
    QString text = tr("Memory: %1 MB at most with all programs side by side")
                       .arg(megabytes(numberOf(memory, "peak_bytes")));
    const double weights = numberOf(memory, "weight_bytes");
    const double caches = numberOf(memory, "kv_cache_bytes");
    if (!std::isnan(weights) && !std::isnan(caches))
        text += tr(", of it weights %1 MB and room for KV caches of %2 MB")
                    .arg(megabytes(weights), megabytes(caches));
    return text;
}

QString ReportText::details(const BenchReport& report) {
    QStringList lines{native(report), memory(report.memory)};
    for (const std::string& left : describeProducts(report))
        lines << QString::fromStdString(left);
    if (!report.eager && !report.eagerReason.empty())
        lines.insert(1, tr("No transformers: %1").arg(QString::fromStdString(report.eagerReason)));
    lines.removeAll(QString());
    return lines.join('\n');
}

} // namespace workbench::gui
