#include "app/gui/measure/result_model.h"
#include "app/gui/measure/step_model.h"

#include <QtTest/QAbstractItemModelTester>

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

BenchProgram programOf(double speed) {
    return {{{10 * speed, speed, speed / 2}, {10 * speed, speed, speed / 2}, {10 * speed, speed, speed / 2}},
            {100, 1000 / speed, 1200 / speed, 1500 / speed, 2000 / speed}};
}

QString textAt(const QAbstractItemModel& model, int row, int column) {
    return model.index(row, column).data().toString();
}

TEST(ResultModel, ShowsSpreadsLatenciesAndVerdicts) {
    ResultModel model;
    const QAbstractItemModelTester tester(&model, Mode::Fatal);
    EXPECT_EQ(model.rowCount(), 0);
    BenchReport report;
    report.before = programOf(40);
    model.setReport(report);
    EXPECT_EQ(textAt(model, 1, ResultModel::before), "40.0 (40.0 to 40.0)");
    EXPECT_EQ(textAt(model, 1, ResultModel::after), "");
    report.after = programOf(50);
    model.setReport(report);
    EXPECT_EQ(textAt(model, 1, ResultModel::change), "1.25× (1.25 to 1.25), faster");
    EXPECT_EQ(textAt(model, 4, ResultModel::before), "25.0");
    EXPECT_EQ(textAt(model, 4, ResultModel::change), "0.80×");
    EXPECT_EQ(model.headerData(0, Qt::Vertical, Qt::DisplayRole).toString(), "Prompt, tokens/s");
    model.clear();
    EXPECT_EQ(model.rowCount(), 0);
}

TEST(StepModel, NamesWhatEachTryHadApplied) {
    StepModel model;
    const QAbstractItemModelTester tester(&model, Mode::Fatal);
    model.start({"qkv@a", "qkv@b", "rope@a"});
    model.add({{0, 1, 2}, true, "error 0.5"});
    model.add({{1}, false, "error 0"});
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(textAt(model, 0, StepModel::result), "wrong");
    EXPECT_EQ(textAt(model, 0, StepModel::count), "3");
    EXPECT_EQ(textAt(model, 0, StepModel::applied), "qkv@a … rope@a");
    EXPECT_EQ(textAt(model, 0, StepModel::found), "error 0.5");
    EXPECT_EQ(textAt(model, 1, StepModel::result), "fine");
    EXPECT_EQ(textAt(model, 1, StepModel::applied), "qkv@b");
    EXPECT_EQ(model.index(0, StepModel::applied).data(Qt::ToolTipRole).toString(), "qkv@a\nqkv@b\nrope@a");
    model.start({});
    EXPECT_EQ(model.rowCount(), 0);
}

} // namespace
} // namespace workbench::gui::test
