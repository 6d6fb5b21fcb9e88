// Readers ask for integrated poses while late poses, late twists and moves take them back and make them anew.

#include <atomic>
#include <thread>

#include "worlds.hpp"

using namespace armillary;
using tests::World;

namespace {

constexpr std::int64_t kStep = 1'000'000;
constexpr std::int64_t kEnough = 2000;

/// For every source x is the time in seconds: so it is, whatever was integrated from what.
struct Odometer {
  World world;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> now{0};
  std::atomic<std::int64_t> answered{0}, written{0}, wrong{0};

  Odometer() { pose(0, "map"); }

  void pose(std::int64_t at, std::string_view in) {
    (void)world.forest.set_pose({"base", in, ""}, {at}, tests::at_x(1e-9 * static_cast<double>(at)));
  }
  void twist(std::int64_t at) {
    (void)world.forest.set_twist({"base", "map", ""}, {.at = {at}, .velocity = {{1.0, 0.0, 0.0}, {}}});
  }

  void write() {
    for (std::int64_t i = 1; !stop; ++i, ++written) {
      const std::int64_t at = i * kStep;
      if (i % 5 != 0) twist(at);
      if (i % 7 == 0) twist(at - at % (5 * kStep));
      if (i % 11 == 0) pose(at - 7 * kStep / 2, "map");
      if (i % 50 == 0) pose(at - 5 * kStep, "dock");
      if (i % 50 == 0) pose(at - 2 * kStep, "map");
      now = at;
    }
  }

  void read() {
    const FrameId base = world.forest.find_frame("base"), map = world.forest.find_frame("map");
    for (std::int64_t back = 0; !stop; back = (back + 1) % 12) {
      const std::int64_t at = now.load() - back * kStep / 2;
      const auto answer = world.forest.pose({.of = base, .in_frame = map, .at = When::exactly({at})});
      if (!answer) continue;
      ++answered;
      if (std::abs(answer.value.transform.translation.x - 1e-9 * static_cast<double>(at)) > 1e-6) ++wrong;
    }
  }
};

}  // namespace

TEST(integration_stress, "stress: integrated poses are read while they are taken back and made anew") {
  Odometer odometer;
  std::thread writer([&] { odometer.write(); }), reader([&] { odometer.read(); }), another([&] { odometer.read(); });
  tests::until_each_is(kEnough, {&odometer.answered, &odometer.written});
  odometer.stop = true;
  for (std::thread* thread : {&writer, &reader, &another}) thread->join();
  CHECK(odometer.wrong == 0);
}
