#include "app/gui/decisions/sites_filter.h"
#include "tests/app/gui/support/small_model.h"

#include <QtTest/QAbstractItemModelTester>
#include <QtTest/QSignalSpy>

#include <gtest/gtest.h>

#include <limits>

namespace workbench::gui::test {
namespace {

class Sites : public testing::Test {
protected:
    void SetUp() override {
        openSmallModel(m_document);
        m_model = std::make_unique<SitesModel>(m_document, nullptr);
        m_filter = std::make_unique<SitesFilter>(*m_model, nullptr);
        m_modelTester = std::make_unique<QAbstractItemModelTester>(
            m_model.get(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        m_filterTester = std::make_unique<QAbstractItemModelTester>(
            m_filter.get(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    }
    int rowOf(const std::string& id) const {
        for (int row = 0; row < m_model->rowCount(); ++row)
            if (m_model->site(row).id == id)
                return row;
        ADD_FAILURE() << "no site " << id;
        return 0;
    }
    QString shown(int row, int column) const { return m_model->index(row, column).data().toString(); }
    QStringList places() const {
        QStringList list;
        for (int row = 0; row < m_filter->rowCount(); ++row)
            list << m_filter->index(row, SitesModel::kPlace).data().toString();
        return list;
    }

    Document m_document{Locations::find()};
    std::unique_ptr<SitesModel> m_model;
    std::unique_ptr<SitesFilter> m_filter;
    std::unique_ptr<QAbstractItemModelTester> m_modelTester, m_filterTester;
};

TEST_F(Sites, EverySiteIsARow) {
    EXPECT_EQ(m_model->rowCount(), int(m_document.analysis().sites.size()));
    const int qkv = rowOf("qkv@layers.0.self_attn");
    EXPECT_EQ(shown(qkv, SitesModel::kPattern), "qkv");
    EXPECT_EQ(shown(qkv, SitesModel::kPlace), "layers.0.self_attn");
    EXPECT_EQ(shown(qkv, SitesModel::kState), "applicable");
    const int refused = rowOf("gate-up@layers.3.mlp");
    EXPECT_EQ(shown(refused, SitesModel::kState), "refused");
    EXPECT_TRUE(shown(refused, SitesModel::kReason).startsWith("expected an activation with a kernel"));
    EXPECT_FALSE(m_model->flags(m_model->index(refused, 0)) & Qt::ItemIsUserCheckable);
}

TEST_F(Sites, CheckingARowApplies) {
    const int row = rowOf("qkv@layers.0.self_attn");
    const QModelIndex index = m_model->index(row, SitesModel::kPattern);
    EXPECT_EQ(index.data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
    QSignalSpy changed(m_model.get(), &QAbstractItemModel::dataChanged);
    EXPECT_TRUE(m_model->setData(index, Qt::Checked, Qt::CheckStateRole));
    EXPECT_EQ(m_document.decision(std::size_t(row)), Decision::apply);
    EXPECT_EQ(index.data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
    settle(m_document);
    EXPECT_EQ(shown(row, SitesModel::kState), "applied");
    EXPECT_GE(changed.count(), 1);
    EXPECT_TRUE(m_model->setData(index, Qt::Unchecked, Qt::CheckStateRole));
    EXPECT_EQ(m_document.decision(std::size_t(row)), Decision::undecided);
    EXPECT_EQ(m_document.undoText(), "take back qkv@layers.0.self_attn");
}

TEST_F(Sites, ARefusedRowCannotBeChecked) {
    EXPECT_FALSE(
        m_model->setData(m_model->index(rowOf("gate-up@layers.3.mlp"), 0), Qt::Checked, Qt::CheckStateRole));
    EXPECT_FALSE(m_document.canUndo());
}

TEST_F(Sites, AContainedSiteNamesTheOther) {
    const int inner = rowOf("rms-norm@layers.0.post_attention_layernorm");
    const int outer = rowOf("add-rms-norm@layers.0.post_attention_layernorm");
    m_document.apply({std::size_t(outer)}, Decision::apply, "apply");
    settle(m_document);
    EXPECT_EQ(shown(inner, SitesModel::kState), "contained");
    EXPECT_EQ(shown(inner, SitesModel::kReason), "inside add-rms-norm@layers.0.post_attention_layernorm");
    EXPECT_EQ(m_model->other(inner), std::size_t(outer));
    EXPECT_FALSE(m_model->other(outer).has_value());
}

TEST_F(Sites, ShowsWhatWasEstimatedMeasuredAndProven) {
    const int row = rowOf("qkv@layers.0.self_attn");
    EXPECT_EQ(shown(row, SitesModel::kBytes), "");
    m_model->setEstimates(estimateGains(m_document.graph(), m_document.analysis(), 10), 10);
    EXPECT_EQ(shown(row, SitesModel::kBytes), "2.5 KiB");
    m_document.setMeasured({{"qkv@layers.0.self_attn", {2.61, 1.9, 3.2}}});
    EXPECT_EQ(shown(row, SitesModel::kGain), "+2.6 %");
    EXPECT_EQ(shown(row, SitesModel::kError), "");
    bool done = false;
    m_document.run<int>(
        &m_document, "prove",
        [](Session& session, Runtime&, const Job&) -> Result<int> {
            session.setProofs(
                {{"qkv@layers.0.self_attn", PlanProof{"weights", "f32", 0, 3.1e-7, 1e-5, 24, true}},
                 {"qkv@layers.1.self_attn", PlanProof{"weights", "f32", 1, 0.2, 1e-5, 24, false}}},
                {}, "");
            return 1;
        },
        [&](Result<int>) { done = true; });
    ASSERT_TRUE(waitFor([&] { return done; }));
    EXPECT_EQ(shown(row, SitesModel::kError), QString::fromUtf8("\u2713 3.1e-07"));
    const int bad = rowOf("qkv@layers.1.self_attn");
    EXPECT_EQ(shown(bad, SitesModel::kError), QString::fromUtf8("\u2717 2.0e-01"));
    EXPECT_NE(m_model->index(bad, SitesModel::kError).data(Qt::ForegroundRole),
              m_model->index(row, SitesModel::kError).data(Qt::ForegroundRole));
}

TEST_F(Sites, FiltersByWordsVerdictsAndLayers) {
    m_filter->setText("QKV layers.2");
    EXPECT_EQ(places(), QStringList{"layers.2.self_attn"});
    m_filter->setText("");
    m_filter->setLayers(LayerRange::parse("1-2").value());
    for (const QString& place : places())
        EXPECT_TRUE(place.startsWith("layers.1.") || place.startsWith("layers.2.")) << place.toStdString();
    m_filter->setLayers({});
    m_filter->setStates({SiteOutcome::State::refused});
    EXPECT_TRUE(places().contains("layers.3.mlp"));
    EXPECT_FALSE(places().contains("layers.0.mlp"));
    m_filter->setText("no such thing");
    EXPECT_EQ(m_filter->rowCount(), 0);
}

TEST_F(Sites, FilteredVerdictsFollowTheDecisions) {
    m_filter->setStates({SiteOutcome::State::applied});
    EXPECT_EQ(m_filter->rowCount(), 0);
    m_document.apply({std::size_t(rowOf("qkv@layers.1.self_attn"))}, Decision::apply, "apply");
    settle(m_document);
    m_filter->followDecisions();
    EXPECT_EQ(places(), QStringList{"layers.1.self_attn"});
}

TEST_F(Sites, SortsByPlaceAsAReaderWould) {
    Document many{Locations::find()};
    openSmallModel(many, 12);
    SitesModel model(many, nullptr);
    SitesFilter filter(model, nullptr);
    filter.setText("qkv");
    filter.sort(SitesModel::kPlace);
    ASSERT_EQ(filter.rowCount(), 12);
    EXPECT_EQ(filter.index(2, SitesModel::kPlace).data().toString(), "layers.2.self_attn");
    EXPECT_EQ(filter.index(11, SitesModel::kPlace).data().toString(), "layers.11.self_attn");
    filter.sort(SitesModel::kPlace, Qt::DescendingOrder);
    EXPECT_EQ(filter.index(0, SitesModel::kPlace).data().toString(), "layers.11.self_attn");
}

TEST_F(Sites, SortsNumbersAsNumbers) {
    m_model->setEstimates(estimateGains(m_document.graph(), m_document.analysis(), 10), 10);
    m_filter->sort(SitesModel::kBytes, Qt::DescendingOrder);
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (int row = 0; row < m_filter->rowCount(); ++row) {
        const SiteGain* gain = m_model->estimate(m_filter->mapToSource(m_filter->index(row, 0)).row());
        const std::int64_t saved = gain ? gain->bytesSaved() : std::numeric_limits<std::int64_t>::min();
        EXPECT_LE(saved, last);
        last = saved;
    }
}

} // namespace
} // namespace workbench::gui::test
