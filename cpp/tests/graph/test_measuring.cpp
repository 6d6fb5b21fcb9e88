// Samples as the measurements of a filter: it goes on from the first that differs, and is as one that begins anew.

#include "armillary/graph/measuring.hpp"
#include "armillary/math/pose_filter.hpp"
#include "worlds.hpp"

using namespace armillary;
using tests::World;

namespace {

constexpr std::int64_t kTenth = 100'000'000;

const Covariance* sure() {
  static const Covariance covariance = [] {
    Covariance made;
    for (int i = 0; i < 6; ++i) made.at(i, i) = 1e-4;
    return made;
  }();
  return &covariance;
}

FilterModel model() {
  FilterModel made{.restart_ns = 1'000'000'000, .restart_count = 5};
  made.acceleration.fill(0.5);
  made.first_speed.fill(4.0);
  made.gates.fill(30.0);
  return made;
}

void see(World& world, std::int64_t tenth, double x, std::string_view source = "left", std::string_view in = "map") {
  CHECK(!world.forest.set_pose({"cup", in, source}, {kTenth * tenth}, tests::at_x(x), sure()));
}

MeasuredFrame question(const World& world) {
  const FrameId cup = world.forest.find_frame("cup"), map = world.forest.find_frame("map");
  MeasuredFrame asked{.in_frame = map};
  asked.sources.push_back({world.forest.find_relation(cup, map, "left"), map, 0});
  if (const RelationId right = world.forest.find_relation(cup, map, "right"); right != kNone)
    asked.sources.push_back({right, map, 1});
  if (const FrameId hand = world.forest.find_frame("hand"); hand != kNone)
    asked.sources.push_back({world.forest.find_relation(cup, hand, "touch"), hand, 2});
  return asked;
}

bool is_as_anew(const World& world, const PoseFilter& filter, const MeasuredFrame& asked) {
  PoseFilter anew(model());
  (void)world.forest.measure(asked, anew);
  const std::size_t count = anew.size();
  if (count != filter.size() || count == 0) return false;
  const std::int64_t at = anew.measurement(count - 1).stamp_ns;
  return anew.estimate(count, at).covariance == filter.estimate(count, at).covariance &&
         anew.estimate(count, at).velocity == filter.estimate(count, at).velocity;
}

}  // namespace

TEST(measuring_goes_on_from_the_first_sample_that_differs, "measuring goes on from the first sample that differs") {
  World world;
  PoseFilter filter(model());
  for (std::int64_t k = 0; k < 20; k += 2) see(world, k, 0.1 * static_cast<double>(k));
  see(world, 5, 0.5, "right");
  CHECK(world.forest.measure(question(world), filter)[0].taken == 10);
  CHECK(filter.size() == 11);
  see(world, 20, 2.0);
  see(world, 7, 0.7, "right");  // late
  see(world, 4, 0.41);          // corrected
  CHECK(world.forest.measure(question(world), filter)[0].taken == 11);
  CHECK(filter.size() == 13 && is_as_anew(world, filter, question(world)));
  MeasuredFrame newer = question(world);
  newer.from = {kTenth * 6};
  CHECK(world.forest.measure(newer, filter)[1].stored == 1);
  CHECK(is_as_anew(world, filter, newer));
}

TEST(measuring_takes_samples_in_other_frames_where_these_are_known,
     "measuring takes samples in other frames where these are known") {
  World world;
  PoseFilter filter(model());
  see(world, 0, 1.0);
  CHECK(!world.forest.set_pose({"hand", "map", ""}, {0}, tests::at_x(0.5), sure()));
  CHECK(!world.forest.set_pose({"hand", "map", ""}, {kTenth}, tests::at_x(0.5), sure()));
  see(world, 1, 0.5, "touch", "hand");
  see(world, 2, 0.5, "touch", "hand");  // where the hand is then is not known
  const std::vector<MeasuredCount> counts = world.forest.measure(question(world), filter);
  CHECK(counts.back().stored == 2 && counts.back().taken == 1);
  CHECK(filter.size() == 2);
  CHECK(std::abs(filter.measurement(1).pose.translation.x - 1.0) < 1e-12);
  CHECK(std::abs(filter.measurement(1).covariance[0] - 2e-4) < 1e-12);
  CHECK(filter.summary(2).used == 2);
}
