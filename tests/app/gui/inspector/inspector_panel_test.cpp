#include "app/gui/inspector/code_view.h"
#include "app/gui/inspector/inspector_panel.h"
#include "app/gui/inspector/section.h"
#include "app/gui/inspector/text_block.h"
#include "core/support/sha256.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/support/temporary_folder.h"

#include <QtGui/QTextBlock>
#include <QtTest/QTest>
#include <QtWidgets/QToolButton>

#include <gtest/gtest.h>

#include <fstream>

namespace workbench::gui::test {
namespace {

class Inspecting : public testing::Test {
protected:
    void open(Session session) {
        m_document.openSession(std::move(session));
        ASSERT_TRUE(waitFor([&] { return m_document.state() == Document::State::ready; }));
        m_panel = std::make_unique<InspectorPanel>(m_document, m_selection, nullptr);
        m_panel->resize(420, 900);
        m_panel->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(m_panel.get()));
    }
    void SetUp() override { open(smallSession(4)); }

    /// All text of the page, as a reader sees it.
    QString shown() const {
        QString text;
        for (const QTextBrowser* block : m_panel->findChildren<QTextBrowser*>())
            text += block->toPlainText() + "\n";
        for (const QToolButton* head : m_panel->findChildren<QToolButton*>())
            text += head->text() + "\n";
        return text;
    }
    bool comesToShow(const QString& text) const {
        return waitFor([&] { return shown().contains(text); });
    }
    NodeId nodeOf(const std::string& value) const {
        for (const Value& one : m_document.graph().values)
            if (one.name == value)
                return one.producer;
        ADD_FAILURE() << "no value " << value;
        return kNone;
    }
    std::size_t siteOf(const std::string& id) const {
        const auto& sites = m_document.analysis().sites;
        for (std::size_t i = 0; i < sites.size(); ++i)
            if (sites[i].id == id)
                return i;
        ADD_FAILURE() << "no site " << id;
        return 0;
    }
    /// The page of that title takes the place of another one.
    bool comesToShowPage(const QString& title) const {
        QString shown;
        const bool came = waitFor([&] {
            const auto* head = m_panel->findChild<TextBlock*>("title");
            shown = head ? head->toPlainText() : QString();
            return shown.startsWith(title); // what kind of thing it is follows
        });
        EXPECT_TRUE(came) << "it shows " << shown.toStdString();
        return came;
    }
    void selectNode(const std::string& value) {
        const NodeId node = nodeOf(value);
        m_selection.selectNode(node, std::string(m_document.graph().modulePath(node)));
        ASSERT_TRUE(comesToShowPage(QString::fromStdString(value)));
    }
    void selectSite(const std::string& id) {
        const Site& site = m_document.analysis().sites[siteOf(id)];
        m_selection.selectSite(siteOf(id), site.module);
        ASSERT_TRUE(comesToShowPage(QString::fromStdString(site.pattern)));
    }
    /// Follows the first link with exactly that text.
    void followLink(const QString& text) {
        for (QTextBrowser* browser : m_panel->findChildren<QTextBrowser*>())
            for (QTextBlock block = browser->document()->begin(); block.isValid(); block = block.next())
                for (auto part = block.begin(); !part.atEnd(); ++part)
                    if (part.fragment().charFormat().isAnchor() && part.fragment().text() == text) {
                        Q_EMIT browser->anchorClicked(QUrl(part.fragment().charFormat().anchorHref()));
                        return;
                    }
        ADD_FAILURE() << "no link " << text.toStdString();
    }

    Document m_document{Locations::find()};
    Selection m_selection;
    std::unique_ptr<InspectorPanel> m_panel;
};

TEST_F(Inspecting, NothingChosenShowsTheModel) {
    EXPECT_TRUE(comesToShow("SmallModel"));
    EXPECT_TRUE(shown().contains("layers"));
    EXPECT_TRUE(shown().contains("4 applicable")) << shown().toStdString();
}

TEST_F(Inspecting, ANodeShowsWhatItReadsMakesAndIs) {
    selectNode("q_1");
    const QString text = shown();
    EXPECT_TRUE(text.contains("layers.1.self_attn.q_proj.weight")) << text.toStdString();
    EXPECT_TRUE(text.contains("f32[48, 32]"));
    EXPECT_TRUE(text.contains("6.0 KiB")) << text.toStdString();
    EXPECT_TRUE(text.contains("qkv@layers.1.self_attn"));
    EXPECT_TRUE(text.contains("modeling_small.py"));
}

TEST_F(Inspecting, LinksLeadToProducersModulesAndSites) {
    selectNode("q_1");
    ASSERT_TRUE(comesToShow("ni_1"));
    followLink("ni_1");
    EXPECT_EQ(m_selection.node(), nodeOf("ni_1"));
    ASSERT_TRUE(comesToShowPage("ni_1"));
    followLink("input_layernorm");
    EXPECT_EQ(m_selection.module(), "layers.1.input_layernorm");
    EXPECT_EQ(m_selection.node(), kNone);
    ASSERT_TRUE(comesToShowPage("input_layernorm"));
    followLink("rms-norm@layers.1.input_layernorm");
    EXPECT_EQ(m_selection.site(), siteOf("rms-norm@layers.1.input_layernorm"));
}

TEST_F(Inspecting, WithoutWeightsItSaysSo) {
    selectNode("q_1");
    EXPECT_TRUE(comesToShow("no weights"));
}

TEST_F(Inspecting, AModuleShowsCountsAndParameters) {
    m_selection.selectModule("layers.2.mlp");
    ASSERT_TRUE(comesToShow("SmallMLP"));
    EXPECT_TRUE(shown().contains("gate_proj.weight"));
    EXPECT_TRUE(shown().contains("9,216 parameters") || shown().contains("9216 parameters"))
        << shown().toStdString();
}

TEST_F(Inspecting, AMeasuredModuleSaysItsTime) {
    NodeTimes times{m_document.session().model().fingerprint, {}, {}, {}};
    for (const Node& node :
         m_document.graph().nodes) // half a millisecond each, all of it saved but one node's
        times.before[m_document.graph().value(node.outputs[0]).name] = 0.5;
    times.after = {*times.before.begin()};
    m_document.setNodeTimes(times, m_document.session().decisions());
    m_selection.selectModule("");
    const double all = 0.5 * static_cast<double>(m_document.graph().nodes.size());
    EXPECT_TRUE(comesToShow(
        QString("measured: %L1 ms of a step before the rewrites, 0.500 ms after").arg(all, 0, 'f', 3)))
        << shown().toStdString();
}

TEST_F(Inspecting, ASiteShowsEachConditionWithWhatWasFound) {
    selectSite("qkv@layers.0.self_attn");
    ASSERT_TRUE(comesToShow("each weight is used once"));
    const QString text = shown();
    EXPECT_TRUE(text.contains("[q | k | v] = x [Wq; Wk; Wv]^T + [bq; bk; bv]"));
    EXPECT_TRUE(text.contains("parameter layers.0.self_attn.q_proj.weight is used once"))
        << text.toStdString();
    EXPECT_TRUE(text.contains("cat(0, layers.0.self_attn.q_proj.weight"));
    EXPECT_TRUE(comesToShow("launches less"));
    EXPECT_TRUE(text.contains("Not compared with the original yet"));
}

TEST_F(Inspecting, ANearMissShowsTheConditionThatFailedWithALinkToItsNode) {
    selectSite("gate-up@layers.3.mlp");
    ASSERT_TRUE(comesToShow("an activation with a kernel"));
    const auto* miss = m_panel->findChild<TextBlock*>("miss");
    ASSERT_NE(miss, nullptr);
    EXPECT_TRUE(miss->toPlainText().contains("aten.mish"));
    followLink("act_3");
    EXPECT_EQ(m_selection.node(), nodeOf("act_3"));
}

TEST_F(Inspecting, DecidesTheSiteThatIsShown) {
    selectSite("qkv@layers.0.self_attn");
    ASSERT_TRUE(comesToShow("each weight is used once"));
    QTest::mouseClick(m_panel->findChild<QToolButton*>("apply"), Qt::LeftButton);
    EXPECT_EQ(m_document.decision(siteOf("qkv@layers.0.self_attn")), Decision::apply);
    EXPECT_TRUE(comesToShow("applied"));
    QTest::mouseClick(m_panel->findChild<QToolButton*>("reject"), Qt::LeftButton);
    EXPECT_TRUE(comesToShow("rejected"));
}

TEST_F(Inspecting, AContainedSiteNamesAndLinksTheOther) {
    m_document.apply({siteOf("add-rms-norm@layers.0.post_attention_layernorm")}, Decision::apply, "apply");
    settle(m_document);
    selectSite("rms-norm@layers.0.post_attention_layernorm");
    ASSERT_TRUE(comesToShow("does its work too"));
    followLink("add-rms-norm@layers.0.post_attention_layernorm");
    EXPECT_EQ(m_selection.site(), siteOf("add-rms-norm@layers.0.post_attention_layernorm"));
}

TEST_F(Inspecting, AFoldedSectionStaysFolded) {
    selectNode("q_1");
    m_panel->findChild<Section*>("inputs")->setOpen(false);
    selectNode("k_1");
    EXPECT_FALSE(m_panel->findChild<Section*>("inputs")->isOpen());
    QSettings settings("fusion-workbench-test", "inspector");
    m_panel->saveState(settings);
    InspectorPanel again(m_document, m_selection, nullptr);
    again.restoreState(settings);
    again.show();
    ASSERT_TRUE(waitFor([&] {
        const auto* section = again.findChild<Section*>("inputs");
        return section && !section->isOpen();
    }));
    settings.clear();
}

TEST_F(Inspecting, ANarrowPanelCutsNothing) {
    m_panel->resize(260, 700);
    selectSite("qkv@layers.0.self_attn");
    ASSERT_TRUE(comesToShow("each weight is used once"));
    QTest::qWait(50);
    for (const QTextBrowser* block : m_panel->findChildren<QTextBrowser*>())
        EXPECT_GE(block->height() + 1, int(block->document()->size().height()))
            << block->toPlainText().toStdString();
}

class InspectingSource : public Inspecting {
protected:
    void SetUp() override {
        std::string text;
        for (int line = 1; line <= 80; ++line)
            text += "line_" + std::to_string(line) + " = " + std::to_string(line) + "\n";
        const auto file = m_folder.path() / "modeling_small.py";
        std::ofstream(file) << text;
        auto model = std::make_shared<TracedModel>(*smallModel(2));
        for (SourceStack& stack : model->canonical.sources)
            for (SourceFrame& frame : stack)
                frame.file = file.string();
        model->sources = {{file.string(), sha256Hex(text)}};
        open(Session::of(std::move(model), {}, Locations::find()));
    }
    TemporaryDirectory m_folder;
};

TEST_F(InspectingSource, MarksTheLineThatMadeTheNode) {
    selectNode("q_1");
    ASSERT_TRUE(waitFor([&] { return m_panel->findChild<CodeView*>("code") != nullptr; }));
    const auto* code = m_panel->findChild<CodeView*>("code");
    EXPECT_EQ(code->markedLine(), 40);
    EXPECT_TRUE(code->textCursor().block().text().startsWith("line_40"));
    EXPECT_TRUE(code->toPlainText().contains("line_80"));
}

TEST_F(InspectingSource, AFileThatWasChangedIsNotShown) {
    std::ofstream(m_folder.path() / "modeling_small.py") << "other\n";
    selectNode("q_1");
    EXPECT_TRUE(comesToShow("changed since the model was traced"));
    EXPECT_EQ(m_panel->findChild<CodeView*>("code"), nullptr);
}

} // namespace
} // namespace workbench::gui::test
