// What is forgotten, and what is removed.

#include <algorithm>

#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::holding;
using tests::keeping;
using tests::World;

namespace {

World with_history(std::int64_t history_ns, std::size_t max_samples = 0) {
  ForestOptions options;
  options.retention = keeping(history_ns, max_samples);
  return World(std::move(options));
}

}  // namespace

// -- Forgetting

TEST(expiry_exact, "a sample exactly as old as the history is kept, an older one is not accepted") {
  World world = with_history(100);
  world.put("a", "map", {0, 50, 100});
  CHECK(world.kind("a", "map", 0) == FailureKind::none);
  CHECK(!world.put("a", "map", {1}));
  CHECK(world.put("a", "map", {-1}).kind() == FailureKind::before_history);
  world.put("a", "map", {101});
  CHECK(world.kind("a", "map", 0) == FailureKind::before_history);
  CHECK(world.kind("a", "map", 1) == FailureKind::none);
}

TEST(expiry_batch, "a batch with one row too old is refused whole and names the row") {
  World world = with_history(100);
  world.put("a", "map", {1000});
  const Failure failure = world.put_many("a", "map", {990, 950, 890, 1010});
  CHECK(failure.kind() == FailureKind::before_history && failure->row == 2);
  CHECK(world.samples("a", "map") == 1);
}

TEST(expiry_apart, "expiry is per relation, against its own newest") {
  World world = with_history(100);
  world.put("a", "map", {0, 10});
  world.put("b", "map", {0, 10, 1000, 1010});
  CHECK(world.kind("a", "map", 5) == FailureKind::none);
  CHECK(world.kind("b", "map", 5) == FailureKind::before_history);
}

TEST(expiry_runs, "samples of an old run expire against the newest of their relation") {
  World world = with_history(100);
  world.put("cup", "p0", {0, 10});
  world.put("cup", "p1", {20, 30});
  world.put("cup", "p0", {200, 210});
  CHECK(world.kind("cup", "p0", 5) != FailureKind::none);
  CHECK(world.kind("cup", "p1", 25) == FailureKind::none);
  CHECK(world.samples("cup", "p0") == 2);
}

TEST(expiry_front, "a run that is forgotten altogether is no answer any more, not even to why") {
  World world = with_history(100);
  world.put("cup", "p0", {0, 10});
  world.put("cup", "p1", {20, 30});
  world.put("cup", "p0", {200, 210});
  for (const char* parent : {"p0", "p1"}) world.fix(parent, "map");
  const auto before = world.pose("cup", "map", 5);
  CHECK(before.failure.kind() == FailureKind::before_history && before.failure->relation == world.relation("cup", "p1"));
  CHECK_CLOSE(world.x("cup", "map", 5, holding()), 20.0, 0.0);
}

TEST(expiry_keep, "a shorter history of one relation takes effect at once, in all its runs") {
  World world = with_history(1000);
  world.put("cup", "p0", {1, 3});
  world.put("cup", "p1", {5});
  world.put("cup", "p0", {100, 110});
  CHECK(!world.forest.keep(world.relation("cup", "p0"), keeping(10)));
  CHECK(world.kind("cup", "p0", 2) != FailureKind::none);
  CHECK(world.samples("cup", "p0") == 2);
  CHECK(world.kind("cup", "p1", 5) == FailureKind::none);
}

TEST(expiry_keep_longer, "what is accepted after the history was lengthened can be asked for") {
  World world = with_history(100);
  for (std::int64_t t = 0; t <= 100; t += 10) world.put("a", "map", {t});
  const RelationId relation = world.relation("a", "map");
  world.forest.keep(relation, keeping(10));
  CHECK(world.samples("a", "map") == 2);
  world.forest.keep(relation, keeping(100));
  const Failure failure = world.put("a", "map", {50});
  CHECK(failure.kind() == FailureKind::before_history || world.kind("a", "map", 50) == FailureKind::none);
  CHECK(world.samples("a", "map") == (failure ? 2 : 3));
}

TEST(max_samples_late, "a sample older than the bound on their number lets stay does no harm") {
  World world = with_history(1000, 3);
  world.put("a", "map", {1, 2, 3, 4});
  CHECK(world.samples("a", "map") == 3 && world.kind("a", "map", 1) != FailureKind::none);
  (void)world.put("a", "map", {0});
  (void)world.put("a", "map", {1});
  CHECK(world.samples("a", "map") == 3 && world.kind("a", "map", 4) == FailureKind::none);
  CHECK(!world.put("a", "map", {3}) && !world.put("a", "map", {5}));
  CHECK(world.samples("a", "map") == 3 && world.kind("a", "map", 2) != FailureKind::none);
}

TEST(max_samples_runs, "the bound on samples counts all runs of a relation") {
  World world = with_history(1000, 4);
  for (std::int64_t t = 0; t < 40; t += 4) {
    world.put("cup", "p0", {t, t + 1});
    world.put("cup", "p1", {t + 2, t + 3});
  }
  CHECK(world.samples("cup", "p0") == 4 && world.samples("cup", "p1") == 4);
  CHECK(world.kind("cup", "p0", 37) == FailureKind::none);
}

TEST(clear_keeps, "clearing keeps frames, parents and fixed poses, and forgets samples") {
  World world;
  world.put("a", "map", {0, 10});
  world.fix("b", "a", at_x(1.0));
  world.forest.clear();
  CHECK(world.kind("a", "map", 5) == FailureKind::no_samples);
  CHECK(world.latest("b", "map").failure.kind() == FailureKind::no_samples);
  CHECK_CLOSE(world.x("b", "a", 5), 1.0, 0.0);
  CHECK(!world.put("a", "map", {-100, -90}));  // nothing old is in the way
  CHECK_CLOSE(world.x("b", "map", -95), -94.0, 1e-12);
}

TEST(clear_moves, "after clearing, a frame may go to another parent, and back") {
  World world;
  world.put("cup", "p0", {0, 10});
  world.forest.clear();
  CHECK(!world.put("cup", "p1", {3, 5}));
  CHECK(world.kind("cup", "p1", 4) == FailureKind::none);
  world.forest.clear();
  world.forest.clear();
  CHECK(world.kind("cup", "p1", 4) == FailureKind::no_samples);
  CHECK(!world.put("cup", "p1", {1, 2}));
  CHECK_CLOSE(world.x("cup", "p1", 1), 1.0, 0.0);
}

TEST(reset_time_fixed, "after a new time a pose that was fixed is fixed since always") {
  World world;
  world.put("cup", "p0", {0, 10});
  world.fix("cup", "p1", at_x(3.0), {20});
  world.put("base", "map", {0, 10});
  world.forest.reset_time();
  CHECK_CLOSE(world.x("cup", "p1", -1000), 3.0, 0.0);
  CHECK(world.kind("base", "map", 5) == FailureKind::no_samples);
}

// -- Removing

TEST(remove_alone, "a removed frame is unknown, its name is free, its past gone") {
  World world;
  world.put("a", "map", {0, 10});
  const FrameId id = world.forest.find_frame("a");
  CHECK(!world.forest.remove_frame(id, false));
  CHECK(world.forest.find_frame("a") == kNone && world.kind("a", "map", 5) == FailureKind::unknown_frame);
  CHECK(world.forest.remove_frame(id, false).kind() == FailureKind::unknown_frame);
  world.put("a", "map", {100, 110});
  CHECK(world.kind("a", "map", 5) == FailureKind::before_history);
  CHECK(world.forest.frame_names().size() == 2 && world.forest.relations().size() == 1);
}

TEST(remove_used, "a frame that is a parent, or was one, is removed only with its children") {
  World world;
  world.put("a", "map", {0, 10});
  world.put("b", "a", {0, 10});
  world.put("b", "map", {20, 30});
  const FrameId a = world.forest.find_frame("a");
  CHECK(world.forest.remove_frame(a, false).kind() == FailureKind::frame_in_use);
  CHECK(world.kind("b", "map", 5) == FailureKind::none);
  CHECK(!world.forest.remove_frame(a, true));
  CHECK(world.forest.find_frame("b") == kNone && world.forest.frame_names() == std::vector<std::string>{"map"});
  CHECK(world.forest.relations().empty());
}

TEST(remove_reuse, "a reused number brings nothing of its past") {
  World world;
  world.put("a", "map", {0, 10}, "one");
  world.put("a", "map", {0, 10}, "two");
  (void)world.forest.prefer(world.forest.find_frame("a"), "two");
  const FrameId id = world.forest.find_frame("a");
  world.forest.remove_frame(id, false);
  std::string name;
  for (int i = 0; i < 10'000 && world.forest.find_frame(name) != id; ++i) {  // a number rests before it is used again
    world.forest.remove_frame(world.forest.find_frame(name), false);
    name = "z" + std::to_string(i);
    world.forest.add_frame(name);
  }
  CHECK(world.forest.find_frame(name) == id);
  CHECK(world.kind(name, "map", 5) == FailureKind::not_connected && world.forest.sources_of(id).empty());
  world.put(name, "map", {0, 10}, "one");
  world.put(name, "map", {0, 10}, "two");
  CHECK(world.kind(name, "map", 5) == FailureKind::ambiguous_path);
}

TEST(remove_many, "removing and adding again for ever does not grow the number of frames") {
  World world;
  FrameId highest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const FrameId id = world.forest.add_frame("f" + std::to_string(i));
    highest = std::max(highest, id);
    world.forest.remove_frame(id, false);
  }
  CHECK(highest < 5000 && world.forest.frame_names().empty());
}
