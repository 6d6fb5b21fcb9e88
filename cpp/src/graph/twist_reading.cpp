#include "graph/twist_reading.hpp"

#include "armillary/series/pose_row.hpp"

namespace armillary {

Velocity TwistReading::body_form() const {
  if (!after) return velocity_of(before);
  return (1.0 - u) * velocity_of(before) + u * velocity_of(after);
}

std::optional<Covariance> TwistReading::covariance() const {
  const std::optional<Covariance> first = covariance_of(before);
  if (!after || !first) return first;
  const std::optional<Covariance> second = covariance_of(after);
  return second ? std::optional((1.0 - u) * *first + u * *second) : std::nullopt;
}

std::array<TurnedTwist, 2> TwistReading::turns() const {
  std::array<TurnedTwist, 2> turns;
  turns[0] = {axes_of(before), {before.stamp_ns()}, (after ? 1.0 - u : 1.0) * velocity_of(before)};
  if (after) turns[1] = {axes_of(after), {after.stamp_ns()}, u * velocity_of(after)};
  return turns;
}

TwistReading reading_at(const TwistLink& link, Stamp at) {
  auto [before, after] = link.series->bracket(at);
  if (!before) return {};
  const bool is_exact = before.stamp_ns() == at.ns;
  if (!is_exact && !after) return {};
  if (is_exact) return {.link = &link, .before = before};
  return {.link = &link, .before = before, .after = after, .u = fraction(before, after, at.ns)};
}

}  // namespace armillary
