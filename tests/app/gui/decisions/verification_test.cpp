#include "app/gui/decisions/decisions_panel.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/app/session/norm_model.h"

#include <QtTest/QTest>
#include <QtWidgets/QLabel>
#include <QtWidgets/QToolButton>

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench::gui::test {
namespace {

/// What the panel says of a model that the fake worker runs.
QString verified(const QString& weights) {
    Document document{Locations{}};
    document.openSession(workbench::test::fusedNormSession({"a", "b"}));
    EXPECT_TRUE(waitFor([&] { return document.state() == Document::State::ready; }));
    document.setWorker(WORKBENCH_FAKE_WORKER);
    document.setWeights(weights);
    Selection selection;
    DecisionsPanel panel(document, selection, nullptr);
    panel.resize(1100, 500);
    panel.show();
    QTest::mouseClick(panel.findChild<QToolButton*>("verify"), Qt::LeftButton, {}, QPoint(10, 10));
    EXPECT_TRUE(document.busy());
    EXPECT_TRUE(waitFor([&] { return !document.busy(); }));
    int proofs = 0;
    for (std::size_t site = 0; site < document.analysis().sites.size(); ++site)
        proofs += document.proof(site) != nullptr;
    EXPECT_EQ(proofs, weights == "stored" ? 2 : 0);
    return panel.findChild<QLabel*>("result")->text();
}

TEST(Verification, SaysWhatWasProvenAndNothingOfWeightsThatAreAsStored) {
    const QString text = verified("stored");
    EXPECT_TRUE(text.startsWith("2 of 2 sites reproduce the original")) << text.toStdString();
    EXPECT_FALSE(text.contains("against those as stored")) << text.toStdString();
}

TEST(Verification, SaysWhyTheCostOfFewerBitsIsNotKnown) {
    const QString text = verified("int8"); // that worker has no memory for a third program
    EXPECT_TRUE(text.startsWith("2 of 2 sites reproduce the original")) << text.toStdString();
    EXPECT_TRUE(text.endsWith("Weights in int8 against those as stored: not known, no memory to run truth. "
                              "The plan keeps no proof on such weights."))
        << text.toStdString();
}

TEST(Verification, CountsTheDecisionOfAMomentAgo) {
    Document document{Locations{}};
    document.openSession(workbench::test::normSession({"a", "b"}));
    ASSERT_TRUE(waitFor([&] { return document.state() == Document::State::ready; }));
    document.setWorker(WORKBENCH_FAKE_WORKER);
    Selection selection;
    DecisionsPanel panel(document, selection, nullptr);
    panel.show();
    const std::vector<Site>& sites = document.analysis().sites;
    const auto one = std::find_if(sites.begin(), sites.end(),
                                  [](const Site& site) { return site.verdict == SiteVerdict::applicable; });
    document.apply({static_cast<std::size_t>(one - sites.begin())}, Decision::apply, "apply one");
    ASSERT_FALSE(document.rewrittenIsCurrent());
    QTest::mouseClick(panel.findChild<QToolButton*>("verify"), Qt::LeftButton, {}, QPoint(10, 10));
    const auto* result = panel.findChild<QLabel*>("result");
    EXPECT_TRUE(waitFor([&] { return result->text().startsWith("1 of 1 sites reproduce"); }))
        << result->text().toStdString();
}

} // namespace
} // namespace workbench::gui::test
