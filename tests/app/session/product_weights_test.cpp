#include "app/session/product_weights.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

using nlohmann::json;

json counts(int quantised, int stored, int precise) {
    const auto count = [](int matrices) -> json {
        return {{"matrices", matrices}, {"bytes", matrices * 1.5e6}};
    };
    return {{"quantised", count(quantised)}, {"stored", count(stored)}, {"precise", count(precise)}};
}

TEST(ProductWeights, SaysWhatStaysAsItIsStored) {
    EXPECT_EQ(describeProducts(counts(1, 8, 0), "int4"),
              "8 matrices that products read stay as they are stored (12.0 MB), 1 is in int4 (1.5 MB)");
    EXPECT_TRUE(leavesProductWeights(counts(1, 8, 0)));
}

TEST(ProductWeights, TellsWhatStaysOnPurposeApart) {
    EXPECT_EQ(describeProducts(counts(9, 0, 1), "int8"),
              "1 matrix that products read stays as it is stored on purpose (1.5 MB: routers, and float32 "
              "among bfloat16), 9 are in int8 (13.5 MB)");
    EXPECT_FALSE(leavesProductWeights(counts(9, 0, 1)));
    EXPECT_EQ(describeProducts(counts(9, 2, 3), "int8"),
              "2 matrices that products read stay as they are stored (3.0 MB), 3 more on purpose (4.5 MB: "
              "routers, and float32 among bfloat16), 9 are in int8 (13.5 MB)");
}

TEST(ProductWeights, SaysNothingWhereNothingIsLeft) {
    EXPECT_EQ(describeProducts(counts(9, 0, 0), "int8"), "");
    for (const json& odd :
         {json(), json("many"), json{{"stored", 3}}, json{{"stored", {{"matrices", "3"}}}}}) {
        EXPECT_EQ(describeProducts(odd, "int8"), "");
        EXPECT_FALSE(leavesProductWeights(odd));
    }
}

} // namespace
} // namespace workbench
