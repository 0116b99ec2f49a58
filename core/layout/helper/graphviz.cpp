#include "core/layout/helper/graphviz.h"

#include "core/layout/routing.h"

#include <graphviz/gvc.h>

#include <algorithm>
#include <string>
#include <vector>

namespace workbench {
namespace {

constexpr double kPointsPerInch = 72;
/// Above so many boxes and edges, time counts for more than crossings.
constexpr std::size_t kLarge = 1500;
/// A door is a cell of that width; Graphviz takes whole numbers.
constexpr std::int32_t kDoorWidth = 2;

std::string cell(std::int32_t width, std::int32_t height, const std::string& port = {}) {
    return "<td fixedsize=\"true\" width=\"" + std::to_string(width) + "\" height=\"" +
           std::to_string(height) + "\"" + (port.empty() ? "" : " port=\"" + port + "\"") + "></td>";
}

const std::string kTable = "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\">";

/// A row of cells with a port at each door.
std::string doorRow(std::int32_t width, std::int32_t height, const std::vector<std::int32_t>& doors,
                    char name) {
    std::vector<std::pair<std::int32_t, std::size_t>> sorted;
    for (std::size_t i = 0; i < doors.size(); ++i)
        sorted.emplace_back(doors[i], i);
    std::sort(sorted.begin(), sorted.end());
    std::string row = kTable + "<tr>";
    std::int32_t x = 0;
    for (const auto& [door, index] : sorted) {
        const std::int32_t start = std::clamp(door - kDoorWidth / 2, x, std::max(x, width - kDoorWidth));
        if (start > x)
            row += cell(start - x, height);
        row += cell(kDoorWidth, height, name + std::to_string(index));
        x = start + kDoorWidth;
    }
    if (x < width)
        row += cell(width - x, height);
    return row + "</tr></table>";
}

/// A table of exactly the box's size: with its doors, or with the part in the middle that edges may meet.
std::string tableOf(const FlatBox& box) {
    if (box.entries.empty() && box.exits.empty())
        return kTable + "<tr>" + (box.left > 0 ? cell(box.left, box.height) : "") +
               cell(box.width - box.left - box.right, box.height, "m") +
               (box.right > 0 ? cell(box.right, box.height) : "") + "</tr></table>";
    const std::int32_t upper = box.height / 2;
    return kTable + "<tr><td>" + doorRow(box.width, upper, box.entries, 'i') + "</td></tr><tr><td>" +
           doorRow(box.width, box.height - upper, box.exits, 'o') + "</td></tr></table>";
}

std::string inches(double points) {
    return std::to_string(points / kPointsPerInch);
}

} // namespace

/// Graphviz takes char* that it does not change.
class GraphBuilder {
public:
    GraphBuilder(const FlatProblem& problem)
        : m_problem(problem), m_graph(agopen(const_cast<char*>("g"), Agdirected, nullptr)) {}
    ~GraphBuilder() { agclose(m_graph); }
    GraphBuilder(const GraphBuilder&) = delete;
    GraphBuilder& operator=(const GraphBuilder&) = delete;

    Agraph_t* graph() const { return m_graph; }
    void build();
    FlatSolution read() const;

private:
    void set(void* object, const char* name, const std::string& value) {
        agsafeset(object, const_cast<char*>(name), const_cast<char*>(value.c_str()), const_cast<char*>(""));
    }
    void setHtml(void* object, const char* name, const std::string& value) {
        agsafeset(object, const_cast<char*>(name), const_cast<char*>(""), const_cast<char*>(""));
        char* html = agstrdup_html(m_graph, const_cast<char*>(value.c_str()));
        agset(object, const_cast<char*>(name), html);
        agstrfree(m_graph, html);
    }
    Agnode_t* addNode(const std::string& name) { return agnode(m_graph, const_cast<char*>(name.c_str()), 1); }
    void addBoxes();
    void addDoors(std::int32_t count, char name, const char* rank, std::vector<Agnode_t*>& nodes);
    void addEdges();
    Agnode_t* nodeOf(const FlatEnd& end, bool isTarget) const;
    void setPort(Agedge_t* edge, const char* attribute, const FlatEnd& end, bool isTarget);
    Point place(const pointf& point) const;
    std::vector<Point> pointsOf(Agedge_t* edge) const;

    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

    const FlatProblem& m_problem;
    Agraph_t* m_graph;
    std::vector<Agnode_t*> m_boxes, m_entries, m_exits;
    std::vector<Agedge_t*> m_edges;
};

void GraphBuilder::build() {
    set(m_graph, "nodesep", inches(m_problem.boxGap));
    set(m_graph, "ranksep", inches(m_problem.rankGap));
    set(m_graph, "rankdir", "TB");
    if (m_problem.boxes.size() + m_problem.edges.size() > kLarge) {
        set(m_graph, "splines", "polyline");
        set(m_graph, "nslimit", "2");
        set(m_graph, "nslimit1", "2");
        set(m_graph, "mclimit", "0.3");
    }
    addBoxes();
    addDoors(m_problem.entries, 'I', "source", m_entries);
    addDoors(m_problem.exits, 'O', "sink", m_exits);
    addEdges();
}

void GraphBuilder::addBoxes() {
    for (std::size_t i = 0; i < m_problem.boxes.size(); ++i) {
        const FlatBox& box = m_problem.boxes[i];
        Agnode_t* node = addNode("b" + std::to_string(i));
        m_boxes.push_back(node);
        const bool isPlain = box.entries.empty() && box.exits.empty() && box.left == 0 && box.right == 0;
        set(node, "shape", isPlain ? "box" : "none");
        set(node, "margin", "0");
        set(node, "width", inches(box.width));
        set(node, "height", inches(box.height));
        set(node, "fixedsize", "true");
        if (isPlain)
            set(node, "label", "");
        else
            setHtml(node, "label", tableOf(box));
    }
}

/// The container's own doors are points on its border: first and last rank.
void GraphBuilder::addDoors(std::int32_t count, char name, const char* rank, std::vector<Agnode_t*>& nodes) {
    if (count == 0)
        return;
    Agraph_t* row = agsubg(m_graph, const_cast<char*>(rank), 1);
    set(row, "rank", rank);
    for (std::int32_t i = 0; i < count; ++i) {
        Agnode_t* node = addNode(name + std::to_string(i));
        agsubnode(row, node, 1);
        nodes.push_back(node);
        set(node, "shape", "box");
        set(node, "label", "");
        set(node, "fixedsize", "true");
        set(node, "width", inches(kDoorWidth));
        set(node, "height", inches(0.02));
    }
}

Agnode_t* GraphBuilder::nodeOf(const FlatEnd& end, bool isTarget) const {
    if (end.box != FlatEnd::kOutside)
        return m_boxes[at(end.box)];
    return (isTarget ? m_exits : m_entries)[at(end.door)];
}

void GraphBuilder::setPort(Agedge_t* edge, const char* attribute, const FlatEnd& end, bool isTarget) {
    if (end.box == FlatEnd::kOutside)
        return;
    const FlatBox& box = m_problem.boxes[at(end.box)];
    if (end.door >= 0)
        set(edge, attribute, (isTarget ? "i" : "o") + std::to_string(end.door) + (isTarget ? ":n" : ":s"));
    else if (box.left > 0 || box.right > 0)
        set(edge, attribute, "m");
}

void GraphBuilder::addEdges() {
    for (std::size_t i = 0; i < m_problem.edges.size(); ++i) {
        const FlatEdge& asked = m_problem.edges[i];
        Agedge_t* edge = agedge(m_graph, nodeOf(asked.from, false), nodeOf(asked.to, true),
                                const_cast<char*>(("e" + std::to_string(i)).c_str()), 1);
        m_edges.push_back(edge);
        set(edge, "dir", "none");
        setPort(edge, "tailport", asked.from, false);
        setPort(edge, "headport", asked.to, true);
        if (asked.labelWidth > 0)
            setHtml(edge, "label",
                    kTable + "<tr>" + cell(asked.labelWidth, asked.labelHeight) + "</tr></table>");
    }
}

Point GraphBuilder::place(const pointf& point) const {
    const boxf& bounds = GD_bb(m_graph);
    return {point.x - bounds.LL.x, bounds.UR.y - point.y};
}

/// A straight line where Graphviz could not route.
std::vector<Point> GraphBuilder::pointsOf(Agedge_t* edge) const {
    std::vector<Point> points;
    const splines* drawn = ED_spl(edge);
    if (drawn && drawn->size > 0)
        for (int i = 0; i < drawn->list[0].size; ++i)
            points.push_back(place(drawn->list[0].list[i]));
    if (points.size() < 4 || points.size() % 3 != 1) {
        const Point from = place(ND_coord(agtail(edge)));
        const Point to = place(ND_coord(aghead(edge)));
        points = {from, from, to, to};
    }
    return points;
}

FlatSolution GraphBuilder::read() const {
    FlatSolution solution;
    const boxf& bounds = GD_bb(m_graph);
    solution.width = bounds.UR.x - bounds.LL.x;
    solution.height = bounds.UR.y - bounds.LL.y;
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        const Point centre = place(ND_coord(m_boxes[i]));
        solution.boxes.push_back(
            {centre.x - m_problem.boxes[i].width / 2.0, centre.y - m_problem.boxes[i].height / 2.0});
    }
    for (std::size_t i = 0; i < m_edges.size(); ++i) {
        solution.edges.push_back(pointsOf(m_edges[i]));
        const textlabel_t* label = ED_label(m_edges[i]);
        const Point centre = label ? place(label->pos) : Point{};
        solution.labels.push_back(label ? Point{centre.x - m_problem.edges[i].labelWidth / 2.0,
                                                centre.y - m_problem.edges[i].labelHeight / 2.0}
                                        : Point{});
    }
    for (Agnode_t* entry : m_entries)
        solution.entries.push_back(place(ND_coord(entry)).x);
    for (Agnode_t* exit : m_exits)
        solution.exits.push_back(place(ND_coord(exit)).x);
    return solution;
}

struct Graphviz::Context {
    GVC_t* gvc = gvContext();
};

Graphviz::Graphviz() : m_context(std::make_unique<Context>()) {}

Graphviz::~Graphviz() {
    gvFreeContext(m_context->gvc);
}

Result<FlatSolution> Graphviz::solve(const FlatProblem& problem) {
    if (problem.boxes.empty())
        return FlatSolution{};
    GraphBuilder builder(problem);
    builder.build();
    if (gvLayout(m_context->gvc, builder.graph(), "dot") != 0)
        return Error{ErrorCode::runtimeFailed, "Graphviz's dot cannot lay out this graph", {}};
    FlatSolution solution = builder.read();
    gvFreeLayout(m_context->gvc, builder.graph());
    routeInRows(problem, solution);
    return solution;
}

} // namespace workbench
