#include "app/diagram/diagram.h"

namespace workbench {
namespace {

const char* kindText(const Box& box) {
    switch (box.role) {
    case Box::Role::input:
        return "input";
    case Box::Role::output:
        return "output";
    case Box::Role::parameter:
        return "parameter";
    case Box::Role::copy:
        return "copy";
    case Box::Role::none:
        break;
    }
    return box.kind == Box::Kind::module ? "module" : "node";
}

std::string join(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts)
        joined += (joined.empty() ? "" : "; ") + text;
    return joined;
}

} // namespace

std::string print(const Diagram& diagram) {
    std::string text = "scope \"" + diagram.scope + "\"\n";
    std::vector<std::size_t> depth(diagram.boxes.size(), 1);
    // Boxes in the order of the diagram: the text form shows containment by indentation and by the parent's
    // key.
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
        const Box& box = diagram.boxes[i];
        if (box.parent >= 0)
            depth[i] = depth[static_cast<std::size_t>(box.parent)] + 1;
        text += std::string(depth[i] * 2, ' ') + kindText(box) + " " + box.key + " \"" + box.title + "\"";
        if (!box.subtitle.empty())
            text += " " + box.subtitle;
        if (box.count > 1)
            text += " x" + std::to_string(box.count);
        if (box.expanded)
            text += " open";
        if (box.parent >= 0)
            text += " in " + diagram.boxes[static_cast<std::size_t>(box.parent)].key;
        if (box.beside >= 0)
            text += " beside " + diagram.boxes[static_cast<std::size_t>(box.beside)].key;
        if (!box.details.empty())
            text += " (" + join(box.details) + ")";
        text += "\n";
    }
    for (const Edge& edge : diagram.edges)
        text += "  " + diagram.boxes[static_cast<std::size_t>(edge.from)].key + " -> " +
                diagram.boxes[static_cast<std::size_t>(edge.to)].key + " " + edge.label + "\n";
    return text;
}

} // namespace workbench
