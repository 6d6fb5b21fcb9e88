#pragma once

#include <algorithm>
#include <vector>

#include "armillary/series/stamp.hpp"

namespace armillary {

/// Instants from `from` until just before `to`.
struct Interval {
  Stamp from = Stamp::always();
  Stamp to = Stamp::never();

  [[nodiscard]] bool empty() const { return !(from < to); }
  [[nodiscard]] bool contains(Stamp at) const { return from <= at && at < to; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

[[nodiscard]] inline Interval common(const Interval& a, const Interval& b) {
  return {std::max(a.from, b.from), std::min(a.to, b.to)};
}

/// A set of instants: intervals in the order of time that neither overlap nor touch.
class Intervals {
 public:
  Intervals() = default;
  Intervals(const Interval& interval) {
    if (!interval.empty()) all_.push_back(interval);
  }
  [[nodiscard]] static Intervals everything() { return Intervals(Interval{}); }

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] bool contains(Stamp at) const {
    return std::ranges::any_of(all_, [at](const Interval& one) { return one.contains(at); });
  }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  friend bool operator==(const Intervals&, const Intervals&) = default;

  /// In either of them.
  [[nodiscard]] friend Intervals operator|(const Intervals& a, const Intervals& b) {
    std::vector<Interval> both;
    std::ranges::merge(a.all_, b.all_, std::back_inserter(both), {}, &Interval::from, &Interval::from);
    Intervals result;
    for (const Interval& next : both) {
      if (!result.all_.empty() && next.from <= result.all_.back().to)
        result.all_.back().to = std::max(result.all_.back().to, next.to);
      else
        result.all_.push_back(next);
    }
    return result;
  }
  /// In both of them.
  [[nodiscard]] friend Intervals operator&(const Intervals& a, const Intervals& b) {
    Intervals result;
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end(); (x->to < y->to) ? ++x : ++y)
      if (const Interval both = common(*x, *y); !both.empty()) result.all_.push_back(both);
    return result;
  }
  /// In the first and not in the second.
  [[nodiscard]] friend Intervals operator-(const Intervals& a, const Intervals& b) { return a & b.complement(); }

 private:
  [[nodiscard]] Intervals complement() const {
    Intervals result;
    Stamp from = Stamp::always();
    for (const Interval& one : all_) {
      if (from < one.from) result.all_.push_back({from, one.from});
      from = one.to;
    }
    if (from < Stamp::never()) result.all_.push_back({from, Stamp::never()});
    return result;
  }

  std::vector<Interval> all_{};
};

}  // namespace armillary
