#include "tests/app/gui/window/small_moe.h"
#include "tests/app/gui/window/storyboard.h"

namespace workbench::gui::test {
namespace {

constexpr int kOpenSeconds = 180;
constexpr int kVerifySeconds = 180;

class SmallMoeStoryboard : public Storyboard {};

TEST_F(SmallMoeStoryboard, OpenFindInspectDecideVerifyMeasureSaveAndComeBack) {
    std::filesystem::create_directory(folder() / "small-moe");
    writeFile("small-moe/config.json", kSmallMoe);
    play(QString::fromStdString((folder() / "small-moe").string()), kOpenSeconds, kVerifySeconds);
}

} // namespace
} // namespace workbench::gui::test
