#include "app/gui/measure/operator_times.h"
#include "app/gui/measure/result_model.h"
#include "app/gui/measure/step_model.h"

#include <QtTest/QAbstractItemModelTester>

#include <gtest/gtest.h>

#include <limits>

namespace workbench::gui::test {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

BenchProgram programOf(double speed) {
    return {std::vector<BenchRound>(kFewestRounds, {10 * speed, speed, speed / 2}),
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
    EXPECT_EQ(textAt(model, 6, ResultModel::before), "25.0");
    EXPECT_EQ(textAt(model, 6, ResultModel::change), "0.80×");
    EXPECT_EQ(model.headerData(6, Qt::Vertical, Qt::DisplayRole).toString(), "Later token p50, ms");
    EXPECT_EQ(model.headerData(0, Qt::Vertical, Qt::DisplayRole).toString(), "Prompt, tokens/s");
    model.clear();
    EXPECT_EQ(model.rowCount(), 0);
}

TEST(ResultModel, ShowsHandWrittenCodeBesideTheOthersWhereThereIsSome) {
    ResultModel model;
    const QAbstractItemModelTester tester(&model, Mode::Fatal);
    BenchReport report;
    report.before = programOf(40);
    report.after = programOf(50);
    model.setReport(report);
    EXPECT_EQ(model.columnCount(), 3);
    report.native = programOf(100);
    model.setReport(report);
    ASSERT_EQ(model.columnCount(), 5);
    EXPECT_EQ(model.headerData(3, Qt::Horizontal, Qt::DisplayRole).toString(), "Hand-written");
    EXPECT_EQ(textAt(model, 1, ResultModel::native), "100.0 (100.0 to 100.0)");
    EXPECT_EQ(textAt(model, 1, ResultModel::againstNative), "0.50× (0.50 to 0.50), slower");
    EXPECT_EQ(textAt(model, 6, ResultModel::againstNative), "2.00×");
}

TEST(ResultModel, ShowsTransformersAlsoWithoutHandWrittenCode) {
    ResultModel model;
    const QAbstractItemModelTester tester(&model, Mode::Fatal);
    BenchReport report;
    report.before = programOf(40);
    report.after = programOf(50);
    report.eager = programOf(20);
    model.setReport(report);
    ASSERT_EQ(model.columnCount(), 5);
    EXPECT_EQ(model.headerData(3, Qt::Horizontal, Qt::DisplayRole).toString(), "Transformers");
    EXPECT_EQ(textAt(model, 1, 3), "20.0 (20.0 to 20.0)");
    EXPECT_EQ(textAt(model, 1, 4), "2.50× (2.50 to 2.50), faster");
    report.native = programOf(100);
    model.setReport(report);
    EXPECT_EQ(model.columnCount(), 7);
    EXPECT_EQ(textAt(model, 1, 5), "20.0 (20.0 to 20.0)");
}

TEST(ResultModel, ALoadWithoutLaterTokensHasNone) {
    ResultModel model;
    BenchReport report;
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    report.before = report.after = {{{300, 0, 1}, {300, 0, 1}}, {900, kNone, kNone, kNone, kNone, 900, 900}};
    model.setReport(report);
    EXPECT_EQ(textAt(model, 0, ResultModel::before), "300.0 (300.0 to 300.0)");
    EXPECT_EQ(textAt(model, 1, ResultModel::before), "none");
    EXPECT_EQ(textAt(model, 1, ResultModel::change), "");
    EXPECT_EQ(textAt(model, 6, ResultModel::after), "none");
    EXPECT_EQ(textAt(model, 6, ResultModel::change), "");
}

/// 4 steps of 10 ms: 6 ms in the products, 2 ms in attention, 1 ms outside of the model.
nlohmann::json someProfile() {
    return nlohmann::json::parse(R"({
        "after": {"steps": 4, "step_s": 0.040, "model_s": 0.036,
                  "kernels": {"products": 0.024, "attention": 0.008},
                  "families": {"products": 0.024, "attention": 0.008, "views": 0.004}},
        "native": {"steps": 4, "step_s": 0.036, "model_s": 0.036, "kernels": {"products": 0.030}}})");
}

TEST(OperatorTimesModel, TellsWhereTheTimeOfAStepGoesTheLongestFirst) {
    OperatorTimesModel model;
    const QAbstractItemModelTester tester(&model, Mode::Fatal);
    model.setTimes(operatorTimes(someProfile()));
    ASSERT_EQ(model.columnCount(), 2);
    EXPECT_EQ(model.headerData(0, Qt::Horizontal, Qt::DisplayRole).toString(), "After");
    EXPECT_EQ(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), "Hand-written");
    QStringList rows;
    for (int row = 0; row < model.rowCount(); ++row)
        rows << model.headerData(row, Qt::Vertical, Qt::DisplayRole).toString() + ": " +
                    textAt(model, row, 0) + " | " + textAt(model, row, 1);
    EXPECT_EQ(rows, (QStringList{"Whole step: 10.000 ms | 9.000 ms", "products: 6.000 ms | 7.500 ms",
                                 "attention: 2.000 ms | ", "views: 1.000 ms | ",
                                 "Outside of the model: 1.000 ms | 0.000 ms",
                                 "Outside of our kernels: 2.000 ms | 1.500 ms"}))
        << rows.join('\n').toStdString();
    model.setTimes({});
    EXPECT_EQ(model.rowCount(), 0);
}

TEST(OperatorTimesModel, SaysNothingOfKernelsThatNoClockOfTheHostSees) {
    OperatorTimesModel model;
    model.setTimes(operatorTimes(
        nlohmann::json::parse(R"({"after": {"steps": 4, "step_s": 0.040, "model_s": 0.036}})")));
    ASSERT_EQ(model.rowCount(), 3);
    EXPECT_EQ(textAt(model, 0, 0), "10.000 ms");
    EXPECT_EQ(textAt(model, 1, 0), "1.000 ms");
    EXPECT_EQ(textAt(model, 2, 0), "");
}

TEST(OperatorTimes, WhatAnotherVersionsWorkerSaysIsLeftOutWhereItMakesNoSense) {
    for (const char* text :
         {"null", "3", "[]", "{}", R"({"after": 3})", R"({"after": {"steps": "many", "step_s": 1}})",
          R"({"after": {"steps": 0, "step_s": 1}})", R"({"after": {"steps": 3, "step_s": -1}})"})
        EXPECT_TRUE(operatorTimes(nlohmann::json::parse(text)).empty()) << text;
    const auto times = operatorTimes(nlohmann::json::parse(
        R"({"after": {"steps": 2, "step_s": 2, "kernels": [], "families": {"products": "x", "norms": 1}}})"));
    ASSERT_EQ(times.size(), 1U);
    EXPECT_EQ(times[0].families, (std::map<QString, double>{{"norms", 500.0}}));
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
