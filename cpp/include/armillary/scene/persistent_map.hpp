#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "armillary/detail/sha256.hpp"
#include "armillary/detail/trie_difference.hpp"
#include "armillary/detail/trie_node.hpp"
#include "armillary/detail/trie_walk.hpp"

namespace armillary {

/// The value of a PersistentSet; takes no room.
struct Nothing {
  bool operator==(const Nothing&) const = default;
};

/// A map whose copies share what they have in common. Copying is O(1), `find`, `set` and `erase` are O(log n).
///
/// A hash-array-mapped trie, six bits of the hash a level, the most significant first: iteration is in the order of the hashes.
/// Its shape depends on the keys alone, not on what was done to get there. Keys of equal hash cost linear time.
/// What only this map holds is edited in place. A call that throws leaves the map as it was.
/// Threads may read one map, and change different maps that share nodes; who changes a map must be alone with it.
///
/// `Traits` has `uint64_t hash(const Key&)`, `bool equal(const Key&, const Key&)` and, for digests,
/// `Digest digest(const Key&, const Value&)`. For digests that are to agree between machines `hash` must agree as well.
/// With `static constexpr bool kLends = true` a change made under a TrieArena's guard does not count what the copy of a node
/// has in common with the original: cheaper where a map is large and the version before it goes soon.
template <typename Key, typename Value, typename Traits>
class PersistentMap {
 public:
  PersistentMap() = default;
  PersistentMap(const PersistentMap&) = default;
  PersistentMap(PersistentMap&& other) noexcept : root_(std::move(other.root_)), size_(std::exchange(other.size_, 0)) {}
  PersistentMap& operator=(PersistentMap other) noexcept {
    std::swap(root_, other.root_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PersistentMap() = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool contains(const Key& key) const { return find(key) != nullptr; }

  /// Valid until the map is changed or gone.
  [[nodiscard]] const Value* find(const Key& key) const {
    const Entry* entry = root_ ? Walk::find(*root_.get(), Traits::hash(key), key) : nullptr;
    return entry != nullptr ? &entry->value : nullptr;
  }

  /// Fetches from memory what a later call with this key will look at.
  void prefetch(const Key& key) const {
    if (root_) Walk::prefetch(*root_.get(), Traits::hash(key), size_);
  }

  /// The same as `find`, to be changed in place; null also where another map shares it. Valid until the map is copied or changed.
  [[nodiscard]] Value* find_own(const Key& key) { return root_ ? find_own_in(root_, Level{}, Traits::hash(key), key) : nullptr; }

  /// An equal key that is there already stays, and gets the value.
  void set(Key key, Value value) {
    Entry entry{std::move(key), std::move(value)};
    set_entry(Traits::hash(entry.key), entry);
  }
  void set(Key key)
    requires std::same_as<Value, Nothing>
  {
    set(std::move(key), Nothing{});
  }

  /// False where there is no such key.
  bool erase(const Key& key) {
    const std::uint64_t hash = Traits::hash(key);
    if (!root_ || Walk::find(*root_.get(), hash, key) == nullptr) return false;
    erase_known(hash, key);
    return true;
  }

  /// Lets `edit` change the value of a key, made where there is none; a value that is empty then goes.
  template <typename F>
  void update(const Key& key, F edit) {
    const std::uint64_t hash = Traits::hash(key);
    if (Value* own = root_ ? find_own_in(root_, Level{}, hash, key) : nullptr) {
      edit(*own);
      if (own->empty()) erase_known(hash, key);
      return;
    }
    const Entry* known = root_ ? Walk::find(*root_.get(), hash, key) : nullptr;
    Entry entry = known != nullptr ? *known : Entry{key, {}};
    edit(entry.value);
    if (!entry.value.empty())
      set_entry(hash, entry);
    else if (known != nullptr)
      erase_known(hash, key);
  }

  /// Calls f(key, value) in the order of the hashes until it returns false, if it returns anything; false where it did.
  template <typename F>
  bool for_each(F f) const {
    return !root_ || Walk::all(*root_.get(), f);
  }

  /// The same for hashes from `first` to `last`, both included; does not visit what is beyond.
  template <typename F>
  bool for_each_between(std::uint64_t first, std::uint64_t last, F f) const {
    return !root_ || Walk::between(*root_.get(), Level{}, 0, {first, last}, f);
  }

  /// Equal for equal contents. O(what changed since it was last asked of a map that shares nodes with this one).
  [[nodiscard]] Digest digest() const
    requires detail::HasDigest<Traits, Key, Value>
  {
    return root_ ? Walk::digest(*root_.get()) : Sha256().finish();
  }

  /// Calls f(key, value in a, value in b) for entries that differ, with a null pointer for the one that is missing.
  /// Skips what is shared and what has equal digests. Returns how many nodes were looked at.
  template <typename F>
  static std::size_t difference(const PersistentMap& a, const PersistentMap& b, F f) {
    return detail::TrieDifference<Node, Traits, F>(f).compare(a.root_.get(), b.root_.get());
  }

 private:
  struct Entry {
    using KeyType = Key;
    using ValueType = Value;
    [[no_unique_address]] Key key;
    [[no_unique_address]] Value value;
  };
  using Level = detail::TrieLevel;
  using Cache = std::conditional_t<detail::HasDigest<Traits, Key, Value>, detail::DigestCache, detail::NoDigestCache>;
  using Node = detail::TrieNode<Entry, Cache, detail::kMapLends<Traits>>;
  using Ref = typename Node::Ref;
  using Slots = typename Node::Slots;
  using Walk = detail::TrieWalk<Node, Traits>;
  template <typename T>
  using Edit = detail::RowEdit<T>;

  static Edit<Entry> inserted(std::uint32_t at, detail::SlotBits bit, Entry& value) {
    return {Edit<Entry>::Kind::insert, at, &value, bit};
  }
  static Edit<Entry> replaced(std::uint32_t at, detail::SlotBits bit, Entry& value) {
    return {Edit<Entry>::Kind::replace, at, &value, bit};
  }
  static Edit<Entry> removed(std::uint32_t at) { return {Edit<Entry>::Kind::remove, at}; }
  static Edit<Ref> inserted(Slots slots, detail::SlotBits bit, Ref& child) {
    return {Edit<Ref>::Kind::insert, detail::rank(slots.children, bit), &child, bit};
  }
  static Edit<Ref> replaced(Slots slots, detail::SlotBits bit, Ref& child) {
    return {Edit<Ref>::Kind::replace, detail::rank(slots.children, bit), &child, bit};
  }
  static Edit<Ref> removed(Slots slots, detail::SlotBits bit) {
    return {Edit<Ref>::Kind::remove, detail::rank(slots.children, bit), nullptr, bit};
  }

  void set_entry(std::uint64_t hash, Entry& entry) {
    if (!root_) {
      const detail::SlotBits bit = Level{}.bit(hash);
      root_ = Node::edited(nullptr, false, {.entries = bit}, inserted(0, bit, entry));
      size_ = 1;
    } else if (set_in(root_, root_.is_sole(), Level{}, hash, entry)) {
      ++size_;
    }
  }

  void erase_known(std::uint64_t hash, const Key& key) {
    if (size_ == 1)
      root_ = Ref();
    else
      erase_in(root_, root_.is_sole(), Level{}, hash, key);
    --size_;
  }

  // Below, `is_sole` says that only this map reaches `at`: such a node is edited in place, others are copied.
  // A node is replaced or changed as the last thing that is done, and by what cannot throw.

  static Value* find_own_in(Ref& at, Level level, std::uint64_t hash, const Key& key) {
    if (!at.is_sole()) return nullptr;
    at->forget_digest();
    const Slots slots = at->slots();
    const detail::SlotBits bit = level.is_bucket() ? 0 : level.bit(hash);
    if ((slots.children & bit) != 0) {
      Ref& child = at->children()[detail::rank(slots.children, bit)];
      return at->owns_child(bit) ? find_own_in(child, level.next(), hash, key) : nullptr;
    }
    const std::uint32_t i = level.is_bucket() ? Walk::index_in_bucket(*at.get(), key) : detail::rank(slots.entries, bit);
    const bool is_own = at->owns_entry(bit) && i < at->entries().size() && Traits::equal(at->entries()[i].key, key);
    return is_own ? &at->entries()[i].value : nullptr;
  }

  /// True where the key is new.
  static bool set_in(Ref& at, bool is_sole, Level level, std::uint64_t hash, Entry& entry) {
    if (level.is_bucket()) return set_in_bucket(at, is_sole, entry);
    const Slots slots = at->slots();
    const detail::SlotBits bit = level.bit(hash);
    if ((slots.children & bit) != 0) {
      return edit_child(at, is_sole, bit,
                        [&](Ref& child, bool is_sole_child) { return set_in(child, is_sole_child, level.next(), hash, entry); });
    }
    const std::uint32_t i = detail::rank(slots.entries, bit);
    if ((slots.entries & bit) == 0) {
      at = Node::edited(at.get(), is_sole, {slots.entries | bit, slots.children}, inserted(i, bit, entry));
      return true;
    }
    if (Traits::equal(at->entries()[i].key, entry.key)) return set_value(at, is_sole, i, bit, entry);
    split(at, is_sole, level, bit, hash, entry);
    return true;
  }

  static bool set_in_bucket(Ref& at, bool is_sole, Entry& entry) {
    const auto count = static_cast<std::uint32_t>(at->entries().size());
    for (std::uint32_t i = 0; i < count; ++i) {
      if (Traits::equal(at->entries()[i].key, entry.key)) return set_value(at, is_sole, i, 0, entry);
    }
    at = Node::edited(at.get(), is_sole, {}, inserted(count, 0, entry));
    return true;
  }

  static bool set_value(Ref& at, bool is_sole, std::uint32_t i, detail::SlotBits bit, Entry& entry) {
    if (is_sole && at->owns_entry(bit)) {
      static_assert(std::is_nothrow_swappable_v<Value>);
      std::ranges::swap(at->entries()[i].value, entry.value);
      at->forget_digest();
      return false;
    }
    Entry with_key_kept{at->entries()[i].key, std::move(entry.value)};
    if (is_sole) {
      at->set_own_entry(bit, std::move(with_key_kept));
      at->forget_digest();
    } else {
      at = Node::edited(at.get(), false, at->slots(), replaced(i, bit, with_key_kept));
    }
    return false;
  }

  /// An entry that is in the way goes down one level, together with the new one.
  static void split(Ref& at, bool is_sole, Level level, detail::SlotBits bit, std::uint64_t hash, Entry& entry) {
    const Slots slots = at->slots();
    const std::uint32_t i = detail::rank(slots.entries, bit);
    Entry present = at->entries()[i];  // a copy: the original stays until nothing can fail any more
    const std::uint64_t present_hash = Traits::hash(present.key);
    Ref child = pair(level.next(), present_hash, present, hash, entry);
    at = Node::edited(at.get(), is_sole, {slots.entries & ~bit, slots.children | bit}, removed(i), inserted(slots, bit, child));
  }

  static Ref pair(Level level, std::uint64_t hash_a, Entry& a, std::uint64_t hash_b, Entry& b) {
    const Slots one{.entries = level.is_bucket() ? 0 : level.bit(hash_a)};
    const Slots other{.entries = level.is_bucket() ? 0 : level.bit(hash_b)};
    if (!level.is_bucket() && one.entries == other.entries) {
      Ref child = pair(level.next(), hash_a, a, hash_b, b);
      return Node::edited(nullptr, false, {.children = one.entries}, {}, inserted({}, one.entries, child));
    }
    Ref first = Node::edited(nullptr, false, one, inserted(0, one.entries, a));
    const std::uint32_t place = other.entries < one.entries ? 0 : 1;
    return Node::edited(first.get(), true, {one.entries | other.entries}, inserted(place, other.entries, b));
  }

  /// Lets `edit(child, is sole)` change a child of `at`, and answers what it answers.
  template <typename F>
  static auto edit_child(Ref& at, bool is_sole, detail::SlotBits bit, F edit) {
    Ref& child = at->children()[detail::rank(at->slots().children, bit)];
    if (is_sole && at->owns_child(bit)) {
      const auto answer = edit(child, child.is_sole());
      at->forget_digest();
      return answer;
    }
    Ref copy = child;
    const auto answer = edit(copy, false);
    if (copy.get() == child.get()) return answer;
    if (is_sole) {
      at->set_own_child(bit, std::move(copy));
      at->forget_digest();
    } else {
      at = Node::edited(at.get(), false, at->slots(), {}, replaced(at->slots(), bit, copy));
    }
    return answer;
  }

  /// The key is there. Where only one entry would stay below the root, nothing is changed and that entry is
  /// returned: it belongs further up.
  static const Entry* erase_in(Ref& at, bool is_sole, Level level, std::uint64_t hash, const Key& key) {
    if (level.is_bucket()) return erase_entry(at, is_sole, Walk::index_in_bucket(*at.get(), key), {});
    const Slots slots = at->slots();
    const detail::SlotBits bit = level.bit(hash);
    if ((slots.entries & bit) == 0) return erase_in_child(at, is_sole, level, hash, key);
    const std::uint32_t i = detail::rank(slots.entries, bit);
    const Slots left{slots.entries & ~bit, slots.children};
    if (!level.is_root()) return erase_entry(at, is_sole, i, left);
    at = Node::edited(at.get(), is_sole, left, removed(i));
    return nullptr;
  }

  static const Entry* erase_entry(Ref& at, bool is_sole, std::uint32_t i, Slots left) {
    if (at->entries().size() == 2 && left.children == 0) return &at->entries()[1 - i];
    at = Node::edited(at.get(), is_sole, left, removed(i));
    return nullptr;
  }

  static const Entry* erase_in_child(Ref& at, bool is_sole, Level level, std::uint64_t hash, const Key& key) {
    const Slots slots = at->slots();
    const detail::SlotBits bit = level.bit(hash);
    const Entry* lone = edit_child(at, is_sole, bit, [&](Ref& child, bool is_sole_child) {
      return erase_in(child, is_sole_child, level.next(), hash, key);
    });
    const bool would_be_lone = slots.entries == 0 && slots.children == bit && !level.is_root();
    if (lone == nullptr || would_be_lone) return lone;
    Entry raised = *lone;
    at = Node::edited(at.get(), is_sole, {slots.entries | bit, slots.children & ~bit},
                      inserted(detail::rank(slots.entries, bit), bit, raised), removed(slots, bit));
    return nullptr;
  }

  Ref root_;
  std::size_t size_ = 0;
};

template <typename Key, typename Value, typename Traits>
inline constexpr bool detail::kIsRelocatable<PersistentMap<Key, Value, Traits>> = true;

/// Keys only: `Traits::digest`, if any, takes (key, Nothing).
template <typename Key, typename Traits>
using PersistentSet = PersistentMap<Key, Nothing, Traits>;

}  // namespace armillary
