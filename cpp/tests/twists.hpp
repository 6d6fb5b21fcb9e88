#pragma once

// Worlds that move, and questions about it.

#include <random>

#include "worlds.hpp"

namespace tests {

using namespace armillary;

inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr double kCloseRate = 1e-6;  // of a central difference over 2e-4 s
inline constexpr std::int64_t kStep = 100'000;

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  double number(double low = -1.0, double high = 1.0) { return std::uniform_real_distribution<double>(low, high)(random_); }
  Vector3 vector(double size = 1.0) { return {size * number(), size * number(), size * number()}; }
  Transform pose() { return {Rotation::exp(vector(1.5)), vector(2.0)}; }

 private:
  std::mt19937_64 random_;
};

/// Two samples at 0 and 1 s: in between everything is smooth.
inline void move(World& world, std::string_view of, std::string_view in, Dice& dice) {
  const Transform first = dice.pose();
  (void)world.forest.set_pose({of, in, ""}, {0}, first);
  (void)world.forest.set_pose({of, in, ""}, {kSecond}, first * Transform::exp({dice.vector(), dice.vector()}));
}

struct Ask {
  std::string_view of, relative_to;
  std::string_view axes = "", point = "";
  std::int64_t window_ns = 0;
  QueryContext context{};
};

inline Result<TwistAnswer> twist(const World& world, const Ask& ask, When at) {
  const Forest& forest = world.forest;
  const auto frame = [&](std::string_view name) { return name.empty() ? kNone : forest.find_frame(name); };
  return forest.twist({.of = frame(ask.of),
                       .reference = forest.find_frame(ask.relative_to),
                       .relative_to = forest.find_body(ask.relative_to),
                       .expressed_in = frame(ask.axes),
                       .point = frame(ask.point),
                       .at = at,
                       .window = {ask.window_ns},
                       .context = ask.context});
}

inline Result<TwistAnswer> twist(const World& world, const Ask& ask, std::int64_t at) {
  return twist(world, ask, When::exactly({at}));
}

/// Central difference of the poses: of `of` in `in`, at the origin of `of`, along the axes of `in`.
inline Velocity difference(const World& world, std::string_view of, std::string_view in, std::int64_t at,
                           const QueryContext& context = {}) {
  const Transform before = world.pose(of, in, at - kStep, context).value.transform;
  const Transform after = world.pose(of, in, at + kStep, context).value.transform;
  const double per_s = 1e9 / (2.0 * static_cast<double>(kStep));
  const Transform now = world.pose(of, in, at, context).value.transform;
  const Vector3 body_rate = per_s * (before.rotation.inverse() * after.rotation).log();
  return {per_s * (after.translation - before.translation), now.rotation * body_rate};
}

inline void check_close(const Velocity& a, const Velocity& b, double tolerance, int line) {
  check::close(norm(a.linear - b.linear), 0.0, tolerance, __FILE__, line);
  check::close(norm(a.angular - b.angular), 0.0, tolerance, __FILE__, line);
}
#define CHECK_VELOCITY(a, b, tolerance) check_close((a), (b), (tolerance), __LINE__)

inline Failure measure(World& world, std::string_view of, std::string_view relative_to, std::int64_t at, const Velocity& velocity,
                       std::string_view axes = "", std::string_view source = "", const Covariance* covariance = nullptr) {
  return world.forest.set_twist({of, relative_to, source},
                                {.at = {at}, .expressed_in = axes, .velocity = velocity, .covariance = covariance});
}

inline Covariance diagonal(double linear, double angular) {
  Covariance c;
  for (int i = 0; i < 3; ++i) c.at(i, i) = linear, c.at(3 + i, 3 + i) = angular;
  return c;
}

}  // namespace tests
