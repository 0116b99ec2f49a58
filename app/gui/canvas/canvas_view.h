#pragma once

#include "app/diagram/neighbours.h"
#include "app/gui/canvas/canvas_tiles.h"
#include "app/gui/canvas/diagram_item.h"

#include <QtWidgets/QGraphicsView>

#include <memory>
#include <optional>
#include <vector>

class QGestureEvent;
class QTimer;

namespace workbench::gui {

/// Shows a scene: zoom, pan, hover, what is chosen, and walking along the edges by keyboard. It changes
/// nothing but what it shows; what should happen to a box is said by signals.
class CanvasView : public QGraphicsView {
    Q_OBJECT
public:
    explicit CanvasView(QWidget* parent = nullptr);

    /// A box that both scenes have keeps its place on the screen when `anchor` names it; else the view shows
    /// the new scene from its top, as large as can be read.
    void showScene(std::shared_ptr<const Scene> scene, const std::string& anchor = {});
    const Scene* drawn() const { return m_item->drawn(); }

    // Looks. Each repaints what is visible, nothing else.
    const PaintOptions& paintOptions() const { return m_item->options; }
    void setTheme(const Theme& theme);
    void setColours(std::shared_ptr<const SceneColours> colours); ///< of the scene that is shown
    void setHiddenSlots(std::set<std::int32_t> slots);
    /// What a rewrite did to each box; empty: nothing is said.
    void setFates(std::vector<Highlight> fates);
    void setSearchHits(std::vector<std::int32_t> boxes);

    // What is chosen: boxes of the scene; the first one is the current one.
    const std::vector<std::int32_t>& chosen() const { return m_chosen; }
    std::int32_t current() const { return m_chosen.empty() ? -1 : m_chosen.front(); }
    void choose(std::vector<std::int32_t> boxes); ///< silent: chosenChanged() is for what the user does
    enum class Direction { up, down, left, right };
    void walk(Direction direction);
    void chooseNeighbours(bool producers);

    // Place and size.
    double zoom() const { return transform().m11(); }
    // A movement, until it rests: its frames show what there was time for (see CanvasTiles).
    void zoomTo(double zoom, const QPointF& anchor); ///< the point of the viewport that stays where it is
    void zoomIn();
    void zoomOut();
    void actualSize();
    void centreOn(const QPointF& scenePoint);
    /// Moves and zooms so that a scene point lies at a point of the viewport.
    void place(const QPointF& scenePoint, const QPointF& viewportPoint, double zoom);
    bool isSharp() const { return m_tiles.blurred().isEmpty(); } ///< as it was last painted
    // A jump: painted in full at once.
    void centreNarrow(); ///< sideways, a drawing that is no wider than the viewport
    void fit();          ///< all of it
    void showFromTop();
    /// Moves only when they are not in sight, zooms only when they are too large or smaller than `leastZoom`.
    void ensureShown(const std::vector<std::int32_t>& boxes, double leastZoom = 0);
    static constexpr double kReadable = 0.5; ///< titles are read easily from here on
    QRectF visiblePart() const;

Q_SIGNALS:
    void viewChanged();            ///< place or size
    void highlightsChanged();      ///< what is chosen, found, added or removed
    void chosenChanged();          ///< by the user
    void toggleRequested(int box); ///< open or close in place
    void openRequested(int box);   ///< as a scope of its own
    void revealRequested(int box); ///< a double click on a node
    void outRequested();           ///< one scope up
    void menuRequested(int box, const QPoint& globalPosition);

protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    std::int32_t boxUnder(const QPoint& position) const;
    std::int32_t toggleUnder(const QPoint& position) const;
    QString tipAt(const QPoint& position) const;
    void hover(const QPoint& position);
    void userChose(std::vector<std::int32_t> boxes);
    void updateHighlights();
    void growRoom();
    void jump(const QPointF& scenePoint, const QPointF& viewportPoint, double zoom);
    void moveBy(const QPoint& away); ///< a step of a movement
    void repaintAll();
    void pinch(QGestureEvent* event);
    std::int32_t bestOf(const std::vector<std::int32_t>& boxes) const;
    std::int32_t nearestSideways(bool right) const;

    QGraphicsScene* m_graphics;
    DiagramItem* m_item;
    std::optional<Neighbours> m_neighbours;
    std::shared_ptr<const SceneColours> m_colours;
    std::vector<Highlight> m_fates;
    std::vector<std::int32_t> m_chosen, m_hits;
    std::int32_t m_cameFrom = -1; ///< where the last step of a walk began: the way back is preferred
    std::optional<QPoint> m_pressed, m_dragged;
    CanvasTiles m_tiles;
    CanvasTiles::Haste m_haste = CanvasTiles::Haste::complete;
    QTimer* m_rest;         ///< runs out when a movement rests: sharp tiles then
    bool m_placing = false; ///< several moves make one viewChanged()
};

} // namespace workbench::gui
