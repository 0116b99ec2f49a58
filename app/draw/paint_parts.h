#pragma once

#include "app/draw/paint.h"

namespace workbench {

/// One frame: what to paint and how much of it can be read.
class Painting {
public:
    Painting(QPainter& painter, const Scene& scene, const PaintOptions& options);

    void containers();
    void edges();
    void boxes();
    void containerTitles();
    void outline();
    void hovered(); ///< the edge alone

private:
    struct Look { ///< of one box
        QColor fill, border;
        double borderWidth = 1;
        Qt::PenStyle style = Qt::SolidLine;
    };

    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
    bool isVisible(const QRectF& rect) const;
    Highlight highlightOf(std::size_t box) const;
    QColor colourOf(Highlight highlight) const;
    bool isDimmed(std::size_t box) const;
    double pixels(double size) const { return size * m_options.scale; } ///< on the screen

    Look lookOf(std::size_t box) const;
    const BoxMark* strongestMark(std::size_t box) const;
    void applyMark(Look& look, const BoxMark& mark) const;
    void box(std::size_t index);
    void shape(const QRectF& rect, const Box& box, const Look& look);
    void stack(const QRectF& rect, const Box& box, const Look& look);
    void connector(std::size_t index);
    void strip(const QRectF& rect, const BoxMark& mark);
    void bar(const QRectF& rect, std::size_t index);
    void texts(const QRectF& rect, std::size_t index, const QColor& fill);
    void largeTitle(const QRectF& rect, std::size_t index, const QColor& fill);
    void badgeOf(const QRectF& rect, const Box& box, const QColor& fill);
    void total(const QRectF& rect, std::size_t index);
    void highlight(const QRectF& rect, std::size_t index);
    void edge(std::size_t index);
    void edgeLabel(std::size_t index);
    bool isEdgeDimmed(std::size_t index) const;
    void containerTitle(std::size_t index);
    void farTitle(std::size_t index);
    void chooseFarTitles();

    QPainter& m_painter;
    const Scene& m_scene;
    const PaintOptions& m_options;
    const Theme& m_theme;
    QRectF m_visible;
    bool m_showsTexts = true;      ///< subtitles, details, edge labels
    bool m_isFine = true;          ///< rounded corners and smooth lines
    std::vector<char> m_farTitles; ///< opened boxes that say their name in large letters
};

} // namespace workbench
