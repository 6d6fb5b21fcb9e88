#include <functional>
#include <random>

#include "worlds.hpp"

using namespace armillary;

namespace {

using tests::World;

Transform pose_of_seed(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> d(-1.0, 1.0);
  const auto vector = [&] { return Vector3{d(random), d(random), d(random)}; };
  const Vector3 turn = vector();
  return {Rotation::exp(2.0 * turn), 3.0 * vector()};
}

/// L L^T of a random L: positive semi-definite, of rank `rank`.
Covariance covariance_of_seed(unsigned seed, int rank = 6, double scale = 1e-2) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> d;
  Covariance result;
  for (int r = 0; r < rank; ++r) {
    std::array<double, 6> column;
    for (double& value : column) value = d(random);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        result.at(i, j) += scale * column[static_cast<std::size_t>(i)] * column[static_cast<std::size_t>(j)];
  }
  return result;
}

bool same(const Covariance& a, const Covariance& b, double tolerance) {
  for (std::size_t i = 0; i < 36; ++i)
    if (!(std::abs(a.values[i] - b.values[i]) <= tolerance)) return false;
  return true;
}

Tangent unit_tangent(std::size_t axis, double length) {
  std::array<double, 6> v{};
  v[axis] = length;
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

/// How the tangent of `result(pose * Exp(e))` follows e, by central differences.
Matrix6 numeric_jacobian(const Transform& pose, const std::function<Transform(const Transform&)>& result) {
  constexpr double kStep = 1e-6;
  const Transform truth = result(pose);
  Matrix6 jacobian{};
  for (std::size_t j = 0; j < 6; ++j) {
    const Tangent plus = between(truth, result(pose * Transform::exp(unit_tangent(j, kStep)))).log();
    const Tangent minus = between(truth, result(pose * Transform::exp(unit_tangent(j, -kStep)))).log();
    const Vector3 t = plus.translation - minus.translation, r = plus.rotation - minus.rotation;
    const double column[6] = {t.x, t.y, t.z, r.x, r.y, r.z};
    for (std::size_t i = 0; i < 6; ++i) jacobian[6 * i + j] = column[i] / (2 * kStep);
  }
  return jacobian;
}

void put(World& world, const char* of, const char* in, std::int64_t at, const Transform& pose, const Covariance& covariance) {
  world.forest.set_pose({of, in, ""}, {at}, pose, &covariance);
}

}  // namespace

TEST(adjoint_product, "the adjoint of a product is the product of the adjoints") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Transform a = pose_of_seed(seed), b = pose_of_seed(100 + seed);
    const Matrix6 together = adjoint(a * b), apart = product(adjoint(a), adjoint(b));
    for (std::size_t i = 0; i < 36; ++i) CHECK_CLOSE(together[i], apart[i], 1e-13);
    const Matrix6 identity = product(adjoint(a), adjoint(a.inverse()));
    for (std::size_t i = 0; i < 36; ++i) CHECK_CLOSE(identity[i], i % 7 == 0 ? 1.0 : 0.0, 1e-13);
  }
}

TEST(covariance_pack, "packing keeps a symmetric matrix") {
  const Covariance given = covariance_of_seed(3);
  std::array<double, Covariance::kPacked> packed;
  given.pack(packed);
  CHECK(same(Covariance::unpack(packed), given, 1e-17));
}

TEST(covariance_psd, "transport keeps a covariance a covariance, of any rank") {
  for (unsigned seed = 0; seed < 20; ++seed)
    for (const int rank : {0, 1, 3, 6}) {
      const Covariance moved = transported(covariance_of_seed(seed, rank), pose_of_seed(seed));
      CHECK(is_covariance(moved));
      CHECK(moved.trace() >= 0.0);
    }
}

TEST(covariance_inverse, "inverting a pose twice gives its covariance back") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Transform pose = pose_of_seed(seed);
    const Covariance given = covariance_of_seed(seed);
    CHECK(same(inverted(inverted(given, pose), pose.inverse()), given, 1e-12));
  }
}

TEST(covariance_inverse_oracle, "the covariance of the inverse has the numeric Jacobian") {
  const Transform pose = pose_of_seed(1);
  const Covariance given = covariance_of_seed(1);
  const Matrix6 jacobian = numeric_jacobian(pose, [](const Transform& p) { return p.inverse(); });
  CHECK(same(inverted(given, pose), propagated(given, jacobian), 1e-8));
}

TEST(covariance_bound, "the bound of a sum is never too small, whatever the correlation") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Covariance a = covariance_of_seed(seed);
    Matrix6 k = adjoint(pose_of_seed(seed));  // second error = k times the first: fully correlated
    if (seed % 3 == 0) std::ranges::transform(k, k.begin(), std::negate{});
    if (seed % 3 == 1)
      k = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
    Matrix6 both = k;
    for (std::size_t i = 0; i < 6; ++i) both[7 * i] += 1.0;
    const Covariance truth = propagated(a, both), bound = bound_of_sum(a, propagated(a, k));
    CHECK(is_covariance(bound + (-1.0 + 1e-6) * truth));
  }
}

TEST(covariance_bound_zero, "the bound of a sum with nothing is the other") {
  const Covariance a = covariance_of_seed(1);
  CHECK(same(bound_of_sum(a, {}), a, 0.0) && same(bound_of_sum({}, a), a, 0.0));
}

TEST(covariance_check, "what is not symmetric, finite and positive is not a covariance") {
  Covariance lopsided = covariance_of_seed(1), negative, crossed, unknown;
  lopsided.at(0, 3) += 1e-3;
  negative.at(2, 2) = -1e-3;
  crossed.at(0, 1) = crossed.at(1, 0) = 1.0;  // zeros on the diagonal
  unknown.at(0, 0) = std::nan("");
  CHECK(!is_covariance(lopsided) && !is_covariance(negative) && !is_covariance(crossed) && !is_covariance(unknown));
  CHECK(is_covariance({}));
  for (unsigned seed = 0; seed < 20; ++seed)
    for (const double scale : {1e-12, 1.0, 1e12})
      CHECK(is_covariance(covariance_of_seed(seed, 1 + static_cast<int>(seed % 6), scale)));
}

TEST(covariance_barely_negative, "one clearly negative direction in a rotated matrix is found") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Covariance c;
    for (int i = 0; i < 6; ++i) c.at(i, i) = i == 3 ? -1e-3 : 1.0;
    CHECK(!is_covariance(transported(c, pose_of_seed(seed))));
  }
}

TEST(chain_oracle, "a path up and down has the covariance that numeric Jacobians give") {
  const Transform map_a = pose_of_seed(1), a_b = pose_of_seed(2), map_c = pose_of_seed(3);
  const Covariance s1 = covariance_of_seed(1), s2 = covariance_of_seed(2), s3 = covariance_of_seed(3);
  World world;
  put(world, "a", "map", 5, map_a, s1);
  put(world, "b", "a", 5, a_b, s2);
  put(world, "c", "map", 5, map_c, s3);
  const auto answer = world.pose("b", "c", 5);
  CHECK(answer && answer.value.certainty == Certainty::known);
  const Covariance expected =
      propagated(s1, numeric_jacobian(map_a, [&](const Transform& p) { return map_c.inverse() * p * a_b; })) +
      propagated(s2, numeric_jacobian(a_b, [&](const Transform& p) { return map_c.inverse() * map_a * p; })) +
      propagated(s3, numeric_jacobian(map_c, [&](const Transform& p) { return p.inverse() * map_a * a_b; }));
  CHECK(same(*answer.value.covariance, expected, 1e-7 * expected.trace()));
  CHECK(is_covariance(*answer.value.covariance));
}

TEST(two_time_same, "an edge used twice at one instant cancels as its numeric Jacobian says") {
  const Transform map_a = pose_of_seed(1), a_b = pose_of_seed(2), a_c = pose_of_seed(3);
  const Covariance s1 = covariance_of_seed(1), s2 = covariance_of_seed(2), s3 = covariance_of_seed(3);
  World world;
  put(world, "a", "map", 5, map_a, s1);
  put(world, "b", "a", 5, a_b, s2);
  put(world, "c", "a", 5, a_c, s3);
  Question question = world.question("b", "c", When::exactly({5}));
  question.fixed_frame = world.forest.find_frame("map");
  question.of_at = When::exactly({5});
  const auto answer = world.forest.pose(question);
  const auto direct = world.pose("b", "c", 5);  // the edge of `a` is not on this path at all
  CHECK(answer && tests::is_close(answer.value.transform, direct.value.transform));
  CHECK(same(*answer.value.covariance, *direct.value.covariance, 1e-12));
}

TEST(two_time_apart, "an edge used twice at two instants gives a bound that holds for equal and opposite errors") {
  const Covariance s = covariance_of_seed(1);
  const Transform then = pose_of_seed(1), now = pose_of_seed(2);
  World world;
  put(world, "a", "map", 5, then, s);
  put(world, "a", "map", 9, now, s);
  Question question = world.question("a", "a", When::exactly({9}));
  question.fixed_frame = world.forest.find_frame("map");
  question.of_at = When::exactly({5});
  const auto answer = world.forest.pose(question);
  CHECK(answer && answer.value.covariance && answer.value.stamp == Stamp{9});
  const Matrix6 far = numeric_jacobian(then, [&](const Transform& p) { return now.inverse() * p; });
  const Matrix6 near = numeric_jacobian(now, [&](const Transform& p) { return p.inverse() * then; });
  for (const double sign : {1.0, -1.0}) {
    Matrix6 both = far;
    for (std::size_t i = 0; i < 36; ++i) both[i] += sign * near[i];
    CHECK(is_covariance(*answer.value.covariance + (-1.0 + 1e-6) * propagated(s, both)));
  }
}

TEST(covariance_between_samples, "between samples both covariances move to the pose in between, then mix") {
  const Transform a = pose_of_seed(1), b = pose_of_seed(2);
  const Covariance s1 = covariance_of_seed(1), s2 = covariance_of_seed(2);
  World world;
  put(world, "a", "map", 0, a, s1);
  put(world, "a", "map", 100, b, s2);
  for (const Interpolation kind : {Interpolation::linear, Interpolation::screw}) {
    QueryContext context;
    context.interpolation = kind;
    const auto answer = world.pose("a", "map", 25, context);
    const Transform middle = interpolate(a, b, 0.25, kind);
    const Covariance expected = 0.75 * transported(s1, middle.inverse() * a) + 0.25 * transported(s2, middle.inverse() * b);
    CHECK(tests::is_close(answer.value.transform, middle));
    CHECK(same(*answer.value.covariance, expected, 1e-12));
  }
}

TEST(covariance_unknown, "one unknown covariance on the path makes the answer's unknown, unless the world has a default") {
  for (const bool with_default : {false, true}) {
    ForestOptions options;
    if (with_default) options.default_covariance = covariance_of_seed(9);
    World world(std::move(options));
    put(world, "a", "map", 5, pose_of_seed(1), covariance_of_seed(1));
    world.forest.set_pose({"b", "a", ""}, {5}, pose_of_seed(2));
    const auto answer = world.pose("b", "map", 5);
    CHECK(answer.value.certainty == (with_default ? Certainty::known : Certainty::unknown));
    CHECK((answer.value.covariance != nullptr) == with_default);
  }
}

TEST(covariance_half_known, "between a known and an unknown sample the covariance is unknown") {
  World world;
  put(world, "a", "map", 0, pose_of_seed(1), covariance_of_seed(1));
  world.forest.set_pose({"a", "map", ""}, {10}, pose_of_seed(2));
  CHECK(world.pose("a", "map", 0).value.certainty == Certainty::known);
  CHECK(world.pose("a", "map", 5).value.certainty == Certainty::unknown);
  CHECK(world.pose("a", "map", 10).value.certainty == Certainty::unknown);
}

TEST(covariance_exact, "a fixed pose is exact, and adds nothing to what is known") {
  World world;
  const Transform mount = pose_of_seed(4);
  world.fix("camera", "a", mount);
  put(world, "a", "map", 5, pose_of_seed(1), covariance_of_seed(1));
  CHECK(world.pose("camera", "a", 5).value.certainty == Certainty::exact);
  const auto answer = world.pose("camera", "map", 5);
  CHECK(same(*answer.value.covariance, transported(covariance_of_seed(1), mount.inverse()), 1e-12));
}

TEST(covariance_hold, "a held answer keeps the covariance of the sample") {
  World world;
  put(world, "a", "map", 5, pose_of_seed(1), covariance_of_seed(1));
  const auto answer = world.pose("a", "map", 50, tests::holding());
  CHECK(answer && answer.value.held && same(*answer.value.covariance, covariance_of_seed(1), 1e-15));
}
