// Frames that end: earlier queries still answer, later ones do not, and the order of assertions does not matter.

#include <algorithm>
#include <random>

#include "endings.hpp"

using namespace armillary;
using tests::at_x;
using tests::close;
using tests::World;

TEST(closed_fixed, "closing: a fixed frame answers until then, and not after") {
  World world;
  (void)world.fix("cup", "map", at_x(3.0));
  CHECK(!close(world, "cup", 5));
  CHECK_CLOSE(world.x("cup", "map", 4), 3.0, tests::kCloseM);
  CHECK(world.kind("cup", "map", 5) == FailureKind::not_connected);
  CHECK(world.kind("cup", "map", 9, tests::holding()) == FailureKind::not_connected);
  CHECK(world.latest("cup", "map").failure.kind() == FailureKind::not_connected);
  CHECK(!world.forest.can_pose(world.question("cup", "map", When::exactly({6}))));
}

TEST(closed_evidence, "closing: the failure names the frame that ended, and when") {
  World world;
  (void)world.fix("cup", "map");
  (void)world.fix("lid", "cup");
  (void)close(world, "cup", 5);
  const auto answer = world.pose("lid", "map", 8);
  CHECK(answer.failure->ended == world.forest.find_frame("cup") && answer.failure->last == Stamp{5});
  CHECK_CLOSE(world.x("lid", "cup", 8), 0.0, tests::kCloseM);
  (void)world.fix("table", "hall");
  CHECK(world.pose("table", "map", 8).failure->ended == kNone);
}

TEST(closed_sampled, "closing: samples before fill the run that ended, samples after begin a new one") {
  World world;
  (void)world.put("cup", "map", {1, 3});
  (void)close(world, "cup", 5);
  CHECK(world.kind("cup", "map", 4) == FailureKind::after_history);
  CHECK_CLOSE(world.x("cup", "map", 4, tests::holding()), 3.0, tests::kCloseM);
  CHECK(!world.put("cup", "map", {4, 8, 9}));
  CHECK_CLOSE(world.x("cup", "map", 4), 4.0, tests::kCloseM);
  CHECK(world.kind("cup", "map", 6, tests::holding()) == FailureKind::not_connected);
  CHECK_CLOSE(world.x("cup", "map", 8), 8.0, tests::kCloseM);
  CHECK(world.samples("cup", "map") == 5);
}

TEST(closed_driven, "closing: a driven frame ends") {
  World world;
  (void)world.forest.drive({"drawer", "map", ""}, Stamp::always(), std::make_shared<tests::Slider>());
  (void)close(world, "drawer", 5);
  CHECK_CLOSE(world.x("drawer", "map", 4), 4.0, tests::kCloseM);
  CHECK(world.kind("drawer", "map", 6) == FailureKind::not_connected);
}

TEST(closed_contest, "closing: who has ended does not contest any more") {
  World world;
  (void)world.fix("cup", "map", at_x(1.0), Stamp::always(), "left");
  (void)world.fix("cup", "map", at_x(2.0), Stamp::always(), "right");
  CHECK(world.kind("cup", "map", 7) == FailureKind::ambiguous_path);
  CHECK(!close(world, "cup", 5, "left"));
  CHECK(world.kind("cup", "map", 4) == FailureKind::ambiguous_path);
  CHECK_CLOSE(world.x("cup", "map", 7), 2.0, tests::kCloseM);
  (void)world.forest.prefer(world.forest.find_frame("cup"), "left");
  CHECK_CLOSE(world.x("cup", "map", 4), 1.0, tests::kCloseM);
  CHECK_CLOSE(world.x("cup", "map", 7), 2.0, tests::kCloseM);
  CHECK(!close(world, "cup", 9, "right"));
  CHECK(world.kind("cup", "map", 9) == FailureKind::not_connected);
}

TEST(closed_nothing, "closing: what does not exist has no parent already") {
  World world;
  const std::string before = tests::portrait(world.forest);
  CHECK(!close(world, "nobody", 5));
  CHECK(tests::portrait(world.forest) == before);
}

TEST(closed_time_restarts, "closing: survives clear, and is forgotten when time restarts") {
  World world;
  (void)world.fix("cup", "map");
  (void)world.put("tray", "map", {1, 3});
  (void)close(world, "cup", 5);
  (void)close(world, "tray", 5);
  world.forest.clear();
  CHECK(world.kind("cup", "map", 6) == FailureKind::not_connected && world.kind("cup", "map", 4) == FailureKind::none);
  world.forest.reset_time();
  CHECK(world.kind("cup", "map", 4) == FailureKind::not_connected);
  (void)world.put("tray", "map", {7, 9});
  CHECK(world.kind("tray", "map", 6) == FailureKind::before_history);
}

TEST(closed_runs_bounded, "closing: ends count among the runs that are kept") {
  ForestOptions options;
  options.max_runs = 4;
  World world(options);
  for (std::int64_t t = 0; t < 40; t += 2) {
    (void)world.fix("cup", "map", at_x(static_cast<double>(t)), {t});
    (void)close(world, "cup", t + 1);
  }
  CHECK(world.kind("cup", "map", 30) == FailureKind::before_history);
  CHECK(world.kind("cup", "map", 36) == FailureKind::none && world.kind("cup", "map", 37) == FailureKind::not_connected);
}

TEST(closed_any_order, "closing: the answers depend on the assertions, and not on their order") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::int64_t, unsigned>> given;
    for (std::int64_t at = 1; at < 24; at += 1 + static_cast<std::int64_t>(random() % 4)) given.emplace_back(at, random() % 4);
    World in_order, shuffled;
    for (World* world : {&in_order, &shuffled}) {
      (void)world->fix("hand", "map", at_x(100.0));
      (void)world->forest.add_frame("cup");
    }
    for (const auto& [at, what] : given) tests::give(in_order, at, what);
    std::ranges::shuffle(given, random);
    for (const auto& [at, what] : given) tests::give(shuffled, at, what);
    CHECK(tests::answers(in_order) == tests::answers(shuffled));
  }
}

TEST(closed_many, "closing: batches stop at the end, and a sweep misses what has ended") {
  World world;
  (void)world.put("cup", "map", {0, 4});
  (void)close(world, "cup", 3);
  const FrameId cup = world.forest.find_frame("cup"), map = world.forest.find_frame("map");
  const std::vector<std::int64_t> stamps{0, 1, 2, 3, 4};
  (void)world.put("cup", "map", {2});
  std::vector<double> rows(7 * stamps.size());
  const Failure failure = world.forest.poses(cup, map, stamps, {}, Forest::Layout::xyz_wxyz, rows.data());
  CHECK(failure.kind() == FailureKind::not_connected && failure->row == 3);
  for (const std::int64_t at : {2, 3, 4}) {
    const Sweep sweep = world.forest.snapshot(map, When::exactly({at}), {});
    CHECK(sweep.missing.size() == (at == 3 ? 1U : 0U));
  }
}

TEST(closed_waits, "closing: a wait goes on over an end, and is answered when the frame is placed again") {
  World world;
  (void)world.put("cup", "map", {1, 3});
  struct Flag : Watcher {
    void wake(WaitId) override { ++rung; }
    int rung = 0;
  } flag;
  const NamedQuestion question{.of = "cup", .in_frame = "map", .fixed_frame = {}, .at = When::exactly({9})};
  CHECK(world.forest.answer_or_watch(question, {1, &flag}).failure.kind() == FailureKind::after_history);
  (void)close(world, "cup", 5);
  CHECK(flag.rung == 1);
  CHECK(world.forest.answer_or_watch(question, {1, &flag}).failure.kind() == FailureKind::not_connected);
  CHECK(world.forest.is_watching(1));
  (void)world.put("cup", "map", {8, 10});
  CHECK(flag.rung == 2);
  CHECK(world.forest.answer_or_watch(question, {1, &flag}));
}
