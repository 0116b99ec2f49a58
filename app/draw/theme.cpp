#include "app/draw/theme.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace workbench {
namespace {

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

Theme makeLight() {
    Theme theme;
    theme.dark = false;
    theme.background = "#f6f7f9";
    theme.grid = "#e6e9ee";
    theme.text = "#1c2128";
    theme.mutedText = "#59626f";
    theme.moduleFill = "#e6edf9";
    theme.moduleBorder = "#9db2d8";
    theme.containerFill = "#eceff4";
    theme.containerBorder = "#c3cbd7";
    theme.nodeFill = "#ffffff";
    theme.nodeBorder = "#bcc4cf";
    theme.inputFill = "#dff2e6";
    theme.outputFill = "#fbe6d9";
    theme.parameterFill = "#f5edd3";
    theme.copyFill = "#ebe4f7";
    theme.valueBorder = "#b5bcc7";
    theme.edge = "#8a94a3";
    theme.edgeText = "#59626f";
    theme.selection = "#0b5fff";
    theme.producer = "#0a8f6c";
    theme.consumer = "#c2571a";
    theme.searchHit = "#d9a400";
    theme.added = "#2e9e4f";
    theme.removed = "#d1383d";
    theme.merged = "#3f74d8";
    theme.patterns = {"#7b4fd0", "#00897b", "#d35f00", "#1f6feb", "#2e8b3d", "#c2338b",
                      "#a67c00", "#5c6bc0", "#8d6e63", "#00838f", "#ad1457", "#546e7a"};
    theme.overlayLow = "#fff7e0";
    theme.overlayHigh = "#e8590c";
    return theme;
}

Theme makeDark() {
    Theme theme;
    theme.dark = true;
    theme.background = "#15171b";
    theme.grid = "#20242b";
    theme.text = "#e8eaed";
    theme.mutedText = "#a3acb9";
    theme.moduleFill = "#243149";
    theme.moduleBorder = "#4a639a";
    theme.containerFill = "#1b1f25";
    theme.containerBorder = "#3b4451";
    theme.nodeFill = "#2a2f37";
    theme.nodeBorder = "#4d5664";
    theme.inputFill = "#1d3b2b";
    theme.outputFill = "#472d1d";
    theme.parameterFill = "#3c3520";
    theme.copyFill = "#342b49";
    theme.valueBorder = "#566071";
    theme.edge = "#738093";
    theme.edgeText = "#a3acb9";
    theme.selection = "#5b9bff";
    theme.producer = "#3ecfa4";
    theme.consumer = "#ff9b61";
    theme.searchHit = "#f2c94c";
    theme.added = "#4cc470";
    theme.removed = "#f0666b";
    theme.merged = "#77a3ff";
    theme.patterns = {"#b49cff", "#4db6ac", "#ff9e5e", "#6ea8ff", "#7bd389", "#f48fc7",
                      "#e0c15a", "#9fa8da", "#bcaaa4", "#4dd0e1", "#f06292", "#90a4ae"};
    theme.overlayLow = "#2b2a26";
    theme.overlayHigh = "#e8590c";
    return theme;
}

} // namespace

QColor Theme::slot(std::int32_t index) const {
    return index < 0 ? nodeBorder : patterns[static_cast<std::size_t>(index) % patterns.size()];
}

double luminance(const QColor& colour) {
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const auto [low, high] = std::minmax({luminance(a), luminance(b)});
    return (high + 0.05) / (low + 0.05);
}

QColor mixed(const QColor& from, const QColor& to, double share) {
    const auto part = [&](double a, double b) { return static_cast<float>(a + (b - a) * share); };
    return QColor::fromRgbF(part(from.redF(), to.redF()), part(from.greenF(), to.greenF()),
                            part(from.blueF(), to.blueF()));
}

QColor Theme::textOn(const QColor& fill) const {
    const QColor ink(Qt::black); // anything lighter, and neither reads on a middle tone
    const QColor paper(Qt::white);
    return contrast(fill, ink) >= contrast(fill, paper) ? ink : paper;
}

QColor Theme::overlay(double share) const {
    return mixed(overlayLow, overlayHigh, std::clamp(share, 0.0, 1.0));
}

const Theme& Theme::light() {
    static const Theme theme = makeLight();
    return theme;
}

const Theme& Theme::darkOne() {
    static const Theme theme = makeDark();
    return theme;
}

/// Kept: a font that is made anew is looked up anew, thousands of times per frame.
QFont drawingFont(double pixels, bool bold) {
    static thread_local std::unordered_map<int, QFont> fonts;
    const int size = std::max(1, static_cast<int>(std::lround(pixels)));
    const auto [known, isNew] = fonts.try_emplace(bold ? -size : size);
    if (!isNew)
        return known->second;
    QFont font({"Inter", "Noto Sans", "DejaVu Sans"});
    font.setStyleHint(QFont::SansSerif);
    font.setPixelSize(size);
    font.setWeight(bold ? QFont::DemiBold : QFont::Normal);
    return known->second = font;
}

} // namespace workbench
