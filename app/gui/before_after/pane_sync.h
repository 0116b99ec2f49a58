#pragma once

#include "app/diagram/partners.h"
#include "app/gui/canvas/canvas_pane.h"

#include <memory>

namespace workbench::gui {

/// Keeps two panes at the same place: what one opens the other opens, and the box that is looked at in one
/// has its partner at the same spot in the other. Boxes are told apart by what the rewrite did to them.
class PaneSync : public QObject {
    Q_OBJECT
public:
    PaneSync(CanvasPane& original, CanvasPane& rewritten, QObject* parent);

    /// Of the graphs that are the panes' sources; null while the two do not belong together.
    void setCorrespondence(std::shared_ptr<const Correspondence> map,
                           std::shared_ptr<const Graph> original = {},
                           std::shared_ptr<const Graph> rewritten = {});
    /// The pane shows a drawing of the graph that the correspondence is of, not yet an older one.
    bool isCurrent(GraphSide side) const;
    const Correspondence* correspondence() const { return m_map.get(); }

    CanvasPane& pane(GraphSide side) const { return *m_panes[side == GraphSide::rewritten]; }
    void openScope(const std::string& scope); ///< in both
    /// Puts the panes in line again after boxes were chosen from outside.
    void align(GraphSide leader);
    /// What became of the box that is chosen in a pane: "went into qkv_proj", "no partner: ...".
    QString fateText(GraphSide side, std::int32_t box) const;

Q_SIGNALS:
    void chosen(GraphSide side); ///< by the user, in that pane; the partners are chosen already

private:
    void connectPane(GraphSide side);
    void paintFates(GraphSide side);
    void follow(GraphSide leader);
    void choosePartners(GraphSide side);
    std::int32_t reference(GraphSide leader);
    std::int32_t partnerOf(GraphSide side, std::int32_t box) const;
    bool isInSight(GraphSide side, std::int32_t box) const;

    CanvasPane* m_panes[2];
    std::shared_ptr<const Correspondence> m_map;
    std::shared_ptr<const Graph> m_graphs[2];
    std::string m_reference; ///< key of the leader's box that its partner is aligned with
    GraphSide m_leader = GraphSide::original;
    std::optional<GraphSide> m_mirrored; ///< what this pane shows next, the other one shows too
    bool m_following = false;            ///< the move that is heard of is our own
};

inline GraphSide otherSide(GraphSide side) {
    return side == GraphSide::original ? GraphSide::rewritten : GraphSide::original;
}

} // namespace workbench::gui
