#include "core/graph/op_classes.h"
#include "core/graph/op_kinds.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace workbench {
namespace {

/// "aten.add.Tensor" of "aten::add" and "Tensor".
std::string opName(const c10::OperatorName& name) {
    std::string op = name.name;
    op.replace(op.find("::"), 2, ".");
    return op + "." + (name.overload_name.empty() ? "default" : name.overload_name);
}

TEST(OpClasses, ElementwiseOpsAreThoseThatTorchTagsAsPointwiseAndCopies) {
    const std::set<std::string, std::less<>> copies{"aten.clone", "aten._to_copy"};
    // torch leaves the tag out of these: leaky_relu(x) = max(x, 0) + slope * min(x, 0) and its like.
    const std::set<std::string, std::less<>> untagged{"aten.leaky_relu", "aten.hardswish", "aten.log_sigmoid",
                                                      "aten.rsub"};
    int seen = 0;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
        const std::string op = opName(name);
        if (!isElementwise(baseName(op)) || isMutation(op) || copies.contains(baseName(op)) ||
            untagged.contains(baseName(op)))
            continue;
        const auto found = c10::Dispatcher::singleton().findSchema(name);
        ASSERT_TRUE(found) << op;
        EXPECT_TRUE(found->hasTag(at::Tag::pointwise)) << op;
        ++seen;
    }
    EXPECT_GE(seen, 29); // each of the others, most with several overloads
}

} // namespace
} // namespace workbench
