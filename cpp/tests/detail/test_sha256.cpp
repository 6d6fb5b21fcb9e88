// The examples of FIPS 180-4 and of the NIST test vectors, and that it does not matter how a message is cut.

#include <cstddef>
#include <span>
#include <string>

#include "armillary/detail/sha256.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hex(hash.finish());
}

}  // namespace

TEST(sha256_examples, "SHA-256 gives the published digests") {
  CHECK(hash_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash_of(
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu") ==
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(hash_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(sha256_pieces, "a message may be added in pieces") {
  const std::string text(300, 'x');
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.add(std::string_view(text).substr(0, cut));
    hash.add(std::string_view(text).substr(cut));
    CHECK(hex(hash.finish()) == hash_of(text));
  }
}

TEST(sha256_numbers, "a number is eight bytes, the least significant first") {
  Sha256 hash;
  hash.add(std::uint64_t{0x6867666564636261});
  CHECK(hex(hash.finish()) == hash_of("abcdefgh"));
}
