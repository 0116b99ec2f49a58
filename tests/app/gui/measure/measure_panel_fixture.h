#pragma once

#include "app/gui/measure/measure_panel.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/app/session/norm_model.h"
#include "tests/support/temporary_folder.h"

#include <QtTest/QTest>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QTableView>

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench::gui::test {

// What the fake worker does at that many new tokens.
inline constexpr int kDies = 13;
inline constexpr int kGoesOnUntilStopped = 14;

class MeasurePanelTest : public testing::Test {
protected:
    MeasurePanelTest() { open({"a", "b"}); }

    void open(const std::vector<std::string>& norms) {
        m_panel.reset();
        m_document = std::make_unique<Document>(Locations{});
        m_document->openSession(workbench::test::fusedNormSession(norms));
        EXPECT_TRUE(waitFor([this] { return m_document->state() == Document::State::ready; }));
        m_panel = std::make_unique<MeasurePanel>(*m_document, m_selection, nullptr);
        m_panel->resize(1000, 640);
        m_panel->show();
        child<QComboBox>("worker").setCurrentText(WORKBENCH_FAKE_WORKER);
        setLoad(4, 6);
    }
    template <class T>
    T& child(const char* name) {
        T* found = m_panel->findChild<T*>(name);
        EXPECT_NE(found, nullptr) << name;
        return *found;
    }
    void setLoad(int newTokens, int rounds) {
        child<QSpinBox>("promptTokens").setValue(8);
        child<QSpinBox>("newTokens").setValue(newTokens);
        child<QSpinBox>("rounds").setValue(rounds);
    }
    void click(const char* name) { QTest::mouseClick(&child<QPushButton>(name), Qt::LeftButton); }
    void measureToTheEnd() {
        click("start");
        EXPECT_TRUE(m_panel->running());
        EXPECT_TRUE(waitFor([this] { return !m_panel->running(); }));
    }
    QString text(const char* label) { return child<QLabel>(label).text(); }
    QString figure(int row, int column) {
        return child<QTableView>("figures").model()->index(row, column).data().toString();
    }
    std::size_t siteIndex(const std::string& id) {
        const auto& sites = m_document->analysis().sites;
        const auto found =
            std::find_if(sites.begin(), sites.end(), [&](const Site& site) { return site.id == id; });
        EXPECT_NE(found, sites.end()) << id;
        return static_cast<std::size_t>(found - sites.begin());
    }
    int roundsShown() { return figure(1, 1).isEmpty() ? 0 : 1; }

    Selection m_selection;
    std::unique_ptr<Document> m_document;
    std::unique_ptr<MeasurePanel> m_panel;
    TemporaryDirectory m_folder;
};

} // namespace workbench::gui::test
