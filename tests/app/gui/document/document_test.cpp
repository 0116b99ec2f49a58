#include "app/gui/document/document.h"
#include "tests/app/gui/support/small_model.h"

#include <QtTest/QSignalSpy>

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

std::size_t siteIndex(const Document& document, std::string_view id) {
    const std::vector<Site>& sites = document.analysis().sites;
    for (std::size_t i = 0; i < sites.size(); ++i)
        if (sites[i].id == id)
            return i;
    ADD_FAILURE() << "there is no site " << id;
    return 0;
}

class SmallDocument : public testing::Test {
protected:
    void SetUp() override {
        openSmallModel(m_document);
        m_site = siteIndex(m_document, "qkv@layers.0.self_attn");
    }
    SiteOutcome::State state() {
        settle(m_document);
        return m_document.outcome(m_site).state;
    }

    Document m_document{Locations::find()};
    std::size_t m_site = 0;
};

TEST_F(SmallDocument, AppliesASiteAndTakesItBack) {
    EXPECT_EQ(state(), SiteOutcome::State::undecided);
    m_document.apply({m_site}, Decision::apply, "apply qkv");
    EXPECT_EQ(m_document.decision(m_site), Decision::apply);
    EXPECT_EQ(state(), SiteOutcome::State::applied);
    EXPECT_EQ(m_document.undoText(), "apply qkv");
    m_document.undo();
    EXPECT_EQ(state(), SiteOutcome::State::undecided);
    EXPECT_EQ(m_document.redoText(), "apply qkv");
    m_document.redo();
    EXPECT_EQ(state(), SiteOutcome::State::applied);
}

TEST_F(SmallDocument, FollowsTheLastOfManyQuickDecisions) {
    for (int i = 0; i < 5; ++i) {
        m_document.apply({m_site}, Decision::apply, "apply");
        m_document.apply({m_site}, Decision::reject, "reject");
    }
    EXPECT_EQ(state(), SiteOutcome::State::rejected);
}

TEST_F(SmallDocument, IsModifiedUntilEverythingIsTakenBack) {
    QSignalSpy modified(&m_document, &Document::modifiedChanged);
    m_document.setNote(m_site, "slower here");
    EXPECT_TRUE(m_document.modified());
    EXPECT_EQ(m_document.note(m_site), "slower here");
    m_document.undo();
    EXPECT_FALSE(m_document.modified());
    EXPECT_EQ(m_document.note(m_site), "");
    EXPECT_EQ(modified.size(), 2);
}

TEST_F(SmallDocument, NeverAppliesARefusedSite) {
    const std::size_t refused = siteIndex(m_document, "gate-up@layers.3.mlp");
    m_document.apply({refused}, Decision::apply, "apply gate-up");
    EXPECT_EQ(m_document.decision(refused), Decision::undecided);
    EXPECT_FALSE(m_document.modified());
}

TEST_F(SmallDocument, RunsOneJobAtATimeAndTakesItsProofs) {
    PlanProof proof;
    proof.passed = true;
    std::optional<int> answer;
    QSignalSpy proofs(&m_document, &Document::proofsChanged);
    const auto work = [&](Session& session, Runtime&, const Job& job) -> Result<int> {
        job.report("prove", "sites");
        session.setProofs({{"qkv@layers.0.self_attn", proof}}, proof, "");
        return 7;
    };
    const JobHandle first =
        m_document.run<int>(&m_document, "Verify", work, [&](Result<int> result) { answer = *result; });
    EXPECT_TRUE(first.valid());
    EXPECT_TRUE(m_document.busy());
    EXPECT_FALSE(m_document.run<int>(&m_document, "Again", work, [](Result<int>) {}).valid());
    ASSERT_TRUE(waitFor([&] { return answer.has_value(); }));
    EXPECT_EQ(answer, 7);
    EXPECT_FALSE(m_document.busy());
    EXPECT_EQ(proofs.size(), 1);
    ASSERT_NE(m_document.proof(m_site), nullptr);
    EXPECT_TRUE(m_document.proof(m_site)->passed);
    EXPECT_TRUE(m_document.modified());
}

TEST_F(SmallDocument, AJobIsCancelledByTheDocument) {
    std::optional<ErrorCode> code;
    const auto work = [](Session&, Runtime&, const Job& job) -> Result<int> {
        while (!job.cancelled())
            QThread::msleep(1);
        return cancelledError();
    };
    m_document.run<int>(&m_document, "Measure", work,
                        [&](Result<int> result) { code = result.error().code; });
    m_document.cancel();
    ASSERT_TRUE(waitFor([&] { return code.has_value(); }));
    EXPECT_EQ(code, ErrorCode::cancelled);
}

TEST_F(SmallDocument, AnExceptionInAJobIsAnError) {
    std::string message;
    const auto work = [](Session&, Runtime&, const Job&) -> Result<int> { throw std::bad_alloc(); };
    m_document.run<int>(&m_document, "Measure", work,
                        [&](Result<int> result) { message = result.error().message; });
    ASSERT_TRUE(waitFor([&] { return !message.empty(); }));
    EXPECT_NE(message.find("memory"), std::string::npos);
}

TEST(Document, WithoutATracerAMissingModelFailsInWords) {
    Document document(Locations::find());
    OpenRequest request;
    request.model = "/no/such/model";
    document.open(request);
    EXPECT_EQ(document.state(), Document::State::opening);
    ASSERT_TRUE(waitFor([&] { return document.state() == Document::State::failed; }));
    EXPECT_NE(document.error()->message.find("/no/such/model"), std::string::npos);
}

} // namespace
} // namespace workbench::gui::test
