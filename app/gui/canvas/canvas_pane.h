#pragma once

#include "app/gui/canvas/canvas_view.h"
#include "app/gui/canvas/diagram_loader.h"

#include <QtWidgets/QWidget>

#include <map>
#include <optional>
#include <string>

class QFrame;
class QLabel;
class QPushButton;
class QTimer;

namespace workbench::gui {

class Minimap;

/// A view with what belongs to it: the loader, the minimap, the card that offers to cancel a long layout, and
/// a word where there is nothing to draw. It keeps for each scope what was opened in it.
class CanvasPane : public QWidget {
    Q_OBJECT
public:
    CanvasPane(const Locations& locations, QWidget* parent = nullptr);

    CanvasView& view() const { return *m_view; }
    const Picture& picture() const { return m_picture; } ///< the one that is shown
    const Scene* scene() const { return m_picture.scene.get(); }
    bool busy() const { return m_loader->busy(); }

    /// Another graph: what is shown stays until the new picture is there. Null: `hint` is shown instead.
    void setSource(const DiagramSource& source, const QString& hint = {});
    const DiagramSource& source() const { return m_source; }

    void openScope(const std::string& scope); ///< as it was left, or as a first look
    void showRequest(const DiagramRequest& request, const std::string& anchor = {});
    void toggle(std::int32_t box); ///< open or close in place
    /// The same by name (a module's path, or "model.layers.0-27"); a name that nothing has is kept for later.
    void setExpanded(const std::string& name, bool expanded);
    void setAllExpanded(bool expanded); ///< everything in the scope, however deep
    void openBox(std::int32_t box);     ///< as a scope
    void goOut();                       ///< one scope up
    /// Makes nodes show: in the current scope if it holds the first, else in the scope of its module. They
    /// are chosen silently.
    void reveal(const std::vector<NodeId>& nodes);
    /// The same in a given scope, where no more than this and what hides the nodes is opened.
    void revealIn(const std::string& scope, const std::set<std::string>& expanded,
                  const std::vector<NodeId>& nodes);
    void revealModule(const std::string& path);

    void themeChanged(const Theme& theme);
    void setMarks(std::shared_ptr<const std::vector<NodeMark>> marks); ///< by node of the graph; null: none
    void setOverlay(std::shared_ptr<const Overlay> overlay);           ///< null: none
    void setHiddenSlots(const std::set<std::int32_t>& slots);
    /// What the scene is coloured with; shared, for those who paint it elsewhere.
    const std::shared_ptr<const SceneColours>& colours() const { return m_colours; }

Q_SIGNALS:
    void shown();        ///< a new picture is there
    void revealed();     ///< what reveal() asked for is chosen and in sight
    void scopeChanged(); ///< with shown(), when the scope is another one

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void load(DiagramLoader::MakeRequest make);
    void revealFrom(DiagramLoader::MakeRequest base, const std::vector<NodeId>& nodes);
    void take(const Picture& picture);
    void fail(const Error& error);
    void showBusy(bool busy);
    void placeCards();
    void chooseRevealed();
    void recolour();
    void drawMinimap();
    void say(const QString& text, bool retry);
    void takeAsLeft() { m_left[m_picture.request.scope] = m_picture.request; }

    DiagramLoader* m_loader;
    CanvasView* m_view;
    Minimap* m_minimap;
    QFrame *m_busyCard, *m_hintCard;
    QLabel* m_hint;
    QPushButton* m_retry;
    QTimer* m_patience;
    DiagramSource m_source;
    Picture m_picture;
    std::shared_ptr<const std::vector<NodeMark>> m_marks;
    std::shared_ptr<const Overlay> m_overlay;
    std::shared_ptr<const SceneColours> m_colours;
    bool m_minimapIsDue = false; ///< it will be drawn in the next turn of the event loop
    DiagramLoader::MakeRequest m_last;
    std::optional<DiagramRequest> m_pending; ///< shown once it is laid out
    std::string m_anchor;                    ///< key of the box that stays in place
    std::vector<NodeId> m_toReveal;          ///< once the picture is there
    std::string m_moduleToReveal;
    std::map<std::string, DiagramRequest> m_left; ///< scopes as the user left them: what was opened to reveal
                                                  ///< something closes again with the next reveal
};

} // namespace workbench::gui
