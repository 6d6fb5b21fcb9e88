#pragma once

// Relations by their numbers, which are never given twice: whoever kept a number meets nobody else's relation.

#include <array>
#include <memory>
#include <vector>

#include "armillary/graph/ids.hpp"

namespace armillary {

/// Records in pages. A page whose relations are all gone is freed, so that memory follows the relations that there are:
/// of those that were there once a pointer remains for each page.
template <typename Record>
class RelationTable {
 public:
  RelationTable() = default;
  RelationTable(RelationTable&&) noexcept = default;
  RelationTable& operator=(RelationTable&&) noexcept = default;

  /// How many numbers were given so far.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// How many records there are.
  [[nodiscard]] std::size_t alive() const { return alive_; }

  /// Null where it is gone, or is no pose relation.
  [[nodiscard]] Record* operator[](RelationId id) const {
    const Page* page = pages_[id / kPageRecords].get();
    return page == nullptr ? nullptr : page->records[id % kPageRecords].get();
  }

  /// The record gets the next number, which is `size()` before.
  Record& add(std::unique_ptr<Record> record) {
    const auto id = static_cast<RelationId>(size_);
    skip();
    return put(id, std::move(record));
  }

  /// Gives the next number to something else.
  void skip() {
    if (size_ % kPageRecords == 0) {
      pages_.emplace_back();
      if (pages_.size() > 1) free_if_empty(pages_.size() - 2);
    }
    ++size_;
  }

  /// Puts a record back, at a number that was given.
  Record& put(RelationId id, std::unique_ptr<Record> record) {
    std::unique_ptr<Page>& page = pages_[id / kPageRecords];
    if (page == nullptr) page = std::make_unique<Page>();
    std::unique_ptr<Record>& place = page->records[id % kPageRecords];
    const bool is_new = place == nullptr;
    place = std::move(record);
    page->alive += is_new;
    alive_ += is_new;
    return *place;
  }

  void erase(RelationId id) {
    std::unique_ptr<Page>& page = pages_[id / kPageRecords];
    if (page == nullptr || page->records[id % kPageRecords] == nullptr) return;
    page->records[id % kPageRecords].reset();
    --page->alive;
    --alive_;
    if (id / kPageRecords + 1 < pages_.size()) free_if_empty(id / kPageRecords);  // the last one is being filled
  }

  /// Takes numbers back: only the first `size` were given.
  void cut(std::size_t size) {
    for (std::size_t id = size; id < size_; ++id) erase(static_cast<RelationId>(id));
    size_ = size;
    pages_.resize((size + kPageRecords - 1) / kPageRecords);
  }

  /// Calls `visit(Record&)` for each there is, by number.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& page : pages_)
      if (page != nullptr)
        for (const auto& record : page->records)
          if (record != nullptr) visit(*record);
  }

 private:
  static constexpr std::size_t kPageRecords = 256;
  struct Page {
    std::array<std::unique_ptr<Record>, kPageRecords> records{};
    std::size_t alive = 0;
  };

  void free_if_empty(std::size_t page) {
    if (pages_[page] != nullptr && pages_[page]->alive == 0) pages_[page].reset();
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t size_ = 0, alive_ = 0;
};

}  // namespace armillary
