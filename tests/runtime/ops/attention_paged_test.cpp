// Attention over a paged cache: any way of cutting several sequences into calls gives what one call over each
// whole sequence gives, wherever their blocks lie.
#include "runtime/ops/attention.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace workbench::ops {
namespace {

using testing::expectRefused;

class AttentionPagedTest : public testing::OpTest {
protected:
    static constexpr int64_t kQueryHeads = 6;
    static constexpr int64_t kKvHeads = 2;
    static constexpr int64_t kWidth = 64;
    static constexpr int64_t kValueWidth = 48;

    void SetUp() override {
        OpTest::SetUp();
        if (GetParam().device != at::kCPU)
            GTEST_SKIP() << "the paged form runs on the CPU";
    }

    struct Mask {
        MaskKind kind;
        int64_t window;
        double softcap;
    };

    AttentionArgs whole(int64_t tokens, const Mask& mask) {
        AttentionArgs args;
        args.query = random({1, tokens, kQueryHeads, kWidth}).transpose(1, 2);
        args.key = random({1, tokens, kKvHeads, kWidth}).transpose(1, 2);
        args.value = random({1, tokens, kKvHeads, kValueWidth}).transpose(1, 2);
        args.positions = at::arange(tokens, at::kLong).unsqueeze(0);
        args.scale = 0.2;
        args.mask = mask.kind;
        args.window = mask.window;
        args.softcap = mask.softcap;
        args.sinks = m_sinks;
        args.slopes = m_slopes;
        return args;
    }

    PagedKvView emptyPages(int64_t blocks, int64_t blockTokens) {
        const double nan = std::numeric_limits<double>::quiet_NaN(); // what is not stored must not be read
        const auto options = random({1}).options();
        return {at::full({blocks, kKvHeads, blockTokens, kWidth}, nan, options),
                at::full({blocks, kKvHeads, blockTokens, kValueWidth}, nan, options)};
    }

    /// Storing the same keys and values again changes nothing.
    static void expectSameWhereItIsTold(const AttentionArgs& args,
                                        const std::vector<PagedSequence>& sequences, PagedKvView& pages,
                                        const at::Tensor& expected) {
        at::Tensor output = at::zeros_like(expected);
        attentionPagedInto(output, args, pages, sequences);
        EXPECT_TRUE(at::equal(output, expected));
        AttentionArgs withoutPositions = args;
        withoutPositions.positions = at::zeros_like(args.positions);
        PagedAttention prepared(output, withoutPositions);
        ASSERT_TRUE(prepared.isUsable());
        for (int run = 0; run < 2; ++run) {
            output.zero_();
            prepared.run(args.positions, pages, sequences);
            EXPECT_TRUE(at::equal(output, expected)) << "run " << run;
        }
    }

    /// A sequence that is computed piece by piece.
    struct Growing {
        AttentionArgs whole;
        at::Tensor expected;
        std::vector<int32_t> blocks;
        int64_t done = 0;
        int64_t length() const { return whole.query.size(2); }
    };

    /// One call with the next `counts[i]` tokens of each sequence; checks and advances them.
    void step(std::vector<Growing>& growing, const std::vector<int64_t>& counts, PagedKvView& pages) {
        std::vector<PagedSequence> sequences;
        std::vector<at::Tensor> parts[4];
        int64_t tokens = 0;
        for (size_t i = 0; i < growing.size(); ++i) {
            Growing& one = growing[i];
            if (counts[i] == 0)
                continue;
            sequences.push_back({tokens, counts[i], one.done, one.blocks.data(), std::ssize(one.blocks)});
            tokens += counts[i];
            parts[0].push_back(one.whole.query.narrow(2, one.done, counts[i]));
            parts[1].push_back(one.whole.key.narrow(2, one.done, counts[i]));
            parts[2].push_back(one.whole.value.narrow(2, one.done, counts[i]));
            parts[3].push_back(one.whole.positions.narrow(1, one.done, counts[i]));
        }
        if (tokens == 0)
            return;
        AttentionArgs args = growing[0].whole;
        args.query = at::cat(parts[0], 2);
        args.key = at::cat(parts[1], 2);
        args.value = at::cat(parts[2], 2);
        args.positions = at::cat(parts[3], 1);
        const at::Tensor output = attentionPaged(args, pages, sequences);
        expectSameWhereItIsTold(args, sequences, pages, output);
        for (size_t i = 0, next = 0; i < growing.size(); ++i) {
            Growing& one = growing[i];
            if (counts[i] == 0)
                continue;
            testing::expectCloseSums(output.narrow(1, sequences[next++].firstToken, counts[i]),
                                     one.expected.narrow(1, one.done, counts[i]));
            one.done += counts[i];
        }
    }

    /// Sequences of these lengths with blocks in random order, none shared.
    std::vector<Growing> grow(const std::vector<int64_t>& lengths, const Mask& mask, int64_t blockTokens,
                              std::mt19937& random, int64_t& blocks) {
        std::vector<Growing> growing;
        blocks = 0;
        for (const int64_t length : lengths) {
            AttentionArgs args = whole(length, mask);
            growing.push_back({args, attention(args), {}, 0});
            blocks += (length + blockTokens - 1) / blockTokens;
        }
        std::vector<int32_t> order(static_cast<size_t>(blocks));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (Growing& one : growing)
            for (int64_t at = 0; at < one.length(); at += blockTokens) {
                one.blocks.push_back(order.back());
                order.pop_back();
            }
        return growing;
    }

    std::optional<at::Tensor> m_sinks;
    std::optional<at::Tensor> m_slopes;
};

TEST_P(AttentionPagedTest, EqualsOneCallOverEachSequenceHoweverTheyAreCutAndMixed) {
    std::mt19937 generator(7);
    m_sinks = random({kQueryHeads});
    m_slopes = random({kQueryHeads}, 0.01);
    for (const Mask& mask : {Mask{MaskKind::Causal, 0, 0},
                             {MaskKind::Causal, 0, 5},
                             {MaskKind::Sliding, 50, 0},
                             {MaskKind::Chunked, 64, 0}}) {
        for (const int64_t blockTokens : {1, 16, 64, 100}) {
            int64_t blocks = 0;
            auto growing = grow({300, 1, 77, 150}, mask, blockTokens, generator, blocks);
            PagedKvView pages = emptyPages(blocks, blockTokens);
            bool more = true;
            while (more) {
                std::vector<int64_t> counts;
                for (const Growing& one : growing) {
                    const int64_t wanted = generator() % 3 == 0   ? 1
                                           : generator() % 4 == 0 ? 0
                                                                  : static_cast<int64_t>(generator() % 120);
                    counts.push_back(std::min(wanted, one.length() - one.done));
                }
                step(growing, counts, pages);
                more = std::ranges::any_of(growing, [](const Growing& g) { return g.done < g.length(); });
            }
        }
    }
}

TEST_P(AttentionPagedTest, NeverLooksAtBlocksThatAWindowHasLeft) {
    std::mt19937 generator(3);
    int64_t blocks = 0;
    auto growing = grow({200}, {MaskKind::Sliding, 40, 0}, 16, generator, blocks);
    PagedKvView pages = emptyPages(blocks, 16);
    step(growing, {150}, pages);
    // Token 150 sees tokens 111 to 150: blocks 0 to 5 are behind.
    for (size_t block = 0; block < 6; ++block) {
        pages.key[growing[0].blocks[block]].fill_(std::numeric_limits<double>::quiet_NaN());
        growing[0].blocks[block] = -1;
    }
    step(growing, {1}, pages);
    step(growing, {49}, pages);
}

TEST_P(AttentionPagedTest, LetsSequencesShareTheBlocksOfACommonPrefix) {
    std::mt19937 generator(5);
    int64_t blocks = 0;
    auto growing = grow({80, 80}, {MaskKind::Causal, 0, 0}, 16, generator, blocks);
    PagedKvView pages = emptyPages(blocks, 16);
    AttentionArgs& second = growing[1].whole;
    for (at::Tensor AttentionArgs::*part : {&AttentionArgs::key, &AttentionArgs::value})
        (second.*part).narrow(2, 0, 32).copy_((growing[0].whole.*part).narrow(2, 0, 32));
    growing[1].expected = attention(second);
    step(growing, {50, 0}, pages);
    growing[1].done = 32;
    std::copy_n(growing[0].blocks.begin(), 2, growing[1].blocks.begin());
    step(growing, {30, 48}, pages);
}

TEST_P(AttentionPagedTest, RefusesTablesAndPositionsThatDoNotFit) {
    AttentionArgs args = whole(20, {MaskKind::Causal, 0, 0});
    PagedKvView pages = emptyPages(4, 8);
    const std::vector<int32_t> table{0, 3, 2};
    const auto call = [&](const PagedSequence& sequence) { attentionPaged(args, pages, sequence); };
    expectRefused([&] { call({0, 20, 0, table.data(), 2}); }, "position 19 is past the sequence's 2 blocks");
    expectRefused([&] { call({0, 20, 1, table.data(), 3}); }, "token 0 stands at position 0");
    expectRefused([&] { call({0, 19, 0, table.data(), 3}); }, "have 19 tokens, but the call has 20");
    expectRefused([&] { call({1, 19, 0, table.data(), 3}); }, "must have tokens and begin at token 0");
    for (const int32_t wrong : {-1, 4}) {
        const std::vector<int32_t> other{0, wrong, 2};
        expectRefused([&] { call({0, 20, 0, other.data(), 3}); }, "is not one of the cache's 4");
    }
    args.mask = MaskKind::Full;
    expectRefused([&] { call({0, 20, 0, table.data(), 3}); }, "a full mask has no cached form");
    args.mask = MaskKind::Causal;
    pages.key = pages.key.narrow(3, 0, 60);
    expectRefused([&] { call({0, 20, 0, table.data(), 3}); }, "the blocks of key must be [blocks, 2");
    EXPECT_TRUE(at::isnan(pages.key).all().item<bool>()); // a refused call stores nothing
}

INSTANTIATE_TEST_SUITE_P(Everywhere, AttentionPagedTest, ::testing::ValuesIn(testing::allPlaces()),
                         testing::whereName);

} // namespace
} // namespace workbench::ops
