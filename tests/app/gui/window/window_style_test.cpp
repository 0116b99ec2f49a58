#include "app/draw/theme.h"
#include "app/gui/window/appearance.h"

#include <QtWidgets/QApplication>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QStyle>
#include <QtWidgets/QStyleOptionButton>

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench::gui {
namespace {

/// Light and dark.
class Frames : public testing::TestWithParam<bool> {
protected:
    Frames() { m_appearance.show(GetParam()); }

    /// Contrast of a control's left edge against the window, at half its height.
    static double edge(QWidget& control, const QRect& part) {
        control.resize(control.sizeHint());
        const QImage image = control.grab().toImage();
        const QColor window = QApplication::palette().color(QPalette::Window);
        double most = 1;
        for (int x = part.left(); x < part.left() + 3; ++x)
            most = std::max(most, contrast(image.pixelColor(x, part.center().y()), window));
        return most;
    }
    static double edge(QWidget& control) {
        control.resize(control.sizeHint());
        return edge(control, control.rect());
    }

    Appearance m_appearance;
};

TEST_P(Frames, OfFieldsAreSeenAgainstTheWindow) {
    QLineEdit field;
    QSpinBox number;
    QComboBox choice;
    QComboBox editable;
    editable.setEditable(true);
    for (QWidget* control : std::initializer_list<QWidget*>{&field, &number, &choice, &editable}) {
        EXPECT_GE(edge(*control), 3.0) << control->metaObject()->className();
        EXPECT_LE(edge(*control), 7.0) << control->metaObject()->className() << ", framed twice";
    }
}

TEST_P(Frames, OfBoxesThatAreNotCheckedAreSeenToo) {
    QCheckBox box("text");
    QStyleOptionButton option;
    option.initFrom(&box);
    option.rect = QRect(QPoint(), box.sizeHint());
    EXPECT_GE(edge(box, box.style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, &box)), 2.5);
}

INSTANTIATE_TEST_SUITE_P(Appearance, Frames, testing::Bool(),
                         [](const auto& info) { return info.param ? "Dark" : "Light"; });

} // namespace
} // namespace workbench::gui
