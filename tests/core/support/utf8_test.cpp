#include "core/support/utf8.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

TEST(Utf8, TakesTextOfEveryLength) {
    for (const char* text : {"", "model", "\u00e9", "\u20ac", "\U0001f600", "\ufffd", "\U0010ffff"})
        EXPECT_TRUE(isUtf8(text)) << text;
}

TEST(Utf8, RefusesWhatNoEncoderWrites) {
    for (const char* text : {"\xff", "a\xc3", "\xc3(", "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"})
        EXPECT_FALSE(isUtf8(text)) << text;
}

TEST(Utf8, RefusesLongFormsSurrogatesAndWhatIsBeyondUnicode) {
    for (const char* text :
         {"\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
        EXPECT_FALSE(isUtf8(text)) << text;
}

} // namespace
} // namespace workbench
