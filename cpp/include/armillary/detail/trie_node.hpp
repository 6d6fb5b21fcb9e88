#pragma once

// The nodes of a PersistentMap: counted, shared between maps, changed only by the one map that owns them.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "armillary/detail/block_pool.hpp"
#include "armillary/scene/sha256.hpp"

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

/// std::popcount is a call into a library where the machine may lack an instruction for it: bits in pairs, fours, bytes.
[[nodiscard]] inline std::uint32_t bit_count(std::uint32_t bits) {
  bits -= bits >> 1 & 0x55555555;
  bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
  return ((bits + (bits >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/// How many bits of `bits` are below `bit`.
[[nodiscard]] inline std::uint32_t rank(std::uint32_t bits, std::uint32_t bit) { return bit_count(bits & (bit - 1)); }

/// What becomes of a row of values while it goes from one node to the next.
template <typename T>
struct RowEdit {
  enum class Kind { keep, insert, replace, remove };
  Kind kind = Kind::keep;
  std::uint32_t at = 0;
  T* value = nullptr;  // moved from

  [[nodiscard]] std::uint32_t size_after(std::uint32_t size) const {
    return size + (kind == Kind::insert ? 1 : 0) - (kind == Kind::remove ? 1 : 0);
  }
};

inline constexpr std::size_t kNodeAlignment = 16;

/// How many share a node, for maps that several threads copy and drop as they like.
class AtomicCount {
 public:
  [[nodiscard]] static void* take(std::size_t bytes) { return ::operator new(bytes, std::align_val_t{kNodeAlignment}); }
  static void give(void* node, std::size_t) noexcept { ::operator delete(node, std::align_val_t{kNodeAlignment}); }
  void add() { shares_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether it was the last.
  [[nodiscard]] bool drop() { return shares_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  [[nodiscard]] bool is_one() const { return shares_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<std::uint32_t> shares_{1};
};

/// The same for maps that are made, copied, changed and dropped under one lock. Copying a branch counts 32 nodes that lie
/// anywhere in memory: without atomic steps the processor fetches them side by side.
class PlainCount {
 public:
  [[nodiscard]] static void* take(std::size_t bytes) { return pool().take(bytes); }
  static void give(void* node, std::size_t bytes) noexcept { pool().give(node, bytes); }
  void add() { ++shares_; }
  [[nodiscard]] bool drop() { return --shares_ == 0; }
  [[nodiscard]] bool is_one() const { return shares_ == 1; }

 private:
  static BlockPool& pool() {
    static auto* only = new BlockPool;  // outlives every map, whenever it is dropped
    return *only;
  }

  std::uint32_t shares_ = 1;
};

template <typename Traits>
struct CountOf {
  using Type = AtomicCount;
};
template <typename Traits>
  requires requires { typename Traits::Count; }
struct CountOf<Traits> {
  using Type = typename Traits::Count;
};

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
    if (node_ != nullptr && node_->shares_.drop()) Node::destroy(node_);
  }

  /// Nobody else sees the node, provided that nobody else sees this share.
  [[nodiscard]] bool is_sole() const { return node_->shares_.is_one(); }
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

/// A branch: up to 32 slots, each empty, an entry or a child. A bucket: the entries of one hash, and no slots.
///
/// One block of memory: this header, the entries in the order of their slots, the children likewise.
template <typename Entry, typename Cache, typename Count>
class TrieNode {
 public:
  using EntryType = Entry;
  using Ref = NodeRef<TrieNode>;

  /// Bit i tells what slot i holds; never both.
  struct Slots {
    std::uint32_t entries = 0;
    std::uint32_t children = 0;
  };

  /// `old`, or a node without anything, with both edits made. O(1) but for the rows, which have at most 32 places in a branch.
  /// Values are moved out of `old` where `may_move`; when this throws, `old` is as it was.
  [[nodiscard]] static Ref edited(TrieNode* old, bool may_move, Slots slots, RowEdit<Entry> entry, RowEdit<Ref> child = {}) {
    const std::uint32_t entry_count = entry.size_after(old != nullptr ? old->entry_count_ : 0);
    Ref made(make(entry_count, bit_count(slots.children)));
    if (old == nullptr) {
      made->template take<Entry>({}, may_move, entry);
      made->template take<Ref>({}, may_move, child);
    } else {
      made->take(old->entries(), may_move, entry);
      made->take(old->children(), may_move, child);
    }
    made->slots_ = slots;
    return made;
  }

  [[nodiscard]] Slots slots() const { return slots_; }
  [[nodiscard]] bool is_bucket() const { return (slots_.entries | slots_.children) == 0; }
  [[nodiscard]] std::span<const Entry> entries() const { return {entry_row(), entry_count_}; }
  [[nodiscard]] std::span<Entry> entries() { return {entry_row(), entry_count_}; }
  [[nodiscard]] std::span<const Ref> children() const { return {child_row(), bit_count(slots_.children)}; }
  [[nodiscard]] std::span<Ref> children() { return {child_row(), bit_count(slots_.children)}; }

  [[nodiscard]] const Entry& entry_at(std::uint32_t bit) const { return entry_row()[rank(slots_.entries, bit)]; }
  [[nodiscard]] const TrieNode* child_at(std::uint32_t bit) const { return child_row()[rank(slots_.children, bit)].get(); }

  [[nodiscard]] const Cache& digest_cache() const { return cache_; }
  void forget_digest() { cache_.forget(); }

 private:
  friend Ref;
  static_assert(alignof(Entry) <= kNodeAlignment);

  TrieNode() = default;
  ~TrieNode() {
    std::ranges::destroy(children());
    std::ranges::destroy(entries());
  }

  static TrieNode* make(std::uint32_t entry_count, std::uint32_t child_count) {
    const std::size_t size = child_offset(entry_count) + child_count * sizeof(Ref);
    return new (Count::take(size)) TrieNode;
  }
  static void destroy(TrieNode* node) {
    const std::size_t size = child_offset(node->entry_count_) + bit_count(node->slots_.children) * sizeof(Ref);
    node->~TrieNode();
    Count::give(node, size);
  }

  static constexpr std::size_t aligned(std::size_t offset, std::size_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t entry_offset() { return aligned(sizeof(TrieNode), alignof(Entry)); }
  static constexpr std::size_t child_offset(std::size_t entry_count) {
    return aligned(entry_offset() + entry_count * sizeof(Entry), alignof(Ref));
  }
  [[nodiscard]] Entry* entry_row() const { return reinterpret_cast<Entry*>(address() + entry_offset()); }
  [[nodiscard]] Ref* child_row() const { return reinterpret_cast<Ref*>(address() + child_offset(entry_count_)); }
  [[nodiscard]] std::byte* address() const { return reinterpret_cast<std::byte*>(const_cast<TrieNode*>(this)); }

  template <typename T>
  void take(std::span<T> old, bool may_move, RowEdit<T> edit) {
    using Kind = typename RowEdit<T>::Kind;
    const bool is_given = edit.kind == Kind::insert || edit.kind == Kind::replace;
    const bool is_dropped = edit.kind == Kind::remove || edit.kind == Kind::replace;
    const std::size_t before = edit.kind == Kind::keep ? old.size() : edit.at;
    T* end = append(old.first(before), row<T>(), may_move);
    if (is_given) end = append(std::span<T>(edit.value, 1), end, true);
    append(old.subspan(before + (is_dropped ? 1 : 0)), end, may_move);
  }

  /// Entries count as soon as they are there: when copying one throws, the others are destroyed.
  template <typename T>
  T* append(std::span<T> values, T* to, bool may_move) {
    static_assert(std::is_nothrow_move_constructible_v<T>);
    if (may_move) {
      std::uninitialized_move(values.begin(), values.end(), to);
    } else {
      std::uninitialized_copy(values.begin(), values.end(), to);
    }
    if constexpr (std::is_same_v<T, Entry>) entry_count_ += static_cast<std::uint32_t>(values.size());
    return to + values.size();
  }

  template <typename T>
  [[nodiscard]] T* row() const {
    if constexpr (std::is_same_v<T, Entry>) {
      return entry_row();
    } else {
      return child_row();
    }
  }

  Count shares_;
  std::uint32_t entry_count_ = 0;
  Slots slots_;
  [[no_unique_address]] Cache cache_;
};

}  // namespace armillary::detail
