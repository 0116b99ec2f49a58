#include "app/gui/canvas/overlays.h"

#include <QtCore/QCoreApplication>

#include <algorithm>
#include <cmath>

namespace workbench::gui {
namespace {

Overlay ofSites(const Document& document, const char* name, const char* unit, Overlay::Total total,
                const std::function<std::optional<double>(std::size_t)>& number) {
    std::map<std::size_t, double> numbers;
    for (std::size_t site = 0; site < document.analysis().sites.size(); ++site)
        if (const std::optional<double> found = number(site))
            numbers.emplace(site, *found);
    return siteNumbers(name, unit, total, document.graph(), document.analysis(), numbers, nullptr);
}

Overlay errors(const Document& document) {
    return ofSites(document, "error of the rewrite", "", Overlay::Total::max, [&](std::size_t site) {
        const PlanProof* proof = document.proof(site);
        return proof ? std::optional(proof->relativeError) : std::nullopt;
    });
}

Overlay gains(const Document& document) {
    return ofSites(document, "measured gain", "%", Overlay::Total::sum, [&](std::size_t site) {
        const SpeedGain* gain = document.gain(site);
        return gain ? std::optional(gain->percent) : std::nullopt;
    });
}

Overlay times(const Document& document, const char* name, NodeTimes::ByName NodeTimes::*of, bool holds) {
    static const NodeTimes kNothing;
    const NodeTimes& all = holds ? *document.nodeTimes() : kNothing;
    return nodeNumbers(name, "ms", Overlay::Total::sum, document.graph(), all.*of);
}

Overlay timesBefore(const Document& document) {
    return times(document, "measured time before", &NodeTimes::before, document.nodeTimes() != nullptr);
}

Overlay timesAfter(const Document& document) {
    return times(document, "measured time after", &NodeTimes::after, document.timesAfterHold());
}

} // namespace

const std::vector<OverlayChoice>& overlayChoices() {
    static const std::vector<OverlayChoice> all = {
        {"weights", QT_TRANSLATE_NOOP("overlays", "Bytes of weights"), "",
         [](const Document& document) { return weightBytes(document.graph()); }},
        {"error", QT_TRANSLATE_NOOP("overlays", "Error of the rewrite"),
         QT_TRANSLATE_NOOP("overlays", "no errors yet: verify some sites"), errors},
        {"time", QT_TRANSLATE_NOOP("overlays", "Measured time before"),
         QT_TRANSLATE_NOOP("overlays", "no times yet: measure with the time by kind of operator"),
         timesBefore},
        {"time_after", QT_TRANSLATE_NOOP("overlays", "Measured time after"),
         QT_TRANSLATE_NOOP("overlays", "no times of these decisions yet: measure them"), timesAfter},
        {"gain", QT_TRANSLATE_NOOP("overlays", "Measured gain"),
         QT_TRANSLATE_NOOP("overlays", "no gains yet: measure the patterns"), gains},
    };
    return all;
}

QString totalText(const Overlay& overlay, const Diagram& diagram) {
    Box all;
    for (const Box& box : diagram.boxes)
        if (!box.expanded)
            all.nodes.insert(all.nodes.end(), box.nodes.begin(), box.nodes.end());
    std::sort(all.nodes.begin(), all.nodes.end());
    const double total = totalOf(overlay, all);
    if (std::isnan(total))
        return {};
    const char* format = overlay.total == Overlay::Total::sum ? QT_TRANSLATE_NOOP("overlays", "total %1")
                                                              : QT_TRANSLATE_NOOP("overlays", "largest %1");
    return QCoreApplication::translate("overlays", format)
        .arg(QString::fromStdString(overlayText(overlay, total)));
}

} // namespace workbench::gui
