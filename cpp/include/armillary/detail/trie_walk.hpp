#pragma once

// How a PersistentMap reads its nodes.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "armillary/detail/sha256.hpp"
#include "armillary/detail/trie_node.hpp"

namespace armillary::detail {

template <typename Traits, typename Key, typename Value>
concept HasDigest = requires(const Key& key, const Value& value) {
  { Traits::digest(key, value) } -> std::same_as<Digest>;
};

/// How far down a node is: which bits of a hash choose its slot. Ten levels of six bits, one of four, then buckets.
class TrieLevel {
 public:
  [[nodiscard]] bool is_root() const { return shift_ == kRootShift; }
  [[nodiscard]] bool is_bucket() const { return shift_ < -kBits + 1; }
  [[nodiscard]] TrieLevel next() const { return TrieLevel(shift_ - kBits); }

  [[nodiscard]] SlotBits bit(std::uint64_t hash) const {
    const std::uint64_t slot = shift_ >= 0 ? hash >> shift_ : hash << -shift_;
    return SlotBits{1} << (slot & 63);
  }
  /// The smallest hash of a slot, and the largest.
  [[nodiscard]] std::uint64_t first_hash(std::uint64_t first_of_node, std::uint32_t slot) const {
    return first_of_node | (shift_ >= 0 ? std::uint64_t{slot} << shift_ : std::uint64_t{slot} >> -shift_);
  }
  [[nodiscard]] std::uint64_t last_hash(std::uint64_t first_of_slot) const {
    return shift_ >= 0 ? first_of_slot | ((std::uint64_t{1} << shift_) - 1) : first_of_slot;
  }

  TrieLevel() = default;

 private:
  static constexpr int kBits = 6;
  static constexpr int kRootShift = 64 - kBits;

  explicit TrieLevel(int shift) : shift_(shift) {}

  int shift_ = kRootShift;  // -2 at the level of the last four bits, -8 for buckets
};

struct HashRange {
  std::uint64_t first;
  std::uint64_t last;

  [[nodiscard]] bool contains(std::uint64_t hash) const { return first <= hash && hash <= last; }
};

template <typename Node, typename Traits>
struct TrieWalk {
  using Entry = typename Node::EntryType;
  using Key = typename Entry::KeyType;

  [[nodiscard]] static const Entry* find(const Node& root, std::uint64_t hash, const Key& key) {
    const Node* node = &root;
    for (TrieLevel level; !level.is_bucket(); level = level.next()) {
      const SlotBits bit = level.bit(hash);
      if ((node->slots().entries & bit) != 0) {
        const Entry& entry = node->entry_at(bit);
        return Traits::equal(entry.key, key) ? &entry : nullptr;
      }
      if ((node->slots().children & bit) == 0) return nullptr;
      node = node->child_at(bit);
    }
    const std::uint32_t i = index_in_bucket(*node, key);
    return i < node->entries().size() ? &node->entries()[i] : nullptr;
  }

  /// Nodes that are few are in the cache already; of the others the first on the way is fetched, without waiting for it.
  static void prefetch(const Node& root, std::uint64_t hash, std::size_t size) {
    const Node* node = &root;
    TrieLevel level;
    for (std::size_t nodes = 64; nodes < size && (node->slots().children & level.bit(hash)) != 0; nodes *= 64) {
      node = node->child_at(level.bit(hash));
      level = level.next();
    }
    __builtin_prefetch(node);
  }

  /// The number of entries where it is not there.
  [[nodiscard]] static std::uint32_t index_in_bucket(const Node& bucket, const Key& key) {
    const auto has_key = [&](const Entry& entry) { return Traits::equal(entry.key, key); };
    return static_cast<std::uint32_t>(std::ranges::find_if(bucket.entries(), has_key) - bucket.entries().begin());
  }

  template <typename F>
  static bool all(const Node& node, F& f) {
    if (node.is_bucket()) return std::ranges::all_of(node.entries(), [&](const Entry& entry) { return goes_on(f, entry); });
    return for_each_slot(node, [&](std::uint32_t, const Entry* entry, const Node* child) {
      return entry != nullptr ? goes_on(f, *entry) : all(*child, f);
    });
  }

  template <typename F>
  static bool between(const Node& node, TrieLevel level, std::uint64_t first_of_node, HashRange range, F& f) {
    return for_each_slot(node, [&](std::uint32_t slot, const Entry* entry, const Node* child) {
      const std::uint64_t first = level.first_hash(first_of_node, slot);
      const std::uint64_t last = level.last_hash(first);
      if (last < range.first || range.last < first) return true;
      const bool is_inside = range.contains(first) && range.contains(last);
      if (entry != nullptr) return !(is_inside || range.contains(Traits::hash(entry->key))) || goes_on(f, *entry);
      return is_inside ? all(*child, f) : between(*child, level.next(), first, range, f);
    });
  }

  [[nodiscard]] static Digest digest(const Node& node) {
    return node.digest_cache().get([&] { return node.is_bucket() ? bucket_digest(node) : branch_digest(node); });
  }

  [[nodiscard]] static Digest digest(const Entry& entry) { return Traits::digest(entry.key, entry.value); }

  /// f(slot, entry or null, child or null) in the order of the slots, until it returns false; false where it did.
  template <typename F>
  static bool for_each_slot(const Node& branch, F f) {
    const auto slots = branch.slots();
    const Entry* entry = branch.entries().data();
    const auto* child = branch.children().data();
    for (SlotBits left = slots.entries | slots.children; left != 0; left &= left - 1) {
      const SlotBits bit = left & (~left + 1);
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(left));
      const bool is_entry = (slots.entries & bit) != 0;
      if (!(is_entry ? f(slot, entry++, nullptr) : f(slot, nullptr, (child++)->get()))) return false;
    }
    return true;
  }

 private:
  template <typename F>
  static bool goes_on(F& f, const Entry& entry) {
    if constexpr (std::is_void_v<decltype(f(entry.key, entry.value))>) {
      f(entry.key, entry.value);
      return true;
    } else {
      return f(entry.key, entry.value);
    }
  }

  static Digest branch_digest(const Node& branch) {
    Sha256 hash;
    hash.add(branch.slots().entries);
    hash.add(branch.slots().children);
    for (const Entry& entry : branch.entries()) hash.add(digest(entry));
    for (const auto& child : branch.children()) hash.add(digest(*child.get()));
    return hash.finish();
  }

  /// A bucket keeps its entries in the order in which they came, which must not be seen here.
  static Digest bucket_digest(const Node& bucket) {
    std::vector<Digest> digests;
    for (const Entry& entry : bucket.entries()) digests.push_back(digest(entry));
    std::ranges::sort(digests);
    Sha256 hash;
    hash.add(SlotBits{0});  // no branch has no slots
    hash.add(SlotBits{0});
    for (const Digest& digest : digests) hash.add(digest);
    return hash.finish();
  }
};

}  // namespace armillary::detail
