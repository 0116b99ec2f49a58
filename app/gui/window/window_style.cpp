#include "app/gui/window/window_style.h"

#include "app/draw/theme.h"

#include <QtGui/QGuiApplication>
#include <QtGui/QIconEngine>
#include <QtGui/QPainter>
#include <QtWidgets/QAbstractButton>
#include <QtWidgets/QButtonGroup>
#include <QtWidgets/QStyleOption>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kButtonAir = 12; ///< pixels beside the text of a button, both sides together
constexpr int kHandle = 5;     // wide enough to be caught by the mouse; the line in it is one pixel
constexpr int kTitlePadding = 8;
constexpr double kCross = 7;         // of the button that closes a tab
constexpr double kFrameShare = 0.52; // of the text's colour in a frame: 3 : 1 against the window
constexpr int kFusionDarker = 140;   // what Fusion draws frames in: the window's colour, darker by this

/// A line through the middle of a handle, along its longer side; the accent under the mouse.
void paintHandle(QPainter& painter, const QStyleOption& option) {
    const bool isHot = option.state & QStyle::State_MouseOver;
    const QColor colour = option.palette.color(isHot ? QPalette::Highlight : QPalette::Mid);
    QRect line = option.rect;
    if (line.width() < line.height())
        line = QRect(line.center().x(), line.top(), 1, line.height());
    else
        line = QRect(line.left(), line.center().y(), line.width(), 1);
    painter.fillRect(line, colour);
}

void paintCross(QPainter& painter, const QStyleOption& option) {
    const bool isHot = option.state & QStyle::State_MouseOver;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    if (isHot) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(option.palette.color(QPalette::Mid));
        painter.drawRoundedRect(QRectF(option.rect).adjusted(1, 1, -1, -1), 4, 4);
    }
    painter.setPen(QPen(option.palette.color(isHot ? QPalette::ButtonText : QPalette::PlaceholderText), 1.4));
    const QPointF middle = QRectF(option.rect).center();
    const double reach = std::min<double>(kCross, option.rect.width() - 4) / 2;
    painter.drawLine(middle - QPointF(reach, reach), middle + QPointF(reach, reach));
    painter.drawLine(middle - QPointF(reach, -reach), middle + QPointF(reach, -reach));
    painter.restore();
}

/// The text of a header keeps away from the next column; a line below, and one between two columns.
void paintHeader(QPainter& painter, const QStyleOptionHeader& option) {
    painter.fillRect(option.rect, option.palette.color(QPalette::Window));
    const QColor line = option.palette.color(QPalette::Mid);
    painter.fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), line);
    const bool isLast =
        option.position == QStyleOptionHeader::End || option.position == QStyleOptionHeader::OnlyOneSection;
    if (option.orientation == Qt::Horizontal && !isLast)
        painter.fillRect(QRect(option.rect.right(), option.rect.top() + 4, 1, option.rect.height() - 8),
                         line);
}

/// Of several choices one is taken.
bool isChoice(const QWidget* widget) {
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    return button && button->group() && button->group()->exclusive();
}

/// The one that is taken says so by its frame.
void paintTaken(QPainter& painter, const QStyleOption& option) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(option.palette.color(QPalette::Highlight), 1.5));
    painter.drawRoundedRect(QRectF(option.rect).adjusted(0.75, 0.75, -0.75, -0.75), 2, 2);
    painter.restore();
}

/// Draws with a copy of the option that has another palette; false: it is of another kind.
template <class Option, class Draw>
bool drawAs(const QStyleOption* option, const QPalette& palette, const Draw& draw) {
    const auto* typed = qstyleoption_cast<const Option*>(option);
    if (!typed)
        return false;
    Option copy(*typed);
    copy.palette = palette;
    copy.palette.setCurrentColorGroup(option->palette.currentColorGroup()); // each copy has its own
    draw(copy);
    return true;
}

/// "Go on": drawn in the link colour of the moment, at any resolution.
class Chevron : public QIconEngine {
public:
    void paint(QPainter* painter, const QRect& rect, QIcon::Mode, QIcon::State) override {
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(QPen(QGuiApplication::palette().color(QPalette::Link), rect.width() / 9.0,
                             Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const QPointF middle = QRectF(rect).center();
        const double reach = rect.width() / 4.5;
        painter->drawPolyline(QPolygonF({middle + QPointF(-reach / 2, -reach), middle + QPointF(reach / 2, 0),
                                         middle + QPointF(-reach / 2, reach)}));
        painter->restore();
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap picture(size);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return picture;
    }
    QIconEngine* clone() const override { return new Chevron(*this); }
};

} // namespace

WindowStyle::WindowStyle() : QProxyStyle("Fusion") {}

void WindowStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                const QWidget* widget) const {
    if (element == PE_IndicatorDockWidgetResizeHandle)
        return paintHandle(*painter, *option);
    if (element == PE_IndicatorTabClose)
        return paintCross(*painter, *option);
    const auto draw = [&](const auto& copy) { QProxyStyle::drawPrimitive(element, &copy, painter, widget); };
    if (element == PE_IndicatorCheckBox || element == PE_IndicatorRadioButton)
        if (drawAs<QStyleOptionButton>(option, framed(option->palette), draw))
            return;
    if (element == PE_FrameLineEdit || element == PE_PanelLineEdit)
        if (drawAs<QStyleOptionFrame>(option, framed(option->palette), draw))
            return;
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool isButton = element == PE_PanelButtonTool || element == PE_PanelButtonCommand;
    if (isButton && option->state & State_On && isChoice(widget))
        paintTaken(*painter, *option);
}

void WindowStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                     QPainter* painter, const QWidget* widget) const {
    const auto draw = [&](const auto& copy) {
        QProxyStyle::drawComplexControl(control, &copy, painter, widget);
    };
    if (control == CC_SpinBox && drawAs<QStyleOptionSpinBox>(option, framed(option->palette), draw))
        return;
    if (control == CC_ComboBox && drawAs<QStyleOptionComboBox>(option, framed(option->palette), draw))
        return;
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

/// The palette in which Fusion's frames of fields are seen: it has no colour of their own, but makes one from
/// the window's.
const QPalette& WindowStyle::framed(const QPalette& palette) const {
    // Fusion draws a part of a control by this style again, with the palette that it was given.
    if (m_framedKey == palette.cacheKey() || m_framed.cacheKey() == palette.cacheKey())
        return m_framed;
    m_framedKey = palette.cacheKey();
    m_framed = palette;
    for (const auto group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled}) {
        const QColor frame = mixed(palette.color(group, QPalette::Window),
                                   palette.color(group, QPalette::WindowText), kFrameShare);
        m_framed.setColor(group, QPalette::Window, frame.lighter(kFusionDarker));
    }
    return m_framed;
}

void WindowStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                              const QWidget* widget) const {
    if (element == CE_Splitter)
        return paintHandle(*painter, *option);
    if (element == CE_HeaderSection)
        if (const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option))
            return paintHeader(*painter, *header);
    if (element == CE_DockWidgetTitle) {
        const auto* dock = qstyleoption_cast<const QStyleOptionDockWidget*>(option);
        if (dock) {
            const QRect place =
                subElementRect(SE_DockWidgetTitleBarText, option, widget).adjusted(kTitlePadding, 0, 0, 0);
            painter->setPen(dock->palette.color(QPalette::PlaceholderText));
            painter->drawText(place, Qt::AlignVCenter | Qt::TextSingleLine,
                              dock->fontMetrics.elidedText(dock->title, Qt::ElideRight, place.width()));
            return;
        }
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

/// A chosen row keeps the colours of its swatches: they mean something.
QPixmap WindowStyle::generatedIconPixmap(QIcon::Mode mode, const QPixmap& pixmap,
                                         const QStyleOption* option) const {
    return mode == QIcon::Selected ? pixmap : QProxyStyle::generatedIconPixmap(mode, pixmap, option);
}

QIcon WindowStyle::standardIcon(StandardPixmap icon, const QStyleOption* option,
                                const QWidget* widget) const {
    return icon == SP_CommandLink ? QIcon(new Chevron) : QProxyStyle::standardIcon(icon, option, widget);
}

/// Fusion leaves a text that is longer than the narrowest button no air.
QSize WindowStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents,
                                    const QWidget* widget) const {
    const QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
    if (type != CT_PushButton)
        return size;
    return {std::max(size.width(), contents.width() + 2 * kButtonAir), size.height()};
}

int WindowStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
    switch (metric) {
    case PM_DockWidgetSeparatorExtent:
    case PM_SplitterWidth:
        return kHandle;
    case PM_HeaderMargin:
        return 5;
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

} // namespace workbench::gui
