#include "core/graph/sym_int.h"

#include <gtest/gtest.h>

#include <limits>

namespace workbench {
namespace {

std::string canonical(std::string_view text) {
    const Result<SymInt> parsed = SymInt::parse(text);
    return parsed ? parsed->text() : "error: " + parsed.error().message;
}

std::int64_t valueAt(std::string_view text, std::int64_t s27) {
    return SymInt::parse(text).value().evaluate({{"s27", s27}}).value();
}

TEST(SymInt, ConstantsHoldNoText) {
    const SymInt twelve = SymInt::parse("12").value();
    EXPECT_TRUE(twelve.isConstant());
    EXPECT_EQ(twelve.constant(), 12);
    EXPECT_EQ(SymInt::parse("2*3 - 7").value(), SymInt(-1));
    EXPECT_TRUE(SymInt::parse("s27 - s27").value().isConstant());
}

TEST(SymInt, EqualExpressionsHaveEqualText) {
    EXPECT_EQ(canonical("1 + 2*s27"), "2*s27 + 1");
    EXPECT_EQ(canonical("s27 + 1 + s27"), "2*s27 + 1");
    EXPECT_EQ(canonical("s27*(s3 + 1)"), canonical("s27 + s3*s27"));
    EXPECT_EQ(canonical("-(s27 - 5)"), "-s27 + 5");
    EXPECT_EQ(canonical("3*s27**2 - 1"), "3*s27**2 - 1");
    EXPECT_EQ(canonical("Max(s27, 1)"), "Max(1, s27)");
    EXPECT_EQ(canonical("(2*s27 + 4)//2"), "s27 + 2");
    EXPECT_EQ(canonical("((s27//2))"), "s27//2");
    EXPECT_EQ(canonical("1 + 3*(s27//2)"), "3*(s27//2) + 1");
}

TEST(SymInt, CanonicalTextReadsBackAsItself) {
    for (const char* text :
         {"s27", "2*s27 + 1", "s27//2", "(s27 + 1)//2", "3*((s27 + 1)//2) - s3", "Max(1, s27)",
          "2*Max(1, s27 - 1)**2", "(s27//2)%3", "s27%(s3 + 1)", "-s27", "(s27//2)//s3", "Min(4, s27, s3)",
          "-9223372036854775807*s27", "(-s27)//2", "2*(s27//2)"})
        EXPECT_EQ(canonical(canonical(text)), canonical(text)) << text;
}

// The left column is what sympy's srepr prints for the right one (torch 2.11 writes it into archives).
TEST(SymInt, ReadsTheConstructorSpelling) {
    const std::string s27 = "Symbol('s27', positive=True, integer=True)";
    EXPECT_EQ(canonical(s27), "s27");
    EXPECT_EQ(canonical("Mul(Integer(64), " + s27 + ")"), "64*s27");
    EXPECT_EQ(canonical("FloorDiv(Add(" + s27 + ", Integer(1)), Integer(2))"), "(s27 + 1)//2");
    EXPECT_EQ(canonical("PythonMod(" + s27 + ", Integer(3))"), "s27%3");
    EXPECT_EQ(canonical("CleanDiv(" + s27 + ", Integer(2))"), "s27//2");
    EXPECT_EQ(canonical("Add(Mul(Integer(3), Pow(" + s27 + ", Integer(2))), Integer(-1))"), "3*s27**2 - 1");
    EXPECT_EQ(canonical("Min(Integer(7), " + s27 + ")"), "Min(7, s27)");
}

TEST(SymInt, EvaluatesAsPythonDoes) {
    EXPECT_EQ(valueAt("2*s27 + 1", 33), 67);
    EXPECT_EQ(valueAt("(s27 + 1)//2", 4), 2);
    EXPECT_EQ(valueAt("(-s27)//2", 3), -2);
    EXPECT_EQ(valueAt("(-s27)%4", 3), 1);
    EXPECT_EQ(valueAt("Max(1, s27 - 5)", 3), 1);
    EXPECT_EQ(valueAt("Min(7, s27)*s27**2", 3), 27);
}

TEST(SymInt, EvaluationNamesTheSymbolWithoutValue) {
    const Result<std::int64_t> value = SymInt::parse("s27 + s3").value().evaluate({{"s27", 1}});
    ASSERT_FALSE(value);
    EXPECT_NE(value.error().message.find("'s3' has no value"), std::string::npos) << value.error().message;
}

TEST(SymInt, EvaluationRefusesZeroDivisorsAndOverflow) {
    EXPECT_FALSE(SymInt::parse("4//s27").value().evaluate({{"s27", 0}}));
    EXPECT_FALSE(SymInt::parse("s27*s27").value().evaluate({{"s27", std::int64_t{1} << 40}}));
}

TEST(SymInt, ListsItsSymbolsOnce) {
    EXPECT_EQ(SymInt::parse("s27*s3 + Max(1, s27)").value().symbols(),
              (std::vector<std::string>{"s27", "s3"}));
    EXPECT_TRUE(SymInt(4).symbols().empty());
}

TEST(SymInt, ArithmeticKeepsCanonicalForm) {
    const SymInt s27 = SymInt::symbol("s27");
    EXPECT_EQ((s27 * 2 + 1).text(), "2*s27 + 1");
    EXPECT_EQ(s27 + 1 - s27, SymInt(1));
    EXPECT_EQ((SymInt::parse("s27//2").value() * 2).text(), "2*(s27//2)");
    EXPECT_EQ(SymInt(3) * 4 - 2, SymInt(10));
}

TEST(SymInt, ConstantsSaturateInsteadOfWrapping) {
    const std::int64_t big = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ((SymInt(big) + 1).constant(), big);
    EXPECT_EQ((SymInt(big) * -2).constant(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ((SymInt(-big) - big).constant(), std::numeric_limits<std::int64_t>::min());
}

TEST(SymInt, MalformedExpressionsAreErrors) {
    for (const char* text : {"",
                             " ",
                             "s27 +",
                             "(s27",
                             "s27)",
                             "2.5*s27",
                             "foo(s27)",
                             "s27 s3",
                             "99999999999999999999",
                             "s27//0",
                             "s27**-1",
                             "s27**s3",
                             "Symbol('s27",
                             "Symbol()",
                             "Rational(1, 2)",
                             "s27**99",
                             "Max()",
                             "1e5",
                             "'s27'",
                             "-9223372036854775807*s27 - s27"})
        EXPECT_FALSE(SymInt::parse(text)) << text;
    EXPECT_FALSE(SymInt::parse(std::string(100000, '(')));
    EXPECT_FALSE(SymInt::parse(std::string(100000, '-')));
    std::string wide = "s0";
    for (int i = 1; i < 60; ++i)
        wide += " + s" + std::to_string(i);
    EXPECT_FALSE(SymInt::parse("(" + wide + ")**30"));
}

} // namespace
} // namespace workbench
