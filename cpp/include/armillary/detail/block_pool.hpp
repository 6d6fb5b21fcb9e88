#pragma once

#include <array>
#include <cstddef>
#include <new>

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

}  // namespace armillary::detail
