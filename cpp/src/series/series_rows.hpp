#pragma once

// The memory behind a Series: rows in chunks, and an index of chunks in the making.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "armillary/series/series.hpp"

namespace armillary {

inline constexpr std::size_t kChunkAlignment = 256;  // leaves eight low bits of a chunk's address for its row count

inline std::int64_t* allocate_rows(std::uint32_t rows, std::uint32_t stride) {
  const std::size_t bytes = std::size_t{rows} * stride * sizeof(std::int64_t);
  const std::size_t rounded = (bytes + kChunkAlignment - 1) / kChunkAlignment * kChunkAlignment;
  void* memory = std::aligned_alloc(kChunkAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc{};
  return static_cast<std::int64_t*>(memory);
}

inline std::uintptr_t chunk_word(const std::int64_t* rows, std::uint32_t count) {
  return reinterpret_cast<std::uintptr_t>(rows) | count;
}

inline void copy_rows(std::int64_t* to, const std::int64_t* from, std::uint32_t rows, std::uint32_t stride) {
  std::memcpy(to, from, std::size_t{rows} * stride * sizeof(std::int64_t));
}

inline void retire_rows(std::uintptr_t word, RetireList& retired) {
  retired.add(reinterpret_cast<void*>(word & ~std::uintptr_t{255}), [](void* rows) { std::free(rows); });
}

/// An index that is being made, with the rows made for it: freed unless it is released.
class Series::Draft {
 public:
  explicit Draft(Index* index) : index_(index) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (index_ == nullptr) return;
    std::ranges::for_each(rows_, [](std::int64_t* rows) { std::free(rows); });
    Index::destroy(index_);
  }

  /// A new chunk with `count` rows, to be filled, as entry `at`.
  std::int64_t* add_chunk(std::uint32_t at, std::uint32_t count, std::uint32_t capacity, std::int64_t first_ns) {
    rows_.push_back(nullptr);
    rows_.back() = allocate_rows(capacity, index_->stride);
    index_->entries[at].first_ns.store(first_ns);
    index_->entries[at].word.store(chunk_word(rows_.back(), count));
    return rows_.back();
  }

  Index* operator->() const { return index_; }
  Index* release() { return std::exchange(index_, nullptr); }

 private:
  Index* index_;
  std::vector<std::int64_t*> rows_;
};

/// Where a stamp is or belongs: in this entry, in front of this row.
struct Series::Spot {
  std::uint32_t entry = 0;
  std::uint32_t row = 0;
  bool exact = false;
};

}  // namespace armillary
