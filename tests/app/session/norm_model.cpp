#include "tests/app/session/norm_model.h"

#include "core/graph/text.h"

#include <gtest/gtest.h>

namespace workbench::test {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

constexpr const char* kParameter = "parameter %w_NORM: f32[64] \"NORM.weight\"\n";
constexpr const char* kModule = "module \"NORM\" Norm\n";
constexpr const char* kNorm =
    R"(%square_NORM: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%in_NORM, exponent=2) @"NORM"
%mean_NORM: f32[1, s0, 1] = aten.mean.dim(self=%square_NORM, dim=[-1], keepdim=true) @"NORM"
%variance_NORM: f32[1, s0, 1] = aten.add.Tensor(self=%mean_NORM, other=1e-05) @"NORM"
%inverse_NORM: f32[1, s0, 1] = aten.rsqrt.default(self=%variance_NORM) @"NORM"
%normed_NORM: f32[1, s0, 64] = aten.mul.Tensor(self=%in_NORM, other=%inverse_NORM) @"NORM"
%out_NORM: f32[1, s0, 64] = aten.mul.Tensor(self=%w_NORM, other=%normed_NORM) @"NORM"
)";

std::string graphText(const std::vector<std::string>& norms) {
    std::string modules = "module \"\" Model\n";
    std::string inputs = "input %x: f32[1, s0, 64]\n";
    std::string nodes;
    std::string last = "%x";
    for (const std::string& norm : norms) {
        modules += replaced(kModule, "NORM", norm);
        inputs += replaced(kParameter, "NORM", norm);
        nodes += "%in_" + norm + ": f32[1, s0, 64] = aten.tanh.default(self=" + last + ") @\"\"\n" +
                 replaced(kNorm, "NORM", norm);
        last = "%out_" + norm;
    }
    return modules + inputs + nodes + "output " + last + "\n";
}

} // namespace

Session normSession(const std::vector<std::string>& norms) {
    auto graph = parseGraph(graphText(norms));
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    auto canonical = canonicalize(*graph);
    EXPECT_TRUE(canonical.ok()) << canonical.error().message;
    auto model = std::make_shared<TracedModel>();
    model->archive = "norms.pt2";
    model->facts.className = "Norms";
    model->facts.dtype = "f32";
    model->facts.vocabulary = 64;
    model->facts.contextLength = 4096;
    model->hasWeights = true;
    model->runnable = true;
    model->canonical = std::move(canonical).value();
    model->analysis = analyze(model->canonical);
    return Session::of(model, {}, {});
}

Session fusedNormSession(const std::vector<std::string>& norms) {
    Session session = normSession(norms);
    Decisions decisions;
    for (const Site& site : session.model().analysis.sites)
        if (site.verdict == SiteVerdict::applicable)
            decisions[site.id] = Decision::apply;
    EXPECT_EQ(decisions.size(), norms.size());
    session.decide(std::move(decisions));
    return session;
}

} // namespace workbench::test
