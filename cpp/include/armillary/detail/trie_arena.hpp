#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace armillary::detail {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsWatched = true;  // a block at hand would hide who still looks at it
#else
inline constexpr bool kMemoryIsWatched = false;
#endif

/// Blocks of memory in steps of 32 bytes, kept for the next of the same size. For one thread at a time.
///
/// A path that is copied frees as many nodes as it takes, of the same few sizes: most are at hand and still in the cache.
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() {
    for (Block* block : free_)
      while (block != nullptr) {
        Block* next = block->next;
        ::operator delete(block);
        block = next;
      }
  }

  [[nodiscard]] void* take(std::size_t bytes) {
    const std::size_t size = step_of(bytes);
    if (size >= kSizes || free_[size] == nullptr) return ::operator new((size + 1) * kStep);
    kept_ -= (size + 1) * kStep;
    Block* block = free_[size];
    free_[size] = block->next;
    return block;
  }

  void give(void* memory, std::size_t bytes) noexcept {
    const std::size_t size = step_of(bytes);
    if (kMemoryIsWatched || size >= kSizes || kept_ >= kMostKept) return ::operator delete(memory);
    kept_ += (size + 1) * kStep;
    free_[size] = new (memory) Block{free_[size]};
  }

 private:
  struct Block {
    Block* next;
  };
  static constexpr std::size_t kStep = 32, kSizes = 64;
  static constexpr std::size_t kMostKept = std::size_t{1} << 21;  // bytes, of all sizes together

  static constexpr std::size_t step_of(std::size_t bytes) { return (bytes - 1) / kStep; }

  std::array<Block*, kSizes> free_{};
  std::size_t kept_ = 0;
};

/// Where the trie nodes of one writer's maps are made and freed, and the lock under which they lend to each other.
///
/// Nodes are read by any thread, and shared with maps of other arenas by counting. Loans between nodes, and the memory of
/// nodes, are changed only under the lock of the arena that made them. A node that is dropped elsewhere is freed at once
/// where the lock is free, and by who has it otherwise. It lives as long as any node that it made.
class TrieArena : public std::enable_shared_from_this<TrieArena> {
 public:
  /// Holds the lock; the maps that this thread changes meanwhile get nodes of the arena. Of several the last counts.
  class Guard {
   public:
    explicit Guard(TrieArena& arena) : arena_(&arena) {
      arena.lock_.lock();
      begin();
    }
    /// False where another thread has the lock.
    Guard(TrieArena& arena, std::try_to_lock_t) : arena_(arena.lock_.try_lock() ? &arena : nullptr) {
      if (arena_ != nullptr) begin();
    }
    ~Guard() {
      if (arena_ != nullptr) arena_->unlock(outer_);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    [[nodiscard]] explicit operator bool() const { return arena_ != nullptr; }

   private:
    void begin() {
      outer_ = arena_->enter();
      if (++arena_->depth_ == 1) arena_->free_deferred();
    }

    TrieArena* arena_;
    TrieArena* outer_ = nullptr;
  };

  [[nodiscard]] static std::shared_ptr<TrieArena> make() { return std::shared_ptr<TrieArena>(new TrieArena); }
  TrieArena(const TrieArena&) = delete;
  TrieArena& operator=(const TrieArena&) = delete;
  ~TrieArena() = default;

  /// The one that this thread changes maps in, or null.
  [[nodiscard]] static TrieArena* current() { return current_; }
  /// Whether it is this one.
  [[nodiscard]] bool is_current() const { return thread_.load(std::memory_order_relaxed) == this_thread(); }

  // -- While the process forks: see `AtFork`

  [[nodiscard]] bool try_hold() { return lock_.try_lock(); }
  void release() { lock_.unlock(); }
  /// The lock knows its thread by a number that is another one in the child.
  void renew() { new (&lock_) std::recursive_mutex; }

  // -- Under the lock

  [[nodiscard]] void* take(std::size_t bytes) {
    void* memory = pool_.take(bytes);
    ++node_count_;
    return memory;
  }
  void give(void* memory, std::size_t bytes) noexcept {
    pool_.give(memory, bytes);
    --node_count_;
  }

  // -- By any thread

  /// Calls `drop(node)` under the lock: now, or when who has it lets it go.
  void defer(void* node, void (*drop)(void*)) {
    const std::shared_ptr<TrieArena> alive = shared_from_this();  // also when this was the last node
    auto* deferred = new Deferred{node, drop, deferred_.load(std::memory_order_relaxed)};
    while (!deferred_.compare_exchange_weak(deferred->next, deferred)) {
    }
    const Guard guard(*this, std::try_to_lock);  // frees it
  }

 private:
  struct Deferred {
    void* node;
    void (*drop)(void*);
    Deferred* next;
  };

  TrieArena() = default;

  /// What tells this thread from others that run. A call for each node would be felt, as variables of threads need one in
  /// shared libraries.
  [[nodiscard]] static const void* this_thread() {
#if defined(__GNUC__) && !defined(__clang__)
    return __builtin_thread_pointer();
#else
    static thread_local char own;
    return &own;
#endif
  }

  static inline constinit thread_local TrieArena* current_ = nullptr;

  void free_deferred() {
    for (Deferred* list = deferred_.exchange(nullptr); list != nullptr;) {
      const std::unique_ptr<Deferred> first(list);
      list = first->next;
      first->drop(first->node);
    }
  }

  /// Makes it the current one of this thread; gives back the one before.
  TrieArena* enter() {
    TrieArena* outer = std::exchange(current_, this);
    if (outer != nullptr) outer->thread_.store(nullptr, std::memory_order_relaxed);
    thread_.store(this_thread(), std::memory_order_relaxed);
    return outer;
  }
  void leave(TrieArena* outer) {
    thread_.store(nullptr, std::memory_order_relaxed);
    if (outer != nullptr) outer->thread_.store(this_thread(), std::memory_order_relaxed);
    current_ = outer;
  }

  /// What was deferred since the last look is not left behind.
  void unlock(TrieArena* outer) {
    for (;;) {
      std::shared_ptr<TrieArena> last_share;  // dropped after the lock
      if (depth_ == 1 && (node_count_ == 0) == (self_ != nullptr)) {
        if (node_count_ == 0)
          last_share = std::move(self_);
        else
          self_ = shared_from_this();
      }
      const bool is_over = --depth_ == 0;
      leave(outer);
      lock_.unlock();
      if (!is_over || deferred_.load() == nullptr || !lock_.try_lock()) return;
      outer = enter();
      ++depth_;
      free_deferred();
    }
  }

  std::recursive_mutex lock_;                  // guards what follows, but for what is deferred
  int depth_ = 0;                              // how often its thread has it
  std::atomic<const void*> thread_ = nullptr;  // whose current arena it is
  BlockPool pool_;
  std::size_t node_count_ = 0;
  std::shared_ptr<TrieArena> self_;  // while there are nodes
  std::atomic<Deferred*> deferred_ = nullptr;
};

}  // namespace armillary::detail
