#include "core/support/sha256.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

// Examples of FIPS 180-2, appendix B.
TEST(Sha256, GivesTheDigestsOfTheStandard) {
    EXPECT_EQ(sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256Hex(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheDigestOfTheWhole) {
    const std::string text(300, 'x');
    for (std::size_t cut : {0U, 1U, 55U, 56U, 63U, 64U, 65U, 128U, 300U}) {
        Sha256 hash;
        hash.update(std::string_view(text).substr(0, cut));
        hash.update(std::string_view(text).substr(cut));
        EXPECT_EQ(hash.finishHex(), sha256Hex(text)) << cut;
    }
}

} // namespace
} // namespace workbench
