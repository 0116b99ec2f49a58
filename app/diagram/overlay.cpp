#include "app/diagram/overlay.h"

#include "app/diagram/type_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace workbench {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

void combine(double& total, double value, Overlay::Total how) {
    if (std::isnan(value))
        return;
    if (std::isnan(total))
        total = value;
    else
        total = how == Overlay::Total::sum ? total + value : std::max(total, value);
}

double bytesOf(const TensorMeta& meta) {
    double bytes = static_cast<double>(bytesPerElement(meta.dtype));
    for (const SymInt& size : meta.shape)
        bytes *= size.isConstant() ? static_cast<double>(size.constant()) : 0;
    return bytes;
}

} // namespace

double totalOf(const Overlay& overlay, const Box& box) {
    double total = kNoNumber;
    for (const NodeId node : box.nodes)
        if (static_cast<std::size_t>(node) < overlay.perNode.size())
            combine(total, overlay.perNode[static_cast<std::size_t>(node)], overlay.total);
    return total;
}

double largestTotal(const Overlay& overlay, const Diagram& diagram) {
    double largest = 0;
    for (const Box& box : diagram.boxes)
        if (const double total = totalOf(overlay, box); !box.expanded && total > largest)
            largest = total;
    return largest;
}

std::string overlayText(const Overlay& overlay, double value) {
    if (std::isnan(value))
        return {};
    if (overlay.unit == "B")
        return bytesText(value);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.3g%s%s", value, overlay.unit.empty() ? "" : " ",
                  overlay.unit.c_str());
    return text.data();
}

Overlay weightBytes(const Graph& graph) {
    Overlay overlay{"weights", "B", std::vector<double>(graph.nodes.size(), kNoNumber), Overlay::Total::sum};
    std::vector<char> isWeight(graph.values.size(), 0);
    for (const Input& input : graph.inputs)
        if (input.kind != Input::Kind::user)
            isWeight[static_cast<std::size_t>(input.value)] = 1;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        for (const ValueId value : operands(graph.nodes[i]))
            if (char& counts = isWeight[static_cast<std::size_t>(value)]) {
                combine(overlay.perNode[i], bytesOf(graph.value(value).meta), overlay.total);
                counts = 0;
            }
    return overlay;
}

Overlay nodeNumbers(std::string name, std::string unit, Overlay::Total total, const Graph& graph,
                    const std::map<std::string, double, std::less<>>& numberOfValue) {
    Overlay overlay{std::move(name), std::move(unit), std::vector<double>(graph.nodes.size(), kNoNumber),
                    total};
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (!graph.nodes[i].outputs.empty())
            if (const auto found = numberOfValue.find(graph.value(graph.nodes[i].outputs.front()).name);
                found != numberOfValue.end())
                overlay.perNode[i] = found->second;
    return overlay;
}

Overlay siteNumbers(std::string name, std::string unit, Overlay::Total total, const Graph& graph,
                    const Analysis& analysis, const std::map<std::size_t, double>& numberOfSite,
                    const Rewritten* rewritten) {
    Overlay overlay{std::move(name), std::move(unit), std::vector<double>(graph.nodes.size(), kNoNumber),
                    total};
    for (const auto& [site, number] : numberOfSite) {
        const std::vector<NodeId>& nodes =
            rewritten ? rewritten->outcomes[site].replacement : analysis.sites[site].nodes;
        // On the last node alone, where the site's result is made: a total must not count a site twice.
        if (!nodes.empty())
            combine(overlay.perNode[static_cast<std::size_t>(nodes.back())], number, total);
    }
    return overlay;
}

} // namespace workbench
