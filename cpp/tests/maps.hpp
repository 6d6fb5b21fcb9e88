#pragma once

// Persistent maps with every kind of hash, and the plain map that they must equal.

#include <cstdint>
#include <map>
#include <string>

#include "armillary/scene/persistent_map.hpp"

namespace tests {

class SharedText;

}  // namespace tests

template <>
inline constexpr bool armillary::detail::kIsRelocatable<tests::SharedText> = true;

namespace tests {

using armillary::Digest;
using armillary::Sha256;

inline std::uint64_t low_bits(std::uint64_t key) { return key; }
inline std::uint64_t high_bits(std::uint64_t key) { return key << 56; }
inline std::uint64_t scattered(std::uint64_t key) { return key * 0x9e3779b97f4a7c15; }
inline std::uint64_t colliding(std::uint64_t key) { return (key % 5) * 0x1234567890abcdef; }

/// `Spread`: which hash a key has.
template <std::uint64_t (*Spread)(std::uint64_t)>
struct KeyTraits {
  static std::uint64_t hash(const std::uint64_t& key) { return Spread(key); }
  static bool equal(const std::uint64_t& a, const std::uint64_t& b) { return a == b; }
};

template <std::uint64_t (*Spread)(std::uint64_t)>
struct DigestTraits : KeyTraits<Spread> {
  static Digest digest(const std::uint64_t& key, const std::string& value) {
    Sha256 hash;
    hash.add(key);
    hash.add(value);
    return hash.finish();
  }
};

template <std::uint64_t (*Spread)(std::uint64_t)>
using Map = armillary::PersistentMap<std::uint64_t, std::string, DigestTraits<Spread>>;
/// The same without digests: what does not differ must be found by looking.
template <std::uint64_t (*Spread)(std::uint64_t)>
using PlainMap = armillary::PersistentMap<std::uint64_t, std::string, KeyTraits<Spread>>;

/// The same, whose copies borrow children from each other under a TrieArena's guard.
template <std::uint64_t (*Spread)(std::uint64_t)>
struct LendingTraits : DigestTraits<Spread> {
  static constexpr bool kLends = true;
};
template <std::uint64_t (*Spread)(std::uint64_t)>
using LendingMap = armillary::PersistentMap<std::uint64_t, std::string, LendingTraits<Spread>>;

/// A text whose address alone is copied: maps lend it, too.
class SharedText {
 public:
  SharedText() : SharedText(std::string()) {}
  SharedText(const std::string& text) : text_(Pointer::make(text)) {}
  [[nodiscard]] bool empty() const { return text_->value.empty(); }
  operator const std::string&() const { return text_->value; }

 private:
  struct Text : armillary::detail::Counted {
    explicit Text(std::string text) : value(std::move(text)) {}
    std::string value;
  };
  using Pointer = armillary::detail::CountedPtr<const Text>;
  Pointer text_;
};
template <std::uint64_t (*Spread)(std::uint64_t)>
using AllLendingMap = armillary::PersistentMap<std::uint64_t, SharedText, LendingTraits<Spread>>;
using Model = std::map<std::uint64_t, std::string>;

template <typename M>
bool equals(const M& map, const Model& model) {
  Model found;
  map.for_each([&](std::uint64_t key, const std::string& value) { found[key] = value; });
  return found == model && map.size() == model.size();
}

}  // namespace tests
