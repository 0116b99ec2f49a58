#pragma once

#include "app/draw/paint.h"

#include <QtWidgets/QGraphicsItem>

#include <memory>

namespace workbench::gui {

/// The whole drawing as one item: app/draw paints it, culls it, and decides what is readable at which scale.
/// One item for thousands of boxes keeps a frame at the cost of its painting.
class DiagramItem : public QGraphicsItem {
public:
    DiagramItem();

    void setScene(std::shared_ptr<const Scene> scene);
    const Scene* drawn() const { return m_scene.get(); }

    /// What is painted; `visible` and `scale` are filled in for each frame.
    PaintOptions options;
    /// Boxes whose sign says what a rewrite did: '+', '-', 'Σ'. Colour alone does not tell it to everybody.
    std::vector<Highlight> signs;

    // The two halves of paint(), for painters in scene coordinates: a part with its background, and the edge
    // under the pointer, which changes too often to be painted with the rest.
    void paintPart(QPainter& painter, const QRectF& part) const;
    void paintHovered(QPainter& painter) const;

    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    void paintToggles(QPainter& painter, double scale, const QRectF& visible) const;
    void paintSigns(QPainter& painter, double scale, const QRectF& visible) const;

    std::shared_ptr<const Scene> m_scene;
};

bool togglesShow(double scale); ///< far out they are too small to hit
/// Where a click opens or closes an expandable box in place.
QRectF toggleOf(const Scene& scene, std::int32_t box);
/// The box whose toggle is at a point, -1: none.
std::int32_t toggleAt(const Scene& scene, const QPointF& point);

} // namespace workbench::gui
