#pragma once

// The nodes of a PersistentMap: counted, shared between maps, changed only by the one map that owns them.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "armillary/detail/counted_ptr.hpp"
#include "armillary/detail/sha256.hpp"
#include "armillary/detail/trie_arena.hpp"

namespace armillary::detail {

/// A digest that is found when first asked for. Several threads may ask; none waits for another.
class DigestCache {
 public:
  template <typename Compute>
  [[nodiscard]] Digest get(Compute compute) const {
    if (state_.load(std::memory_order_acquire) == State::known) return digest_;
    const Digest digest = compute();
    State expected = State::unknown;
    if (state_.compare_exchange_strong(expected, State::writing, std::memory_order_relaxed)) {
      digest_ = digest;
      state_.store(State::known, std::memory_order_release);
    }
    return digest;
  }
  /// Only while nobody else can read.
  void forget() { state_.store(State::unknown, std::memory_order_relaxed); }

 private:
  enum class State : std::uint32_t { unknown, writing, known };
  mutable std::atomic<State> state_{State::unknown};
  mutable Digest digest_;
};

struct NoDigestCache {
  void forget() {}
};

/// Which of the 64 slots of a node.
using SlotBits = std::uint64_t;

/// std::popcount is a call into a library where the machine may lack an instruction for it: bits in pairs, fours, bytes.
[[nodiscard]] inline std::uint32_t bit_count(SlotBits bits) {
  bits -= bits >> 1 & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
  return static_cast<std::uint32_t>(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/// How many bits of `bits` are below `bit`.
[[nodiscard]] inline std::uint32_t rank(SlotBits bits, SlotBits bit) { return bit_count(bits & (bit - 1)); }

/// What becomes of a row of values while it goes from one node to the next.
template <typename T>
struct RowEdit {
  enum class Kind { keep, insert, replace, remove };
  Kind kind = Kind::keep;
  std::uint32_t at = 0;
  T* value = nullptr;  // moved from; of `insert` and `replace`
  SlotBits bit = 0;    // its slot; none in a bucket

  [[nodiscard]] std::uint32_t size_after(std::uint32_t size) const {
    return size + (kind == Kind::insert ? 1 : 0) - (kind == Kind::remove ? 1 : 0);
  }
  /// How many values stay before the edit, and where those after it begin.
  [[nodiscard]] std::size_t kept_before(std::size_t size) const { return kind == Kind::keep ? size : at; }
  [[nodiscard]] std::size_t next_in(std::size_t size) const {
    return kept_before(size) + (kind == Kind::remove || kind == Kind::replace ? 1 : 0);
  }
};

/// Whether the nodes of a map lend to each other.
template <typename Traits>
inline constexpr bool kMapLends = false;
template <typename Traits>
  requires requires { Traits::kLends; }
inline constexpr bool kMapLends<Traits> = Traits::kLends;

/// A share in a node; the last one frees it.
template <typename Node>
class NodeRef {
 public:
  NodeRef() = default;
  NodeRef(const NodeRef& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) node_->shares_.add();
  }
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() {
    if (node_ != nullptr) Node::drop(node_);
  }

  /// Nobody else sees the node, provided that nobody else sees this share.
  [[nodiscard]] bool is_sole() const { return node_->is_here() && node_->shares_.is_one() && node_->borrowers_ == 0; }
  [[nodiscard]] const Node* get() const { return node_; }
  [[nodiscard]] Node* get() { return node_; }
  [[nodiscard]] const Node* operator->() const { return node_; }
  [[nodiscard]] Node* operator->() { return node_; }
  [[nodiscard]] explicit operator bool() const { return node_ != nullptr; }

 private:
  friend Node;
  explicit NodeRef(Node* counted_once) : node_(counted_once) {}

  Node* node_ = nullptr;
};

/// A branch: up to 64 slots, each empty, an entry or a child. A bucket: the entries of one hash, and no slots.
///
/// One block of memory: this header, the entries in the order of their slots, the children likewise.
///
/// Where both are of one arena, a copy borrows the children and entries that it has in common with the original instead of
/// counting them: what lies anywhere in memory would be fetched for that. When the original goes it leaves them to the copy;
/// as long as it has several copies it waits for all but one of them to go. All of that happens under the lock of the arena.
/// Of a node of another arena nothing but the count is changed, and what it holds is only read.
template <typename Entry, typename Cache, bool kLends>
class TrieNode {
 public:
  using EntryType = Entry;
  using Ref = NodeRef<TrieNode>;

  /// Bit i tells what slot i holds; never both.
  struct Slots {
    SlotBits entries = 0;
    SlotBits children = 0;
  };

  /// `old`, or a node without anything, with both edits made. O(1) but for the rows, which have at most 64 places in a branch.
  /// Values are moved out of `old` where `may_move`; when this throws, `old` is as it was.
  [[nodiscard]] static Ref edited(TrieNode* old, bool may_move, Slots slots, RowEdit<Entry> entry, RowEdit<Ref> child = {}) {
    const bool only_child = entry.kind == RowEdit<Entry>::Kind::keep && child.kind == RowEdit<Ref>::Kind::replace;
    Ref made = kCopiesBytes && only_child ? with_child(*old, child) : with_rows(old, may_move, slots, entry, child);
    made->slots_ = slots;
    made->owned_ = {kLendsEntries ? entry.bit & slots.entries : slots.entries, child.bit & slots.children};
    if (old == nullptr) return made;
    if (may_move)
      old->hand_over(*made.get());
    else
      made->borrow(*old);
    return made;
  }

  [[nodiscard]] Slots slots() const { return slots_; }
  [[nodiscard]] bool is_bucket() const { return (slots_.entries | slots_.children) == 0; }
  [[nodiscard]] std::span<const Entry> entries() const { return {entry_row(), entry_count_}; }
  [[nodiscard]] std::span<Entry> entries() { return {entry_row(), entry_count_}; }
  [[nodiscard]] std::span<const Ref> children() const { return {child_row(), child_count_}; }
  [[nodiscard]] std::span<Ref> children() { return {child_row(), child_count_}; }

  [[nodiscard]] const Entry& entry_at(SlotBits bit) const { return entry_row()[rank(slots_.entries, bit)]; }
  [[nodiscard]] const TrieNode* child_at(SlotBits bit) const { return child_row()[rank(slots_.children, bit)].get(); }

  /// Whether a child or an entry is this node's own, and not borrowed. A bucket borrows nothing.
  [[nodiscard]] bool owns_child(SlotBits bit) const { return (owned_.children & bit) != 0; }
  [[nodiscard]] bool owns_entry(SlotBits bit) const { return bit == 0 || (owned_.entries & bit) != 0; }
  /// In place of one that is borrowed.
  void set_own_child(SlotBits bit, Ref child) {
    new (&child_row()[rank(slots_.children, bit)]) Ref(std::move(child));
    owned_.children |= bit;
  }
  void set_own_entry(SlotBits bit, Entry entry) {
    new (&entry_row()[rank(slots_.entries, bit)]) Entry(std::move(entry));
    owned_.entries |= bit;
  }

  [[nodiscard]] const Cache& digest_cache() const { return cache_; }
  void forget_digest() { cache_.forget(); }

 private:
  friend Ref;
  static_assert(alignof(Entry) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static constexpr bool kLendsEntries = kLends && !std::is_trivially_destructible_v<Entry> &&
                                        kIsRelocatable<typename Entry::KeyType> && kIsRelocatable<typename Entry::ValueType>;

  static constexpr bool kCopiesBytes = kLendsEntries || std::is_trivially_copyable_v<Entry>;

  TrieNode(std::uint32_t child_count, TrieArena* arena) : child_count_(child_count), arena_(arena) {}
  ~TrieNode() {
    if (!kLendsEntries || is_bucket()) std::ranges::destroy(entries());
  }

  static TrieNode* make(std::uint32_t entry_count, std::uint32_t child_count) {
    TrieArena* arena = kLends ? TrieArena::current() : nullptr;
    const std::size_t size = size_of(entry_count, child_count);
    return new (arena != nullptr ? arena->take(size) : ::operator new(size)) TrieNode(child_count, arena);
  }
  static void destroy(TrieNode* node) {
    const std::size_t size = size_of(node->entry_count_, node->child_count_);
    TrieArena* arena = node->arena_;
    node->~TrieNode();
    if (arena != nullptr)
      arena->give(node, size);
    else
      ::operator delete(node);
  }

  /// The usual case, above what is edited: the rows stay where they are.
  static Ref with_child(const TrieNode& old, RowEdit<Ref> child) {
    Ref made(make(old.entry_count_, old.child_count_));
    const std::size_t bytes = size_of(old.entry_count_, old.child_count_) - entry_offset();
    std::memcpy(static_cast<void*>(made->entry_row()), old.entry_row(), bytes);
    made->entry_count_ = old.entry_count_;
    new (made->child_row() + child.at) Ref(std::move(*child.value));
    return made;
  }

  static Ref with_rows(TrieNode* old, bool may_move, Slots slots, RowEdit<Entry> entry, RowEdit<Ref> child) {
    const std::span<Entry> entries = old != nullptr ? old->entries() : std::span<Entry>{};
    const std::span<Ref> children = old != nullptr ? old->children() : std::span<Ref>{};
    const std::uint32_t entry_count = entry.size_after(static_cast<std::uint32_t>(entries.size()));
    Ref made(make(entry_count, child.size_after(static_cast<std::uint32_t>(children.size()))));
    if (kLendsEntries && (slots.entries | slots.children) != 0) {
      take_bytes(entries, made->entry_row(), entry);
      made->entry_count_ = entry_count;
    } else {
      made->take_entries(entries, may_move, entry);
    }
    take_bytes(children, made->child_row(), child);
    return made;
  }

  // -- Shares and loans

  /// Whether this thread may change more of it than its count.
  [[nodiscard]] bool is_here() const { return !kLends || arena_ == nullptr || arena_->is_current(); }

  static void drop(TrieNode* node) {
    if (!node->is_here())
      drop_elsewhere(node);
    else if (node->shares_.drop())
      leave(node);
  }

  /// The last share is dropped under the lock of its arena.
  [[gnu::noinline]] static void drop_elsewhere(TrieNode* node) {
    if (!node->shares_.drop_unless_last())
      node->arena_->defer(node, [](void* deferred) { drop(static_cast<TrieNode*>(deferred)); });
  }

  /// Nobody holds the node any more, but copies of it may need its children.
  static void leave(TrieNode* node) {
    if (node->borrowers_ > 1) return;
    TrieNode* heir = node->borrowers_ == 1 ? reinterpret_cast<TrieNode*>(node->borrower_sum_) : nullptr;
    TrieNode* lender = node->lender_;
    node->return_to_lender();
    if (heir != nullptr) heir->lender_ = nullptr;
    if (heir != nullptr && lender != nullptr) heir->borrow_from(*lender);
    node->leave_to(heir);
    destroy(node);
    if (lender != nullptr && lender->shares_.is_none()) leave(lender);
  }

  /// What the heir borrows is what it has in common with this node: a node that lends is not changed.
  void leave_to(TrieNode* heir) {
    if (heir != nullptr) hand_over_owned(*heir);
    for_each_bit(owned_.children, [this](SlotBits bit) { child_row()[rank(slots_.children, bit)].~Ref(); });
    if constexpr (kLendsEntries)
      for_each_bit(owned_.entries, [this](SlotBits bit) { entry_row()[rank(slots_.entries, bit)].~Entry(); });
  }

  void borrow(TrieNode& original) {
    const Slots common = borrowed();
    if ((common.entries | common.children) == 0) return;
    if (arena_ != nullptr && arena_ == original.arena_)
      borrow_from(original);
    else
      share(original, common);
  }

  /// The bytes are there already: what they refer to is counted.
  void share(const TrieNode& original, Slots common) {
    for_each_bit(common.children, [&](SlotBits bit) { child_row()[rank(slots_.children, bit)].node_->shares_.add(); });
    if constexpr (kLendsEntries) {
      static_assert(std::is_nothrow_copy_constructible_v<Entry>);
      for_each_bit(common.entries,
                   [&](SlotBits bit) { new (&entry_row()[rank(slots_.entries, bit)]) Entry(original.entry_at(bit)); });
    }
    owned_ = slots_;
  }

  /// Everything but what `next` does not have; then this node goes.
  void hand_over(TrieNode& next) {
    hand_over_owned(next);
    TrieNode* lender = lender_;
    if (lender == nullptr) return;
    return_to_lender();
    next.borrow_from(*lender);
  }

  void hand_over_owned(TrieNode& next) {
    const Slots common = next.borrowed();
    next.owned_.entries |= owned_.entries & common.entries;
    next.owned_.children |= owned_.children & common.children;
    owned_.entries &= ~common.entries;
    owned_.children &= ~common.children;
  }

  [[nodiscard]] Slots borrowed() const { return {slots_.entries & ~owned_.entries, slots_.children & ~owned_.children}; }

  template <typename F>
  static void for_each_bit(SlotBits bits, F f) {
    for (; bits != 0; bits &= bits - 1) f(bits & (~bits + 1));
  }

  void borrow_from(TrieNode& lender) {
    lender_ = &lender;
    ++lender.borrowers_;
    lender.borrower_sum_ += reinterpret_cast<std::uintptr_t>(this);
  }

  void return_to_lender() {
    if (lender_ == nullptr) return;
    --lender_->borrowers_;
    lender_->borrower_sum_ -= reinterpret_cast<std::uintptr_t>(this);
    lender_ = nullptr;
  }

  static constexpr std::size_t aligned(std::size_t offset, std::size_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t entry_offset() { return aligned(sizeof(TrieNode), alignof(Entry)); }
  static constexpr std::size_t child_offset(std::size_t entry_count) {
    return aligned(entry_offset() + entry_count * sizeof(Entry), alignof(Ref));
  }
  static constexpr std::size_t size_of(std::size_t entry_count, std::size_t child_count) {
    return child_offset(entry_count) + child_count * sizeof(Ref);
  }
  [[nodiscard]] Entry* entry_row() const { return reinterpret_cast<Entry*>(address() + entry_offset()); }
  [[nodiscard]] Ref* child_row() const { return reinterpret_cast<Ref*>(address() + child_offset(entry_count_)); }
  [[nodiscard]] std::byte* address() const { return reinterpret_cast<std::byte*>(const_cast<TrieNode*>(this)); }

  void take_entries(std::span<Entry> old, bool may_move, RowEdit<Entry> edit) {
    Entry* end = append(old.first(edit.kept_before(old.size())), entry_row(), may_move);
    if (edit.value != nullptr) end = append(std::span<Entry>(edit.value, 1), end, true);
    append(old.subspan(edit.next_in(old.size())), end, may_move);
  }

  /// Entries count as soon as they are there: when copying one throws, the others are destroyed.
  Entry* append(std::span<Entry> values, Entry* to, bool may_move) {
    static_assert(std::is_nothrow_move_constructible_v<Entry>);
    if (may_move) {
      std::uninitialized_move(values.begin(), values.end(), to);
    } else {
      std::uninitialized_copy(values.begin(), values.end(), to);
    }
    entry_count_ += static_cast<std::uint32_t>(values.size());
    return to + values.size();
  }

  /// Byte by byte, without counting: who owns what is settled afterwards.
  template <typename T>
  static void take_bytes(std::span<T> old, T* to, RowEdit<T> edit) {
    const auto append_bytes = [&to](std::span<T> values) {
      if (!values.empty()) std::memcpy(static_cast<void*>(to), values.data(), values.size_bytes());
      to += values.size();
    };
    append_bytes(old.first(edit.kept_before(old.size())));
    if (edit.value != nullptr) new (to++) T(std::move(*edit.value));
    append_bytes(old.subspan(edit.next_in(old.size())));
  }

  ShareCount shares_;
  std::uint32_t entry_count_ = 0;
  Slots slots_;
  Slots owned_;  // what is not borrowed
  std::uint32_t child_count_;
  std::uint32_t borrowers_ = 0;      // copies that borrow from this node
  std::uintptr_t borrower_sum_ = 0;  // of their addresses: that of the last one when there is one
  TrieNode* lender_ = nullptr;
  TrieArena* arena_;  // that made it, or null
  [[no_unique_address]] Cache cache_;
};

}  // namespace armillary::detail
