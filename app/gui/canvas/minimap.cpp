#include "app/gui/canvas/minimap.h"

#include <QtGui/QMouseEvent>
#include <QtGui/QPainter>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr double kWidest = 180, kTallest = 220;
constexpr double kMostShare = 0.3; // of the pane that it lies on
constexpr double kNarrowest = 36;  // a drawing of one column still gives something to press on
constexpr double kInset = 4;

} // namespace

Minimap::Minimap(QWidget* parent) : QWidget(parent) {
    setObjectName("minimap");
    setAccessibleName(tr("Minimap"));
    setToolTip(tr("The whole drawing. Press or drag to move there."));
    setCursor(Qt::PointingHandCursor);
    hide();
}

double Minimap::scale() const {
    return std::min((width() - 2 * kInset) / m_bounds.width(), (height() - 2 * kInset) / m_bounds.height());
}

void Minimap::setDrawing(const Scene* scene, const PaintOptions& options) {
    m_wanted = scene && !scene->bounds.isEmpty();
    if (!m_wanted) {
        hide();
        return;
    }
    m_bounds = scene->bounds;
    const double widest = std::min(kWidest, kMostShare * parentWidget()->width());
    const double tallest = std::min(kTallest, kMostShare * parentWidget()->height());
    const double fit = std::min(widest / m_bounds.width(), tallest / m_bounds.height());
    const QSize size(qRound(std::max(kNarrowest, m_bounds.width() * fit) + 2 * kInset),
                     qRound(std::max(kNarrowest, m_bounds.height() * fit) + 2 * kInset));
    if (size != this->size()) {
        resize(size);
        Q_EMIT resized();
    }
    const Theme& theme = options.theme ? *options.theme : Theme::light();
    m_background = theme.background;
    m_border = theme.containerBorder;
    m_frame = theme.selection;
    m_picture = picture(*scene, options);
    setVisiblePart(m_part); // which may bring us here again
    update();
}

QPixmap Minimap::picture(const Scene& scene, const PaintOptions& options) const {
    QPixmap picture(size() * devicePixelRatioF());
    picture.setDevicePixelRatio(devicePixelRatioF());
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(QRectF(rect()).center());
    painter.scale(scale(), scale());
    painter.translate(-m_bounds.center());
    PaintOptions outline = options;
    outline.scale = scale();
    outline.visible = {};
    outline.background = false;
    paintOutline(painter, scene, outline);
    return picture;
}

void Minimap::setVisiblePart(const QRectF& scenePart) {
    m_part = scenePart;
    setVisible(m_wanted && !m_part.contains(m_bounds));
    update();
}

void Minimap::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = m_background;
    veil.setAlphaF(0.9f);
    painter.setPen(m_border);
    painter.setBrush(veil);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    painter.drawPixmap(0, 0, m_picture);
    const QRectF part =
        m_part & m_bounds.adjusted(-kInset / scale(), -kInset / scale(), kInset / scale(), kInset / scale());
    const QPointF middle = QRectF(rect()).center();
    const QRectF frame((part.topLeft() - m_bounds.center()) * scale() + middle, part.size() * scale());
    QColor inside = m_frame;
    inside.setAlphaF(0.15f);
    painter.setPen(QPen(m_frame, 1.5));
    painter.setBrush(inside);
    painter.drawRect(frame.adjusted(0.75, 0.75, -0.75, -0.75));
}

void Minimap::mousePressEvent(QMouseEvent* event) {
    goTo(event->position());
}

void Minimap::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton)
        goTo(event->position());
}

void Minimap::goTo(const QPointF& position) {
    Q_EMIT centreRequested((position - QRectF(rect()).center()) / scale() + m_bounds.center());
}

} // namespace workbench::gui
