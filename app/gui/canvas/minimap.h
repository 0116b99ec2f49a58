#pragma once

#include "app/draw/paint.h"

#include <QtGui/QPixmap>
#include <QtWidgets/QWidget>

#include <memory>

namespace workbench::gui {

/// The whole drawing in a corner with the visible part framed; a press or a drag moves there. Hides itself
/// while all is in sight anyway.
class Minimap : public QWidget {
    Q_OBJECT
public:
    explicit Minimap(QWidget* parent);

    void setDrawing(const Scene* scene, const PaintOptions& options); ///< copies what it needs
    void setVisiblePart(const QRectF& scenePart);

Q_SIGNALS:
    void centreRequested(const QPointF& scenePoint);
    void resized(); ///< its size follows the drawing's shape: whoever placed it does so again

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    void goTo(const QPointF& position);
    double scale() const;
    QPixmap picture(const Scene& scene, const PaintOptions& options) const;

    QPixmap m_picture;
    QRectF m_bounds, m_part;
    QColor m_background, m_border, m_frame;
    bool m_wanted = false;
};

} // namespace workbench::gui
