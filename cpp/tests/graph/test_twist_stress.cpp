// Readers ask how things move while a writer measures, predicts, integrates, forgets and takes frames away.

#include <atomic>
#include <thread>

#include "worlds.hpp"

using namespace armillary;
using tests::World;

namespace {

constexpr std::int64_t kStep = 1'000'000;
constexpr std::int64_t kEnough = 2000;

struct Motion {
  World world;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> now{10 * kStep};
  std::atomic<std::int64_t> answered{0}, written{0}, wrong{0};

  Motion() {
    for (std::int64_t i = 0; i <= 10; ++i) give(i * kStep);
    (void)world.forest.fix({"camera", "base", ""}, Stamp::always(), FixedPose{});
  }

  /// Everything drives along x at 1 m/s, by every source.
  void give(std::int64_t at) {
    const Velocity forward{{1.0, 0.0, 0.0}, {}};
    (void)world.forest.set_pose({"base", "map", ""}, {at}, tests::at_x(1e-9 * static_cast<double>(at)));
    (void)world.forest.set_twist({"base", "map", "wheels"}, {.at = {at}, .velocity = forward});
    (void)world.forest.set_twist({"cart", "base", ""}, {.at = {at}, .velocity = {}});
  }

  void write() {
    for (int i = 0; !stop; ++i, ++written) {
      const std::int64_t at = now.load() + kStep;
      give(at);
      now = at;
      if (i % 50 == 0) (void)world.forest.set_twist({"guest", "base", ""}, {.at = {at}, .velocity = {}});
      if (i % 50 == 25) (void)world.forest.remove_frame(world.forest.find_frame("guest"), true);
      if (i % 70 == 0) (void)world.forest.set_pose({"odometer", "map", "odo"}, {at}, {});
      (void)world.forest.set_twist({"odometer", "map", "odo"}, {.at = {at}, .velocity = {{1.0, 0.0, 0.0}, {}}});
    }
  }

  void read(std::int64_t ahead) {
    const FrameId camera = world.forest.find_frame("camera"), map = world.forest.find_frame("map");
    QueryContext context;
    context.outside = Outside::predict;
    while (!stop) {
      const When at = When::exactly({now.load() + ahead});
      const auto twist = world.forest.twist({.of = camera, .reference = map, .at = at, .context = context});
      const auto pose = world.forest.pose({.of = camera, .in_frame = map, .at = at, .context = context});
      (void)world.forest.snapshot(map, at, context);
      if (!twist || !pose) continue;
      ++answered;
      const double expected_x = 1e-9 * static_cast<double>(at.at.ns);
      if (std::abs(twist.value.velocity.linear.x - 1.0) > 1e-3) ++wrong;
      if (std::abs(pose.value.transform.translation.x - expected_x) > 1e-3) ++wrong;
    }
  }
};

}  // namespace

TEST(twist_stress, "stress: motion is read while it is written") {
  Motion motion;
  std::thread writer([&] { motion.write(); }), past([&] { motion.read(-kStep / 2); }), ahead([&] { motion.read(kStep / 2); });
  tests::until_each_is(kEnough, {&motion.answered, &motion.written});
  motion.stop = true;
  for (std::thread* thread : {&writer, &past, &ahead}) thread->join();
  CHECK(motion.wrong == 0);
}
