#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "armillary/series/stamp.hpp"

namespace armillary {

/// The newest change of structure that whoever gave a sample held then, by its hybrid timestamp. A sample whose base is older
/// than the change that takes it back goes; one that was given on top of that change stays.
struct SampleBase {
  std::int64_t wall_ns = std::numeric_limits<std::int64_t>::min();
  std::uint32_t count = 0;
  friend constexpr auto operator<=>(const SampleBase&, const SampleBase&) = default;
};

/// The bases of the samples of one relation. Most samples that follow one another have the same: it costs where that changes.
/// At most `kMost` steps are kept; then the oldest samples count as given on top of what the very oldest was.
class SampleBases {
 public:
  static constexpr std::size_t kMost = 4096;

  void set(Stamp at, const SampleBase& base) {
    if (at >= newest_) {
      newest_ = at;
      if (steps_.empty() || steps_.back().second != base) put(at, base);
      return;
    }
    const SampleBase before = this->at(at);
    if (before == base) return;
    const Stamp next{at.ns + 1};
    if (std::ranges::find(steps_, next, &Step::first) == steps_.end()) put(next, before);
    put(at, base);
  }

  /// Whether a sample has, or had, such a base or a newer one.
  [[nodiscard]] bool any_since(const SampleBase& base) const {
    return std::ranges::any_of(steps_, [&](const Step& step) { return base <= step.second; });
  }

  /// Of the sample at this stamp.
  [[nodiscard]] SampleBase at(Stamp stamp) const {
    const auto after = std::ranges::upper_bound(steps_, stamp, {}, &Step::first);
    return after == steps_.begin() ? SampleBase{} : std::prev(after)->second;
  }

 private:
  using Step = std::pair<Stamp, SampleBase>;

  void put(Stamp at, const SampleBase& base) {
    const auto place = std::ranges::lower_bound(steps_, at, {}, &Step::first);
    if (place != steps_.end() && place->first == at)
      place->second = base;
    else
      steps_.insert(place, {at, base});
    if (steps_.size() > kMost) steps_.erase(steps_.begin() + 1, steps_.begin() + static_cast<std::ptrdiff_t>(kMost / 2));
  }

  std::vector<Step> steps_{};  // from this stamp on, by stamp
  Stamp newest_ = Stamp::always();
};

}  // namespace armillary
