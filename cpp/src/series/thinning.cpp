#include "series/thinning.hpp"

#include <cstring>

#include "armillary/series/pose_row.hpp"

namespace armillary {

namespace {

bool same_side(const Row& a, const Row& b) {
  if (a.side == nullptr) return true;
  return std::memcmp(a.side, b.side, Series::kSideWords * sizeof(double)) == 0;
}

bool reproduces(const Row& first, const Row& dropped, const Row& last, const Retention& bounds) {
  if (!same_side(first, dropped) || !same_side(last, dropped)) return false;
  const Transform truth = pose_of(dropped);
  const Transform guess = interpolate_rows(first, last, dropped.stamp_ns(), Interpolation::linear);
  return norm(guess.translation - truth.translation) <= bounds.thin_m &&
         guess.rotation.angle_to(truth.rotation) <= bounds.thin_rad;
}

bool reproduces_all(const std::vector<Row>& rows, std::uint32_t first, std::uint32_t last, const Retention& bounds) {
  for (std::uint32_t i = first + 1; i < last; ++i)
    if (!reproduces(rows[first], rows[i], rows[last], bounds)) return false;
  return true;
}

}  // namespace

std::vector<std::uint32_t> rows_to_keep(const std::vector<Row>& rows, const Retention& bounds) {
  std::vector<std::uint32_t> kept{0};
  for (std::uint32_t last = 2; last < rows.size(); ++last)
    if (!reproduces_all(rows, kept.back(), last, bounds)) kept.push_back(last - 1);
  if (rows.size() > 1) kept.push_back(static_cast<std::uint32_t>(rows.size()) - 1);
  return kept;
}

}  // namespace armillary
