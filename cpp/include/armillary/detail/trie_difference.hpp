#pragma once

// What differs between two tries.

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "armillary/detail/trie_walk.hpp"

namespace armillary::detail {

/// Tells `f` which entries differ. A canonical shape puts a key at the same place in both tries, or at most
/// further down where one has more keys around it.
template <typename Node, typename Traits, typename F>
class TrieDifference {
 public:
  explicit TrieDifference(F& f) : f_(f) {}

  /// Either may be null: then everything in the other differs. Returns how many nodes were looked at.
  std::size_t compare(const Node* a, const Node* b) {
    compare_nodes(a, b);
    return looked_at_;
  }

 private:
  using Walk = TrieWalk<Node, Traits>;
  using Entry = typename Node::EntryType;
  using Value = typename Entry::ValueType;
  static constexpr bool kHasDigest = HasDigest<Traits, typename Entry::KeyType, Value>;
  static_assert(kHasDigest || std::equality_comparable<Value>, "values that are to be compared need == or Traits::digest");

  struct Slot {
    const Entry* entry = nullptr;
    const Node* child = nullptr;
  };

  void compare_nodes(const Node* a, const Node* b) {
    if (a == b) return;
    ++looked_at_;
    if (are_known_equal(a, b)) return;
    if ((a != nullptr ? a : b)->is_bucket()) return compare_buckets(a, b);
    const SlotBits used = used_slots(a) | used_slots(b);
    for (SlotBits left = used; left != 0; left &= left - 1) {
      const SlotBits bit = left & (~left + 1);
      compare_slots(slot(a, bit), slot(b, bit));
    }
  }

  static bool are_known_equal(const Node* a, const Node* b) {
    if constexpr (kHasDigest) {
      return a != nullptr && b != nullptr && Walk::digest(*a) == Walk::digest(*b);
    } else {
      return false;
    }
  }

  static SlotBits used_slots(const Node* node) { return node != nullptr ? node->slots().entries | node->slots().children : 0; }

  static Slot slot(const Node* node, SlotBits bit) {
    if (node == nullptr) return {};
    if ((node->slots().entries & bit) != 0) return {.entry = &node->entry_at(bit)};
    return {.child = (node->slots().children & bit) != 0 ? node->child_at(bit) : nullptr};
  }

  void compare_slots(Slot a, Slot b) {
    if (a.entry == nullptr && b.entry == nullptr) return compare_nodes(a.child, b.child);
    if (a.child != nullptr) return compare_many(*a.child, *b.entry, [&](auto* many, auto* one) { report(many, one); });
    if (b.child != nullptr) return compare_many(*b.child, *a.entry, [&](auto* many, auto* one) { report(one, many); });
    const bool is_same_key = a.entry != nullptr && b.entry != nullptr && Traits::equal(a.entry->key, b.entry->key);
    if (is_same_key) return report(a.entry, b.entry);
    if (a.entry != nullptr) report(a.entry, nullptr);
    if (b.entry != nullptr) report(nullptr, b.entry);
  }

  /// All below `node` on one side, a single entry on the other.
  template <typename Report>
  void compare_many(const Node& node, const Entry& one, Report report_both) {
    const Entry* const none = nullptr;
    bool is_found = false;
    for_each_entry(node, [&](const Entry& entry) {
      const bool is_it = Traits::equal(entry.key, one.key);
      is_found = is_found || is_it;
      report_both(&entry, is_it ? &one : none);
    });
    if (!is_found) report_both(none, &one);
  }

  template <typename Act>
  void for_each_entry(const Node& node, const Act& act) {
    ++looked_at_;
    for (const Entry& entry : node.entries()) act(entry);
    for (const auto& child : node.children()) for_each_entry(*child.get(), act);
  }

  void compare_buckets(const Node* a, const Node* b) {
    if (a != nullptr) {
      for (const Entry& entry : a->entries()) report(&entry, in_bucket(b, entry));
    }
    if (b == nullptr) return;
    for (const Entry& entry : b->entries()) {
      if (in_bucket(a, entry) == nullptr) report(nullptr, &entry);
    }
  }

  static const Entry* in_bucket(const Node* bucket, const Entry& like) {
    if (bucket == nullptr) return nullptr;
    const std::uint32_t i = Walk::index_in_bucket(*bucket, like.key);
    return i < bucket->entries().size() ? &bucket->entries()[i] : nullptr;
  }

  void report(const Entry* a, const Entry* b) {
    if (a != nullptr && b != nullptr && are_equal(*a, *b)) return;
    f_((a != nullptr ? a : b)->key, a != nullptr ? &a->value : nullptr, b != nullptr ? &b->value : nullptr);
  }

  static bool are_equal(const Entry& a, const Entry& b) {
    if constexpr (std::equality_comparable<Value>) {
      if (a.value == b.value) return true;
    }
    if constexpr (kHasDigest) return Walk::digest(a) == Walk::digest(b);
    return false;
  }

  F& f_;
  std::size_t looked_at_ = 0;
};

}  // namespace armillary::detail
