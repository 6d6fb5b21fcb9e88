#include <algorithm>
#include <vector>

#include "worlds.hpp"

using namespace armillary;
using tests::World;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

QueryContext predicting() {
  QueryContext context;
  context.outside = Outside::predict;
  return context;
}

Failure measure(World& world, std::string_view of, std::string_view relative_to, std::int64_t at, const Velocity& velocity,
                std::string_view source = "", const Covariance* covariance = nullptr) {
  return world.forest.set_twist({of, relative_to, source}, {.at = {at}, .velocity = velocity, .covariance = covariance});
}

constexpr Velocity kForward{{1.0, 0.0, 0.0}, {}};

Covariance diagonal(double value) {
  Covariance c;
  for (int i = 0; i < 6; ++i) c.at(i, i) = value;
  return c;
}

}  // namespace

// -- Beyond the last sample

TEST(predict_goes_on, "the last motion goes on, and the answer is marked") {
  World world;
  const Transform first{Rotation::exp({0.1, 0.2, 0.3}), {1.0, 2.0, 3.0}};
  const Transform way = Transform::exp({{0.1, 0.0, 0.2}, {0.0, 0.1, 0.05}});
  QueryContext context = predicting();
  context.interpolation = Interpolation::screw;
  for (int i = 0; i < 3; ++i) {
    Transform pose = first;
    for (int k = 0; k < i; ++k) pose = pose * way;
    (void)world.forest.set_pose({"a", "map", ""}, {i * kSecond / 10}, pose);
  }
  const auto answer = world.pose("a", "map", 3 * kSecond / 10, context);
  CHECK(answer && answer.value.predicted && !answer.value.held);
  CHECK(tests::is_close(answer.value.transform, first * way * way * way, 1e-12, 1e-9));
  CHECK(!world.pose("a", "map", kSecond / 10, context).value.predicted);
  CHECK(world.kind("a", "map", -1, context) == FailureKind::before_history);
}

TEST(predict_measured, "a measured twist at the end is believed more than the last two poses") {
  World world;
  world.put_x("a", "map", 0, 0.0);
  world.put_x("a", "map", kSecond, 0.0);
  CHECK_CLOSE(world.x("a", "map", kSecond + kSecond / 2, predicting()), 0.0, 1e-12);
  (void)measure(world, "a", "map", kSecond, kForward, "imu");
  CHECK_CLOSE(world.x("a", "map", kSecond + kSecond / 2, predicting()), 0.5, 1e-12);
}

TEST(predict_horizon, "there is a horizon, and a single sample goes nowhere by itself") {
  World world;
  world.put("a", "map", {0, kSecond});
  world.put("b", "map", {0});
  CHECK(world.kind("a", "map", 2 * kSecond, predicting()) == FailureKind::none);
  const auto beyond = world.pose("a", "map", 2 * kSecond + 1, predicting());
  CHECK(beyond.failure.kind() == FailureKind::after_history && beyond.failure->horizon_ns == kSecond);
  CHECK(world.kind("b", "map", 1, predicting()) == FailureKind::single_sample);
  (void)measure(world, "b", "map", 0, kForward, "imu");
  CHECK_CLOSE(world.x("b", "map", kSecond / 2, predicting()), 0.5, 1e-12);
}

TEST(predict_everywhere, "batches, points and sweeps predict alike") {
  World world;
  world.put("a", "map", {0, kSecond});
  world.fix("camera", "a", tests::at_y(1.0));
  const FrameId camera = world.forest.find_frame("camera"), map = world.forest.find_frame("map");
  const std::int64_t stamps[] = {kSecond / 2, kSecond + kSecond / 4};
  double rows[14], points[6] = {}, mapped[6];
  CHECK(!world.forest.poses(camera, map, stamps, predicting(), Forest::Layout::xyz_wxyz, rows));
  CHECK(!world.forest.map_points(camera, map, stamps, predicting(), points, mapped));
  for (int i = 0; i < 2; ++i) {
    const double x = world.x("camera", "map", stamps[i], predicting());
    CHECK_CLOSE(rows[7 * i], x, 1e-3);
    CHECK_CLOSE(mapped[3 * i], x, 1e-3);
  }
  const Sweep sweep = world.forest.snapshot(map, When::exactly({stamps[1]}), predicting());
  CHECK(sweep.missing.empty() && sweep.found.size() == 3);
  for (const Sweep::Found& found : sweep.found) CHECK(found.predicted == (found.frame != map) && !found.held);
}

TEST(predict_uncertain, "what is predicted grows uncertain") {
  ForestOptions options;
  options.prediction.noise_per_s = diagonal(4e-2);
  World world(std::move(options));
  const Covariance sure = diagonal(1e-2);
  for (const std::int64_t at : {std::int64_t{0}, kSecond})
    (void)world.forest.set_pose({"a", "map", ""}, {at}, tests::at_x(1.0), &sure);
  const auto answer = world.pose("a", "map", kSecond + kSecond / 2, predicting());
  CHECK(answer && answer.value.covariance);
  if (answer.value.covariance) CHECK_CLOSE(answer.value.covariance->at(0, 0), 1e-2 * (1.5 * 1.5 + 0.5 * 0.5) + 2e-2, 1e-12);
}

TEST(predict_twist, "a predicted pose moves with the twist that predicts it") {
  World world;
  world.put_x("a", "map", 0, 0.0);
  world.put_x("a", "map", kSecond, 2.0);
  const auto answer = world.forest.twist({.of = world.forest.find_frame("a"),
                                          .reference = world.forest.find_frame("map"),
                                          .at = When::exactly({kSecond + 5}),
                                          .context = predicting()});
  CHECK(answer && answer.value.predicted);
  CHECK_CLOSE(answer.value.velocity.linear.x, 2.0, 1e-12);
}

// -- Integration

TEST(integrate_forward, "a source that gives only twists moves its frame") {
  World world;
  world.put_x("base", "odom", 0, 0.0);
  for (int i = 1; i <= 10; ++i) CHECK(!measure(world, "base", "odom", i * kSecond / 10, {{1, 0, 0}, {0, 0, 1}}));
  const auto answer = world.pose("base", "odom", kSecond);
  CHECK(answer && answer.value.integrated);
  CHECK(tests::is_close(answer.value.transform, Transform::exp({{1, 0, 0}, {0, 0, 1}}), 1e-12, 1e-12));
  CHECK(!world.pose("base", "odom", 0).value.integrated);
  CHECK(world.pose("base", "odom", 1).value.integrated);
  CHECK(world.forest.relation(world.relation("base", "odom"))->integrated);
}

TEST(integrate_any_order, "the integral depends on the twists, not on the order they came in") {
  World one, other;
  const std::int64_t order[] = {3, 1, 4, 2, 5};
  for (World* world : {&one, &other}) world->put_x("base", "odom", 0, 0.0);
  for (std::int64_t i = 1; i <= 5; ++i) (void)measure(one, "base", "odom", i, {{1e9 * static_cast<double>(i), 0, 0}, {}});
  for (const std::int64_t i : order) (void)measure(other, "base", "odom", i, {{1e9 * static_cast<double>(i), 0, 0}, {}});
  for (std::int64_t i = 1; i <= 5; ++i) CHECK_CLOSE(one.x("base", "odom", i), other.x("base", "odom", i), 1e-9);
  CHECK_CLOSE(one.x("base", "odom", 5), 1.0 + 1.5 + 2.5 + 3.5 + 4.5, 1e-9);
}

TEST(integrate_late_pose, "a pose that comes after its twists is integrated from as well") {
  World world;
  CHECK(!measure(world, "base", "odom", kSecond, kForward));
  CHECK(!world.put_x("base", "odom", 0, 5.0));
  CHECK_CLOSE(world.x("base", "odom", kSecond), 6.0, 1e-12);
}

TEST(integrate_onward,
     "it goes on after the last given pose; between two given poses the answer follows the twists and meets both") {
  World world;
  const auto is_integrated = [&](std::int64_t at) { return world.pose("base", "odom", at * kSecond).value.integrated; };
  world.put_x("base", "odom", 0, 0.0);
  for (const std::int64_t at : {1, 2, 3}) CHECK(!measure(world, "base", "odom", at * kSecond, kForward));
  CHECK(!world.put_x("base", "odom", 4 * kSecond, 100.0));
  CHECK(!is_integrated(3) && !is_integrated(4));
  CHECK(world.samples("base", "odom") == 2);
  CHECK(!world.forest.relation(world.relation("base", "odom"))->integrated);
  for (const std::int64_t at : {5, 6}) CHECK(!measure(world, "base", "odom", at * kSecond, kForward));
  CHECK_CLOSE(world.x("base", "odom", 3 * kSecond), 75.0, 1e-9);
  CHECK_CLOSE(world.x("base", "odom", 6 * kSecond), 102.0, 1e-12);
  CHECK(is_integrated(5) && !is_integrated(4) && !is_integrated(0));
  CHECK(world.forest.relation(world.relation("base", "odom"))->integrated);
}

TEST(integrate_at_pose, "a twist at a given pose adds no sample, but is the velocity there") {
  World world;
  world.put_x("base", "odom", 0, 0.0);
  CHECK(!measure(world, "base", "odom", kSecond, kForward));
  CHECK(!measure(world, "base", "odom", 0, 3.0 * kForward));
  CHECK(world.samples("base", "odom") == 2 && !world.pose("base", "odom", 0).value.integrated);
  CHECK_CLOSE(world.x("base", "odom", kSecond), 2.0, 1e-12);
}

TEST(integrate_older_twist, "a twist before a pose is the velocity at it, however late it comes") {
  World world;
  CHECK(!world.put_x("base", "odom", 2, 0.0));
  CHECK(!world.put_x("base", "odom", 2 * kSecond, 0.0));
  CHECK(!measure(world, "base", "odom", 3 * kSecond, kForward));
  CHECK(!measure(world, "base", "odom", 1, 3.0 * kForward));
  CHECK_CLOSE(world.x("base", "odom", 3 * kSecond), 2.0, 1e-12);
}

namespace {

/// One assertion, at a second.
struct Given {
  double at_s;
  void (*give)(World&, std::int64_t at);
};

void give_pose(World& world, std::int64_t at) { (void)world.put_x("base", "odom", at, 0.0); }
void give_twist(World& world, std::int64_t at) {
  (void)measure(world, "base", "odom", at, {{1.0 + 1e-9 * static_cast<double>(at), 0, 0}, {0, 0, 0.5}});
}

/// All answers to the end, as one row of numbers.
std::vector<double> answers_after(const std::vector<Given>& all, const std::vector<std::size_t>& order) {
  World world;
  for (const std::size_t i : order) all[i].give(world, static_cast<std::int64_t>(1e9 * all[i].at_s));
  std::vector<double> row;
  for (const std::string_view frame : {"odom", "dock"})
    for (std::int64_t at = 0; at <= 4 * kSecond; at += kSecond / 4) {
      const auto answer = world.pose("base", frame, at);
      const auto& [x, y, z] = answer.value.transform.translation;
      const double number = answer ? 1.0 : 0.0, method = answer.value.integrated ? 1.0 : 0.0;
      row.insert(row.end(), {number, answer ? method : 0.0, answer ? x : 0.0, answer ? y : 0.0});
    }
  return row;
}

}  // namespace

TEST(integrate_permuted, "what is integrated depends on the set of assertions, not on their order") {
  const Given extras[] = {{1.5, [](World& world, std::int64_t at) { (void)world.put_x("base", "odom", at, 10.0); }},
                          {2.0, [](World& world, std::int64_t at) { (void)world.put_x("base", "odom", at, 10.0); }},
                          {1.5, [](World& world, std::int64_t at) { (void)world.put_x("base", "dock", at, 10.0); }},
                          {1.5, [](World& world, std::int64_t at) { (void)world.fix("base", "dock", {}, {at}); }},
                          {2.0, [](World& world, std::int64_t at) { (void)world.fix("base", "odom", {}, {at}); }}};
  for (const Given& extra : extras) {
    const std::vector<Given> all{{0.0, give_pose}, {1.0, give_twist}, {2.0, give_twist}, {3.0, give_twist}, extra};
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    const std::vector<double> expected = answers_after(all, order);
    while (std::ranges::next_permutation(order).found) CHECK(answers_after(all, order) == expected);
  }
}

TEST(integrate_absurd, "what numbers cannot say is not stored; a better twist mends it") {
  constexpr std::int64_t kLong = 100'000 * kSecond;
  ForestOptions options;
  options.retention = tests::keeping(10 * kLong);
  World world(std::move(options));
  world.put_x("base", "odom", 0, 0.0);
  for (const std::int64_t at : {1, 3, 4}) CHECK(!measure(world, "base", "odom", at * kLong, kForward));
  CHECK(!measure(world, "base", "odom", 2 * kLong, {{9e99, 0, 0}, {0, 0, 9e99}}));
  CHECK_CLOSE(world.x("base", "odom", kLong), 1e5, 1e-6);
  CHECK(world.kind("base", "odom", 2 * kLong) == FailureKind::after_history);
  CHECK(!measure(world, "base", "odom", 5 * kLong, kForward));
  CHECK(world.samples("base", "odom") == 2);
  CHECK(!measure(world, "base", "odom", 2 * kLong, kForward));
  CHECK_CLOSE(world.x("base", "odom", 5 * kLong), 5e5, 1e-6);
}

TEST(integrate_cycle, "on a cycle it goes on as far as no loop closes") {
  World world;
  CHECK(!world.put("base", "odom", {0, 1}));
  CHECK(!world.put("odom", "base", {3 * kSecond}));
  for (const std::int64_t at : {1, 2, 3, 4}) CHECK(!measure(world, "base", "odom", at * kSecond, kForward));
  CHECK_CLOSE(world.x("base", "odom", 2 * kSecond), 3.0, 1e-6);
  CHECK(world.pose("base", "odom", 2 * kSecond).value.integrated);
  CHECK(world.samples("base", "odom") == 4);
}

TEST(integrate_forgets, "what is forgotten takes its marks along, and is gone on from") {
  ForestOptions options;
  options.retention = tests::keeping(10);
  World world(std::move(options));
  CHECK(!world.put_x("base", "odom", 0, 0.0));
  for (std::int64_t at = 1; at <= 1000; ++at) CHECK(!measure(world, "base", "odom", at, 1e9 * kForward));
  CHECK(world.samples("base", "odom") == 11);
  CHECK_CLOSE(world.x("base", "odom", 1000), 1000.0, 1e-6);
  CHECK(!world.put_x("base", "odom", 995, 0.0));
  CHECK_CLOSE(world.x("base", "odom", 1000), 5.0, 1e-6);
  CHECK_CLOSE(world.x("base", "odom", 994), 994.0, 1e-6);
}

TEST(integrate_own, "only its own track, under a frame of the body the twists are relative to") {
  World world;
  world.put_x("base", "odom", 0, 0.0);
  CHECK(!measure(world, "base", "odom", 1, kForward, "imu"));
  CHECK(!measure(world, "base", "moon", 1, kForward));
  CHECK(world.samples("base", "odom") == 1);
}

TEST(integrate_uncertain, "what is integrated grows uncertain with its twists") {
  World world;
  const Covariance start = diagonal(1e-2), speed = diagonal(4e-2);
  (void)world.forest.set_pose({"base", "odom", ""}, {0}, {}, &start);
  CHECK(!measure(world, "base", "odom", kSecond / 2, {}, "", &speed));
  const auto answer = world.pose("base", "odom", kSecond / 2);
  CHECK(answer.value.covariance != nullptr);
  if (answer.value.covariance) CHECK_CLOSE(answer.value.covariance->at(0, 0), 2e-2, 1e-12);
  CHECK(!measure(world, "base", "odom", kSecond, {}));
  CHECK(world.pose("base", "odom", kSecond).value.certainty == Certainty::unknown);
}
