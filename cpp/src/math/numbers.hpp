#pragma once

#include <array>
#include <memory>

namespace armillary {

/// So many numbers; few of them without the heap.
class Numbers {
 public:
  explicit Numbers(std::size_t count) : many_(count > kFew ? std::make_unique<double[]>(count) : nullptr) {}
  [[nodiscard]] double* data() { return many_ ? many_.get() : few_.data(); }

 private:
  static constexpr std::size_t kFew = 64;
  std::array<double, kFew> few_;
  std::unique_ptr<double[]> many_;
};

}  // namespace armillary
