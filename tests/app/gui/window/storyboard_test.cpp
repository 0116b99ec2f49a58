#include "tests/app/gui/window/storyboard.h"

namespace workbench::gui::test {
namespace {

constexpr int kOpenSeconds = 600;
constexpr int kVerifySeconds = 1200;

/// On a real model, where WORKBENCH_TEST_MODEL names one.
class RealModelStoryboard : public Storyboard {};

TEST_F(RealModelStoryboard, OpenFindInspectDecideVerifyMeasureSaveAndComeBack) {
    const QByteArray model = qgetenv("WORKBENCH_TEST_MODEL");
    if (model.isEmpty())
        GTEST_SKIP() << "WORKBENCH_TEST_MODEL names no model";
    play(QString::fromLocal8Bit(model), kOpenSeconds, kVerifySeconds);
}

} // namespace
} // namespace workbench::gui::test
