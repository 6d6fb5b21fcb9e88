#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace armillary {

/// One instant: integer nanoseconds on the world's clock.
struct Stamp {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(const Stamp&, const Stamp&) = default;

  /// Before every instant a sample may have: "valid since always".
  static constexpr Stamp always() { return {std::numeric_limits<std::int64_t>::min()}; }
  /// After every instant a sample may have: "not yet ended".
  static constexpr Stamp never() { return {std::numeric_limits<std::int64_t>::max()}; }
};

/// A length of time in nanoseconds; kept apart from Stamp so that the two are not confused.
struct Duration {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(const Duration&, const Duration&) = default;
};

/// `stamp - duration`, saturating instead of overflowing.
[[nodiscard]] constexpr Stamp earlier(Stamp stamp, Duration by) {
  const bool underflows = by.ns > 0 && stamp.ns < Stamp::always().ns + by.ns;
  return underflows ? Stamp::always() : Stamp{stamp.ns - by.ns};
}

/// `stamp + duration`, saturating instead of overflowing.
[[nodiscard]] constexpr Stamp later(Stamp stamp, Duration by) {
  const bool overflows = by.ns > 0 && stamp.ns > Stamp::never().ns - by.ns;
  return overflows ? Stamp::never() : Stamp{stamp.ns + by.ns};
}

/// `at - since`, negative where `at` is earlier. What is asked at the end of time is as old as can be.
[[nodiscard]] constexpr Duration age_of(Stamp since, Stamp at) {
  return at == Stamp::never() ? Duration{at.ns} : Duration{at.ns - since.ns};
}

/// Samples must lie strictly between these, so that differences of stamps never overflow.
inline constexpr Stamp kEarliestSample{-(std::int64_t{1} << 62)};
inline constexpr Stamp kLatestSample{std::int64_t{1} << 62};

[[nodiscard]] constexpr bool is_sample_stamp(Stamp stamp) { return stamp > kEarliestSample && stamp < kLatestSample; }

[[nodiscard]] inline bool strictly_increasing(std::span<const std::int64_t> stamps_ns) {
  return std::ranges::adjacent_find(stamps_ns, std::ranges::greater_equal{}) == stamps_ns.end();
}

}  // namespace armillary
