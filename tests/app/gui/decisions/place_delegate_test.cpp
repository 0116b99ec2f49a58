#include "app/gui/decisions/place_delegate.h"

#include <QtWidgets/QApplication>

#include <gtest/gtest.h>

namespace workbench::gui {
namespace {

const QString kLong = "model.layers.10.post_attention_layernorm";

class ShortPlace : public testing::Test {
protected:
    QFontMetrics m_metrics{QApplication::font()};

    int widthOf(const QString& text) const { return m_metrics.horizontalAdvance(text); }
    QString at(int width, const QString& path = kLong) const { return shortPlace(path, m_metrics, width); }
};

TEST_F(ShortPlace, IsWholeWhereThereIsRoom) {
    EXPECT_EQ(at(widthOf(kLong)), kLong);
}

TEST_F(ShortPlace, KeepsTheLayerAtEveryWidth) {
    for (const int percent : {90, 70, 60, 50, 40, 30}) {
        const int width = widthOf(kLong) * percent / 100;
        EXPECT_TRUE(at(width).contains("10")) << percent << ": " << at(width).toStdString();
        EXPECT_LE(widthOf(at(width)), width) << at(width).toStdString();
    }
}

TEST_F(ShortPlace, CutsWhatStandsBeforeTheLayerFirst) {
    const QString text = at(widthOf("…10.post_attention_layernorm") + 1);
    EXPECT_TRUE(text.endsWith("10.post_attention_layernorm")) << text.toStdString();
    EXPECT_TRUE(at(widthOf(kLong) / 2).startsWith("…10.")) << at(widthOf(kLong) / 2).toStdString();
}

TEST_F(ShortPlace, OfAPathWithoutALayerIsItsEnd) {
    const QString text = at(60, "model.language_model.norm");
    EXPECT_TRUE(text.endsWith("norm")) << text.toStdString();
}

} // namespace
} // namespace workbench::gui
