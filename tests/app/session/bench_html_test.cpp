#include "app/session/bench_html.h"
#include "app/session/bench_svg.h"
#include "core/support/read_file.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

BenchProgram programOf(double speed) {
    return {{{10 * speed, speed, speed / 2},
             {11 * speed, 1.1 * speed, speed / 3},
             {9 * speed, 0.9 * speed, speed / 4}},
            {100, 10, 12, 15, 20, 110, 120}};
}

BenchReport someReport() {
    BenchReport report;
    report.model = "Llama<ForCausalLM>";
    report.dtype = "bf16";
    report.load = loadOf(LoadKind::decode);
    report.native = programOf(52);
    report.eager = programOf(20);
    report.after = programOf(50);
    report.before = programOf(40);
    report.patterns = {{"qkv", 30, programOf(45)}};
    report.profile = {
        {"after", {{"steps", 10}, {"step_s", 0.02}, {"model_s", 0.019}, {"families", {{"products", 0.01}}}}}};
    return report;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(BenchHtml, ShowsEveryProgramEveryComparisonAndWhereTimeGoes) {
    const std::string html = benchHtml(someReport());
    EXPECT_TRUE(has(html, "Llama&lt;ForCausalLM&gt;"));
    for (const char* part : {">native<", ">after<", ">before<", "after against native", "after against eager",
                             "after against before", "qkv (30 sites)", "products", "outside of the model",
                             "52.0", "<svg", "polyline"})
        EXPECT_TRUE(has(html, part)) << part;
    EXPECT_TRUE(html.ends_with("</html>\n"));
}

TEST(BenchHtml, SaysNothingOfOperatorsThatNoClockOfTheHostSees) {
    BenchReport report = someReport();
    report.profile["after"].erase("families");
    const std::string html = benchHtml(report);
    EXPECT_TRUE(has(html, "the model"));
    EXPECT_TRUE(has(html, "outside of the model"));
    EXPECT_FALSE(has(html, "between operators"));
}

TEST(BenchHtml, NeedsNoOtherFile) {
    const std::string html = benchHtml(someReport());
    for (const char* part : {"http://", "https://", "src=", "<link", "<script", "url("})
        EXPECT_FALSE(has(html, part)) << part;
}

TEST(BenchHtml, SaysWhyThereIsNoHandWrittenCode) {
    BenchReport report = someReport();
    report.native.reset();
    report.nativeReason = "this is another model";
    EXPECT_TRUE(has(benchHtml(report), "native: not available. this is another model"));
}

TEST(BenchHtml, IsWrittenAsOneFile) {
    const TemporaryDirectory folder;
    const auto file = folder.path() / "bench.html";
    ASSERT_TRUE(writeBenchHtml(someReport(), file));
    EXPECT_EQ(*readFile(file), benchHtml(someReport()));
    EXPECT_FALSE(writeBenchHtml(someReport(), "/nowhere/bench.html"));
}

TEST(BenchSvg, BarsEndAtTheMedianAndTheLineAtTheSpread) {
    // 540 wide for the largest value, from 90 on.
    const std::string svg = speedBarsSvg({{"a", {50, 25, 100}}});
    EXPECT_TRUE(has(svg, "width=\"270.0\""));
    EXPECT_TRUE(has(svg, "x1=\"225.0\" x2=\"630.0\""));
}

TEST(BenchSvg, NothingMeasuredIsNoPictureAndNoFault) {
    EXPECT_FALSE(has(speedBarsSvg({{"a", {0, 0, 0}}}), "nan"));
    EXPECT_FALSE(has(roundCurvesSvg({{"a", {}}}), "nan"));
    EXPECT_FALSE(has(timePartsSvg({}, {}), "nan"));
}

} // namespace
} // namespace workbench
