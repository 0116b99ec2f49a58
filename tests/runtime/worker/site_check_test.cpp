#include "runtime/worker/site_check.h"
#include "tests/runtime/program/support.h"

namespace workbench::test {
namespace {

const std::string kInputs = R"(
input %x: f32[s0]
parameter %w: f32[1] "w"
)";
const std::string kOriginal = kInputs + R"(
%a: f32[s0] = aten.neg.default(self=%x)
%b: f32[s0] = aten.mul.Tensor(self=%a, other=%w)
%c: f32[s0] = aten.add.Tensor(self=%b, other=%a)
%d: f32[s0] = aten.mul.Tensor(self=%c, other=%c)
output %d
)";
// (-x) * w + (-x) as (-x) * (w + 1); and the square as a power.
const std::string kRewritten = kInputs + R"(
%a: f32[s0] = aten.neg.default(self=%x)
%w1: f32[1] = aten.add.Tensor(self=%w, other=1.0)
%c: f32[s0] = aten.mul.Tensor(self=%a, other=%w1)
%d: f32[s0] = aten.pow.Tensor_Scalar(self=%c, exponent=2)
output %d
)";

class SiteChecksTest : public testing::Test {
protected:
    Result<std::vector<Difference>> check(const std::string& rewritten, const std::vector<SiteSpec>& sites) {
        original = compile(kOriginal, {{"w", floats({10}, {1})}});
        after = compile(rewritten, {{"w", floats({10}, {1})}});
        SiteChecks checks(*original, *after, inputs, inputs);
        if (auto prepared = checks.prepare(sites); !prepared)
            return prepared.error();
        RunOptions options;
        options.observe = checks.observer();
        if (auto run = original->run(inputs, options); !run)
            return run.error();
        return checks.finish();
    }

    std::vector<at::Tensor> inputs{floats({1, 2}, {2})};
    std::unique_ptr<Program> original;
    std::unique_ptr<Program> after;
};

TEST_F(SiteChecksTest, FindsRightReplacementsEqual) {
    const auto differences = check(kRewritten, {{"sum", {"w1", "c"}, {"c"}}, {"square", {"d"}, {"d"}}});
    ASSERT_TRUE(differences) << differences.error().message;
    ASSERT_EQ(differences->size(), 2u);
    EXPECT_EQ((*differences)[0].maxAbsError, 0);
    EXPECT_EQ((*differences)[0].maxAbs, 22);
    EXPECT_EQ((*differences)[1].maxAbsError, 0);
    EXPECT_EQ((*differences)[1].maxAbs, 484);
}

TEST_F(SiteChecksTest, BlamesOnlyTheSiteThatIsWrong) {
    std::string wrong = kRewritten;
    wrong.replace(wrong.find("other=1.0"), 9, "other=2.0");
    const auto differences = check(wrong, {{"sum", {"w1", "c"}, {"c"}}, {"square", {"d"}, {"d"}}});
    ASSERT_TRUE(differences);
    EXPECT_EQ((*differences)[0].maxAbsError, 2); // 24 for 22
    EXPECT_EQ((*differences)[1].maxAbsError, 0); // fed with the original's %c
}

TEST_F(SiteChecksTest, ReportsTheWorstOutputOfASite) {
    std::string wrong = kRewritten;
    wrong.replace(wrong.find("exponent=2"), 10, "exponent=3");
    const auto differences = check(wrong, {{"both", {"c", "d"}, {"c", "d"}}});
    ASSERT_TRUE(differences);
    EXPECT_EQ((*differences)[0].maxAbsError, 22 * 22 * 22 + 22 * 22);
}

TEST_F(SiteChecksTest, RefusesASiteThatProvesNothing) {
    const auto message = [&](const SiteSpec& site) {
        const auto differences = check(kRewritten, {site});
        return differences ? "" : differences.error().message;
    };
    EXPECT_NE(message({"s", {"d"}, {"c"}}).find("Site s cannot be checked: The site's nodes do not make %c"),
              std::string::npos);
    EXPECT_NE(message({"s", {"d"}, {}}).find("it has no outputs"), std::string::npos);
    EXPECT_NE(message({"s", {}, {"d"}}).find("it has no nodes"), std::string::npos);
    EXPECT_NE(message({"s", {"gone"}, {"d"}}).find("the rewritten graph has no node that makes %gone"),
              std::string::npos);
    EXPECT_NE(message({"s", {"d"}, {"b"}}).find("the rewritten graph has no value %b"), std::string::npos);
    EXPECT_NE(message({"s", {"x"}, {"d"}}).find("the rewritten graph has no node that makes %x"),
              std::string::npos);
}

TEST_F(SiteChecksTest, RefusesAReplacementThatReadsWhatTheOriginalLacks) {
    const std::string other = kInputs + R"(
%a: f32[s0] = aten.neg.default(self=%x)
%new: f32[s0] = aten.mul.Tensor(self=%a, other=11.0)
%d: f32[s0] = aten.pow.Tensor_Scalar(self=%new, exponent=2)
output %d
)";
    const auto differences = check(other, {{"s", {"d"}, {"d"}}});
    ASSERT_FALSE(differences);
    EXPECT_NE(differences.error().message.find("the original graph has no value %new"), std::string::npos);
}

TEST_F(SiteChecksTest, RefusesValuesThatAreNotFinite) {
    inputs = {floats({1, 3e38f}, {2})};
    const auto differences = check(kRewritten, {{"square", {"d"}, {"d"}}});
    ASSERT_FALSE(differences);
    EXPECT_NE(differences.error().message.find("%d of site square cannot be compared"), std::string::npos);
}

} // namespace
} // namespace workbench::test
