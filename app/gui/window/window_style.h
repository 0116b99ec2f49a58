#pragma once

#include <QtWidgets/QProxyStyle>

namespace workbench::gui {

/// Qt's Fusion style with quiet borders: thin lines between the docks instead of grips, flat titles and
/// headers, a cross that is no alarm. Colours come from the palette alone, so that light and dark follow it.
class WindowStyle : public QProxyStyle {
    Q_OBJECT
public:
    WindowStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    QPixmap generatedIconPixmap(QIcon::Mode mode, const QPixmap& pixmap,
                                const QStyleOption* option) const override;
    QIcon standardIcon(StandardPixmap icon, const QStyleOption* option, const QWidget* widget) const override;
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents,
                           const QWidget* widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;

private:
    const QPalette& framed(const QPalette& palette) const;

    // The last one that was asked for: Fusion keeps pictures of controls by palette.
    mutable qint64 m_framedKey = 0;
    mutable QPalette m_framed;
};

} // namespace workbench::gui
