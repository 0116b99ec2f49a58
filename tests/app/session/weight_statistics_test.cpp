#include "app/session/element_values.h"
#include "app/session/weight_statistics.h"
#include "core/archive/pt2_writer.h"
#include "core/graph/text.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace workbench {
namespace {

WeightStatistics summaryOf(const std::vector<std::vector<double>>& pieces) {
    WeightSummary summary;
    for (const auto& piece : pieces)
        summary.see(piece);
    for (const auto& piece : pieces)
        summary.seeAgain(piece);
    return std::move(summary).finish();
}

template <class Stored>
std::vector<double> valuesOf(ScalarType type, std::vector<Stored> stored) {
    std::vector<double> values;
    EXPECT_TRUE(appendValues(type, std::as_bytes(std::span(stored)), values));
    return values;
}

TEST(WeightSummary, DescribesTheFiniteNumbersOfAllPieces) {
    const WeightStatistics s =
        summaryOf({{1, 2}, {3, 0, std::nan("")}, {std::numeric_limits<double>::infinity(), 4}});
    EXPECT_EQ(s.count, 7);
    EXPECT_EQ(s.notFinite, 2);
    EXPECT_EQ(s.zeros, 1);
    EXPECT_EQ(s.minimum, 0);
    EXPECT_EQ(s.maximum, 4);
    EXPECT_EQ(s.mean, 2);
    EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(2.0));
    EXPECT_EQ(std::accumulate(s.histogram.begin(), s.histogram.end(), std::int64_t{0}), 5);
}

TEST(WeightSummary, BinsAreEqualStepsWithBothEndsInside) {
    std::vector<double> values;
    for (std::size_t i = 0; i <= kHistogramBins; ++i)
        values.push_back(static_cast<double>(i));
    const WeightStatistics s = summaryOf({values});
    ASSERT_EQ(s.histogram.size(), kHistogramBins);
    EXPECT_EQ(s.histogram.front(), 1);
    EXPECT_EQ(s.histogram.back(), 2);
}

TEST(WeightSummary, ANumberAloneAndNoNumberAreNoTrouble) {
    const WeightStatistics one = summaryOf({{7, 7}});
    EXPECT_EQ(one.deviation, 0);
    EXPECT_EQ(one.histogram.front(), 2);
    const WeightStatistics none = summaryOf({{std::nan("")}});
    EXPECT_EQ(none.mean, 0);
    EXPECT_EQ(none.notFinite, 1);
}

TEST(ElementValues, ReadsEveryTypeOfTheGraph) {
    using Doubles = std::vector<double>;
    EXPECT_EQ(valuesOf<float>(ScalarType::f32, {1.5f, -2}), (Doubles{1.5, -2}));
    EXPECT_EQ(valuesOf<double>(ScalarType::f64, {0.1}), (Doubles{0.1}));
    EXPECT_EQ(valuesOf<std::uint16_t>(ScalarType::bf16, {0x3f80, 0xc020}), (Doubles{1, -2.5}));
    EXPECT_EQ(valuesOf<std::uint16_t>(ScalarType::f16, {0x3c00, 0x0001}), (Doubles{1, std::ldexp(1.0, -24)}));
    EXPECT_EQ(valuesOf<std::int64_t>(ScalarType::i64, {-3}), (Doubles{-3}));
    EXPECT_EQ(valuesOf<std::uint8_t>(ScalarType::boolean, {1, 0}), (Doubles{1, 0}));
    // Largest and smallest numbers of arXiv:2209.05433, table 1.
    EXPECT_EQ(valuesOf<std::uint8_t>(ScalarType::f8e4m3, {0x7e, 0x08, 0x01}),
              (Doubles{448, std::ldexp(1.0, -6), std::ldexp(1.0, -9)}));
    EXPECT_EQ(valuesOf<std::uint8_t>(ScalarType::f8e5m2, {0x7b, 0x04, 0x01}),
              (Doubles{57344, std::ldexp(1.0, -14), std::ldexp(1.0, -16)}));
    EXPECT_TRUE(std::isnan(valuesOf<std::uint8_t>(ScalarType::f8e4m3, {0x7f}).front()));
    EXPECT_TRUE(std::isinf(valuesOf<std::uint8_t>(ScalarType::f8e5m2, {0x7c}).front()));
}

/// A model of two parameters: one merged from two checkpoint tensors, one in the archive.
class StoredWeights : public TemporaryFolder {
protected:
    void SetUp() override {
        auto graph = parseGraph(R"(module "" Model
input %x: f32[1, 4] "x"
parameter %w: f32[4, 4] "w"
parameter %b: f32[4] "b"
%y: f32[1, 4] = aten.linear.default(input=%x, weight=%w, bias=%b)
output %y
)");
        ASSERT_TRUE(graph.ok()) << graph.error().message;
        Pt2WriteOptions options;
        options.data = [](const Input& input) -> Result<std::string> {
            return bytesOf(std::vector<float>(input.target == "w" ? 16 : 4, 0.5f));
        };
        m_model.archive = folder() / "model.pt2";
        m_model.directory = folder();
        const Status written = writePt2(*graph, options, m_model.archive);
        ASSERT_TRUE(written.ok()) << written.error().message;
        std::vector<float> first(8, -1), second(8, 3);
        const std::string header = R"({"one":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]},)"
                                   R"("two":{"dtype":"F32","shape":[2,4],"data_offsets":[32,64]}})";
        const std::uint64_t size = header.size();
        writeFile("model.safetensors", std::string(reinterpret_cast<const char*>(&size), sizeof size) +
                                           header + bytesOf(first) + bytesOf(second));
        m_model.parameters = nlohmann::json::parse(
            R"({"w": {"from": [{"tensor": "one"}, {"tensor": "two"}], "op": "cat", "dim": 0}})");
        m_model.hasWeights = true;
    }
    static std::string bytesOf(const std::vector<float>& values) {
        return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
    }

    TracedModel m_model;
};

TEST_F(StoredWeights, MergedOnesAreReadFromAllTheirTensors) {
    const auto s = weightStatistics(m_model, "w", {});
    ASSERT_TRUE(s.ok()) << s.error().message;
    EXPECT_EQ(s->count, 16);
    EXPECT_EQ(s->minimum, -1);
    EXPECT_EQ(s->maximum, 3);
    EXPECT_EQ(s->mean, 1);
    EXPECT_EQ(s->deviation, 2);
    EXPECT_EQ(s->stored, ScalarType::f32);
}

TEST_F(StoredWeights, WhatTheCheckpointLacksComesFromTheArchive) {
    const auto s = weightStatistics(m_model, "b", {});
    ASSERT_TRUE(s.ok()) << s.error().message;
    EXPECT_EQ(s->count, 4);
    EXPECT_EQ(s->mean, 0.5);
}

TEST_F(StoredWeights, ATiedParameterHasTheDataOfTheOther) {
    m_model.tied = {{"w", "head"}};
    const auto s = weightStatistics(m_model, "head", {});
    ASSERT_TRUE(s.ok()) << s.error().message;
    EXPECT_EQ(s->count, 16);
}

TEST_F(StoredWeights, SaysWhatIsMissing) {
    const auto unknown = weightStatistics(m_model, "elsewhere", {});
    ASSERT_FALSE(unknown.ok());
    EXPECT_NE(unknown.error().message.find("elsewhere"), std::string::npos);
    m_model.hasWeights = false;
    const auto none = weightStatistics(m_model, "w", {});
    ASSERT_FALSE(none.ok());
    EXPECT_NE(none.error().message.find("no weights"), std::string::npos);
}

TEST_F(StoredWeights, AnInterruptionEndsTheReading) {
    CancelToken cancel;
    cancel.cancel();
    Job job;
    job.cancel = &cancel;
    const auto s = weightStatistics(m_model, "w", job);
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.error().code, ErrorCode::cancelled);
}

} // namespace
} // namespace workbench
