#include "app/session/bench_trace.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

std::string errorOf(std::string_view text) {
    const auto read = benchTraceFromText(text, "load.jsonl");
    return read ? "" : read.error().message;
}

TEST(BenchTrace, ReadsOneRequestALine) {
    const auto read = benchTraceFromText("{\"arrival_s\": 0, \"prompt_tokens\": 64, \"new_tokens\": 32}\n\n"
                                         "{\"arrival_s\": 0.25, \"prompt_tokens\": 8, \"new_tokens\": 1}\n",
                                         "load.jsonl");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[0].promptTokens, 64);
    EXPECT_EQ((*read)[1].arrivalSeconds, 0.25);
    EXPECT_EQ((*read)[1].newTokens, 1);
}

TEST(BenchTrace, ErrorsNameFileLineAndKey) {
    EXPECT_EQ(errorOf("{\"arrival_s\": 0, \"prompt_tokens\": 0, \"new_tokens\": 32}"),
              "the trace load.jsonl, line 1: prompt_tokens is not from 1 to 16777216");
    EXPECT_NE(errorOf("{\"arrival_s\": 0, \"prompt_tokens\": 1, \"tokens\": 32}").find("line 1"),
              std::string::npos);
    EXPECT_NE(errorOf("{\"arrival_s\": 1, \"prompt_tokens\": 1, \"new_tokens\": 1}\n"
                      "{\"arrival_s\": 0.5, \"prompt_tokens\": 1, \"new_tokens\": 1}\n")
                  .find("line 2: arrival_s is before"),
              std::string::npos);
    EXPECT_NE(errorOf("{\"arrival_s\": 0, \"prompt_tokens\": 9223372036854775807, \"new_tokens\": 1}")
                  .find("prompt_tokens is not from 1"),
              std::string::npos);
    EXPECT_NE(
        errorOf("{\"arrival_s\": 1e10, \"prompt_tokens\": 1, \"new_tokens\": 1}").find("later than a day"),
        std::string::npos);
    EXPECT_NE(errorOf("[1, 2]").find("line 1"), std::string::npos);
    EXPECT_EQ(errorOf("\n \n"), "the trace load.jsonl has no request: write one a line");
}

TEST(BenchTrace, AFileThatIsNotThereIsNamed) {
    EXPECT_NE(readBenchTrace("/nowhere/load.jsonl").error().message.find("/nowhere/load.jsonl"),
              std::string::npos);
}

} // namespace
} // namespace workbench
