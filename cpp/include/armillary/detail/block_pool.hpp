#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace armillary::detail {

/// Blocks of memory in steps of 64 bytes, kept for the next of the same size. For one thread at a time.
///
/// A path that is copied frees as many nodes as it takes, of the same few sizes: most are at hand and still in the cache.
class BlockPool {
 public:
  [[nodiscard]] void* take(std::size_t bytes) {
    const std::size_t size = step_of(bytes);
    if (size >= kSizes || free_[size] == nullptr) return ::operator new((size + 1) * kStep, kAlignment);
    --kept_[size];
    Block* block = free_[size];
    free_[size] = block->next;
    return block;
  }

  void give(void* memory, std::size_t bytes) noexcept {
    const std::size_t size = step_of(bytes);
    if (size >= kSizes || kept_[size] >= kKept) return ::operator delete(memory, kAlignment);
    ++kept_[size];
    free_[size] = new (memory) Block{free_[size]};
  }

 private:
  struct Block {
    Block* next;
  };
  static constexpr std::size_t kStep = 64, kSizes = 32, kKept = 256;
  static constexpr std::align_val_t kAlignment{64};

  static constexpr std::size_t step_of(std::size_t bytes) { return (bytes - 1) / kStep; }

  std::array<Block*, kSizes> free_{};
  std::array<std::size_t, kSizes> kept_{};
};

}  // namespace armillary::detail
