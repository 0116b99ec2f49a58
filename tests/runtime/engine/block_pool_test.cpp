#include "runtime/engine/block_pool.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

TEST(BlockPool, GivesEveryBlockOnceAndThenNone) {
    BlockPool pool(3);
    EXPECT_EQ(pool.allocate(), 0);
    EXPECT_EQ(pool.allocate(), 1);
    EXPECT_EQ(pool.allocate(), 2);
    EXPECT_EQ(pool.allocate(), std::nullopt);
    pool.release(1);
    EXPECT_EQ(pool.allocate(), 1);
}

TEST(BlockPool, KeepsABlockUntilItsLastReferenceIsGone) {
    BlockPool pool(1);
    const BlockId block = *pool.allocate();
    pool.publish(block, "a");
    EXPECT_EQ(pool.reuse("a"), block);
    pool.release(block);
    EXPECT_EQ(pool.allocate(), std::nullopt);
    pool.release(block);
    EXPECT_EQ(pool.available(), 1);
}

TEST(BlockPool, FindsAPublishedBlockAfterItsRelease) {
    BlockPool pool(2);
    const BlockId block = *pool.allocate();
    pool.publish(block, "a");
    pool.release(block);
    EXPECT_EQ(pool.remembered(), 1);
    EXPECT_EQ(pool.reuse("a"), block);
    EXPECT_EQ(pool.remembered(), 0);
    EXPECT_EQ(pool.reuse("b"), std::nullopt);
}

TEST(BlockPool, ForgetsTheBlockThatWasUnusedLongestAndOnlyWhenNoBlankOneIsLeft) {
    BlockPool pool(3);
    for (const char* key : {"a", "b"})
        pool.publish(*pool.allocate(), key);
    pool.release(1); // b
    pool.release(0); // a
    EXPECT_EQ(pool.allocate(), 2);
    EXPECT_TRUE(pool.find("a") && pool.find("b"));
    EXPECT_EQ(pool.allocate(), 1);
    EXPECT_FALSE(pool.find("b"));
    EXPECT_TRUE(pool.find("a"));
}

TEST(BlockPool, UseMakesABlockYoungAgain) {
    BlockPool pool(2);
    for (const char* key : {"a", "b"})
        pool.publish(*pool.allocate(), key);
    pool.release(0); // a
    pool.release(1); // b
    pool.release(*pool.reuse("a"));
    EXPECT_EQ(pool.allocate(), 1);
    EXPECT_TRUE(pool.find("a"));
}

TEST(BlockPool, KeepsTheFirstBlockOfAKey) {
    BlockPool pool(2);
    pool.publish(*pool.allocate(), "a");
    const BlockId second = *pool.allocate();
    pool.publish(second, "a");
    EXPECT_EQ(pool.find("a"), 0);
    pool.release(second);
    EXPECT_EQ(pool.remembered(), 0);
    EXPECT_EQ(pool.available(), 1);
}

} // namespace
} // namespace workbench
