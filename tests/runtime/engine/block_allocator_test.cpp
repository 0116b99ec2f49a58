#include "runtime/engine/block_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace workbench {
namespace {

using Tokens = std::vector<std::int64_t>;

BlockAllocator allocatorOf(std::int64_t blocks, std::int64_t blockTokens,
                           std::vector<std::int64_t> windows = {0}, bool reusePrefixes = true) {
    return BlockAllocator::create({blockTokens, blocks, std::move(windows), reusePrefixes}).value();
}

Tokens tokensFrom(std::int64_t first, std::size_t count) {
    Tokens tokens(count);
    std::iota(tokens.begin(), tokens.end(), first);
    return tokens;
}

/// A sequence that was computed and given back, so that others find its blocks.
void leaveBehind(BlockAllocator& allocator, const Tokens& tokens) {
    SequenceBlocks sequence;
    const auto count = static_cast<std::int64_t>(tokens.size());
    ASSERT_TRUE(allocator.grow(sequence, 0, count));
    allocator.publish(sequence, tokens, count);
    allocator.release(sequence);
}

TEST(BlockAllocator, GrowsByWholeBlocks) {
    auto allocator = allocatorOf(4, 16);
    SequenceBlocks sequence;
    ASSERT_TRUE(allocator.grow(sequence, 0, 16));
    EXPECT_EQ(sequence.tables, (std::vector<std::vector<BlockId>>{{0}}));
    ASSERT_TRUE(allocator.grow(sequence, 16, 17));
    EXPECT_EQ(sequence.tables, (std::vector<std::vector<BlockId>>{{0, 1}}));
    EXPECT_FALSE(allocator.grow(sequence, 17, 65));
    allocator.release(sequence);
    EXPECT_EQ(allocator.pool().available(), 4);
}

TEST(BlockAllocator, ReusesWholeBlocksOfACommonPrefix) {
    auto allocator = allocatorOf(8, 4);
    leaveBehind(allocator, tokensFrom(0, 11)); // blocks 0 1 whole, 2 not
    SequenceBlocks sequence;
    EXPECT_EQ(allocator.reusePrefix(sequence, tokensFrom(0, 30)), 8);
    EXPECT_EQ(sequence.tables, (std::vector<std::vector<BlockId>>{{0, 1}}));
}

TEST(BlockAllocator, LeavesTheLastTokenToCompute) {
    auto allocator = allocatorOf(8, 4);
    leaveBehind(allocator, tokensFrom(0, 8));
    SequenceBlocks sequence;
    EXPECT_EQ(allocator.reusePrefix(sequence, tokensFrom(0, 8)), 4);
    allocator.release(sequence);
    EXPECT_EQ(allocator.reusePrefix(sequence, tokensFrom(0, 9)), 8);
}

TEST(BlockAllocator, DoesNotTakeEqualTokensAfterAnotherBeginning) {
    auto allocator = allocatorOf(8, 4);
    Tokens other = tokensFrom(0, 12);
    leaveBehind(allocator, other);
    other[0] = 99;
    SequenceBlocks sequence;
    EXPECT_EQ(allocator.reusePrefix(sequence, other), 0);
}

TEST(BlockAllocator, ReusesNothingWhenToldNotTo) {
    auto allocator = allocatorOf(8, 4, {0}, false);
    leaveBehind(allocator, tokensFrom(0, 12));
    SequenceBlocks sequence;
    EXPECT_EQ(allocator.reusePrefix(sequence, tokensFrom(0, 12)), 0);
    EXPECT_EQ(allocator.pool().remembered(), 0);
}

TEST(BlockAllocator, GivesUpThePrefixFromItsEnd) {
    auto allocator = allocatorOf(3, 4);
    leaveBehind(allocator, tokensFrom(0, 12));
    SequenceBlocks other;
    ASSERT_TRUE(allocator.grow(other, 0, 4)); // takes the place of the third block
    SequenceBlocks sequence;
    EXPECT_EQ(allocator.reusePrefix(sequence, tokensFrom(0, 13)), 8);
}

TEST(BlockAllocator, FreesWhatTheWindowHasLeft) {
    auto allocator = allocatorOf(8, 4, {0, 6});
    SequenceBlocks sequence;
    ASSERT_TRUE(allocator.grow(sequence, 0, 8));
    // Token 9 sees tokens 4 to 9: the first block of the windowed group is free, and not before.
    ASSERT_TRUE(allocator.grow(sequence, 8, 9));
    EXPECT_NE(sequence.tables[1][0], kNoBlock);
    ASSERT_TRUE(allocator.grow(sequence, 9, 10));
    EXPECT_EQ(sequence.tables[1][0], kNoBlock);
    EXPECT_EQ(allocator.pool().available(), 8 - 3 - 2);
    EXPECT_EQ(allocator.blocksFor(9, 10), 5);
}

TEST(BlockAllocator, ReusesAPrefixWhoseWindowedBlocksAreGoneBeforeTheWindow) {
    auto allocator = allocatorOf(8, 4, {4});
    SequenceBlocks first;
    const Tokens tokens = tokensFrom(0, 16);
    for (std::int64_t computed = 0; computed < 16; computed += 4) {
        ASSERT_TRUE(allocator.grow(first, computed, computed + 4));
        allocator.publish(first, tokens, computed + 4);
    }
    allocator.release(first);
    SequenceBlocks others[2];
    for (SequenceBlocks& other : others)
        ASSERT_TRUE(allocator.grow(other, 0, 12)); // only two remembered blocks are left, the last ones
    SequenceBlocks sequence;
    EXPECT_EQ(allocator.reusePrefix(sequence, tokensFrom(0, 17)), 16);
    EXPECT_EQ(std::ranges::count(sequence.tables[0], kNoBlock), 3);
}

TEST(BlockAllocator, KnowsTheLongestSequenceThatFits) {
    EXPECT_EQ(allocatorOf(10, 16).capacityTokens(64), 160);
    EXPECT_EQ(allocatorOf(10, 16, {0, 0}).capacityTokens(64), 80);
    EXPECT_EQ(allocatorOf(9, 16, {32}).capacityTokens(64), BlockAllocator::kUnlimited);
    // The window's group takes at most (64 + 32) / 16 + 1 = 7 blocks.
    EXPECT_EQ(allocatorOf(17, 16, {0, 32}).capacityTokens(64), 160);
    EXPECT_FALSE(allocatorOf(10, 16).fits(161, 64));
}

TEST(BlockAllocator, RefusesALayoutWithoutRoom) {
    EXPECT_FALSE(BlockAllocator::create({0, 8, {0}}).ok());
    EXPECT_FALSE(BlockAllocator::create({16, 0, {0}}).ok());
    EXPECT_FALSE(BlockAllocator::create({16, 8, {}}).ok());
    EXPECT_FALSE(BlockAllocator::create({16, 8, {-1}}).ok());
}

/// What a slot of a block holds: the layer group, and all tokens up to this one.
struct Stored {
    std::size_t group = 0;
    Tokens prefix;
    bool operator==(const Stored&) const = default;
};

/// Random sequences over an allocator, next to a model that writes out what every slot holds.
class RandomUse {
public:
    RandomUse(BlockLayout layout, unsigned seed)
        : m_layout(layout), m_allocator(BlockAllocator::create(layout).value()), m_random(seed) {}

    void step() {
        const bool isNew = m_live.empty() || below(4) == 0;
        if (isNew)
            return start();
        const auto index = static_cast<std::size_t>(below(static_cast<std::int64_t>(m_live.size())));
        if (below(6) == 0)
            return end(index);
        advance(index);
    }

    void endAll() {
        while (!m_live.empty())
            end(m_live.size() - 1);
        EXPECT_EQ(m_allocator.pool().available(), m_layout.blocks);
    }

    void checkCounts() const {
        std::set<BlockId> used;
        for (const Live& live : m_live)
            for (const auto& table : live.blocks.tables)
                for (const BlockId block : table)
                    if (block != kNoBlock)
                        used.insert(block);
        ASSERT_EQ(m_allocator.pool().available(), m_layout.blocks - static_cast<std::int64_t>(used.size()));
    }

    std::int64_t reused() const { return m_reused; }
    std::int64_t ranOut() const { return m_ranOut; }

private:
    struct Live {
        SequenceBlocks blocks;
        Tokens tokens;
        std::int64_t computed = 0;
    };

    std::int64_t below(std::int64_t limit) {
        return static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(limit));
    }

    void start() {
        Live live;
        const std::int64_t length = 1 + below(6 * m_layout.blockTokens);
        for (std::int64_t i = 0; i < length; ++i) // few words, so that prefixes meet and part
            live.tokens.push_back(i % m_layout.blockTokens == 0 ? below(3) : 7);
        live.computed = m_allocator.reusePrefix(live.blocks, live.tokens);
        ASSERT_LT(live.computed, length);
        m_reused += live.computed;
        checkVisible(live, live.computed, live.computed);
        m_live.push_back(std::move(live));
    }

    void advance(std::size_t index) {
        Live& live = m_live[index];
        const auto length = static_cast<std::int64_t>(live.tokens.size());
        if (live.computed == length)
            live.tokens.push_back(below(5));
        const std::int64_t next = std::min<std::int64_t>(static_cast<std::int64_t>(live.tokens.size()),
                                                         live.computed + 1 + below(9));
        if (!m_allocator.grow(live.blocks, live.computed, next)) {
            ++m_ranOut;
            return end(index);
        }
        store(live, next);
        for (std::int64_t seen = live.computed; seen < next; ++seen)
            checkVisible(live, seen, next);
        live.computed = next;
        m_allocator.publish(live.blocks, live.tokens, next);
    }

    void store(Live& live, std::int64_t next) {
        for (std::size_t group = 0; group < live.blocks.tables.size(); ++group)
            for (std::int64_t position = live.computed; position < next; ++position) {
                const BlockId block =
                    live.blocks.tables[group][static_cast<std::size_t>(position / m_layout.blockTokens)];
                ASSERT_NE(block, kNoBlock);
                m_memory[{block, position % m_layout.blockTokens}] = {
                    group, Tokens(live.tokens.begin(), live.tokens.begin() + position + 1)};
            }
    }

    /// What the token at position `query` sees of the first `stored` tokens.
    void checkVisible(const Live& live, std::int64_t query, std::int64_t stored) const {
        for (std::size_t group = 0; group < live.blocks.tables.size(); ++group) {
            const std::int64_t window = m_layout.windows[group];
            const std::int64_t first = window == 0 ? 0 : std::max<std::int64_t>(0, query - window + 1);
            for (std::int64_t position = first; position < std::min(query + 1, stored); ++position) {
                const BlockId block =
                    live.blocks.tables[group][static_cast<std::size_t>(position / m_layout.blockTokens)];
                ASSERT_NE(block, kNoBlock);
                const Stored wanted{group, Tokens(live.tokens.begin(), live.tokens.begin() + position + 1)};
                ASSERT_EQ(m_memory.at({block, position % m_layout.blockTokens}), wanted);
            }
        }
    }

    void end(std::size_t index) {
        m_allocator.release(m_live[index].blocks);
        m_live.erase(m_live.begin() + static_cast<std::ptrdiff_t>(index));
    }

    BlockLayout m_layout;
    BlockAllocator m_allocator;
    std::mt19937_64 m_random;
    std::vector<Live> m_live;
    std::map<std::pair<BlockId, std::int64_t>, Stored> m_memory;
    std::int64_t m_reused = 0;
    std::int64_t m_ranOut = 0;
};

TEST(BlockAllocator, HoldsWhatWasStoredWhateverComesAndGoes) {
    const std::vector<BlockLayout> layouts{{4, 24, {0}}, {1, 40, {0}},          {4, 40, {0, 6}},
                                           {3, 16, {5}}, {4, 60, {0, 1, 4, 9}}, {5, 24, {0}, false}};
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        RandomUse use(layouts[i], static_cast<unsigned>(i));
        for (int step = 0; step < 3000; ++step) {
            use.step();
            use.checkCounts();
            if (HasFatalFailure())
                FAIL() << "layout " << i << ", step " << step;
        }
        // The test would show nothing if these never happened.
        EXPECT_EQ(use.reused() > 0, layouts[i].reusePrefixes) << i;
        EXPECT_GT(use.ranOut(), 0) << i;
        use.endAll();
    }
}

} // namespace
} // namespace workbench
