// Loops: at one instant, of all sources together.

#include "worlds.hpp"

using namespace armillary;
using tests::World;

TEST(loop_instant, "a loop is a loop at one instant") {
  World world;
  CHECK(!world.put("a", "b", {1, 5}));
  CHECK(world.put("b", "a", {3}).kind() == FailureKind::frame_loop);
  CHECK(world.put("b", "a", {5}).kind() == FailureKind::frame_loop);
  CHECK(!world.put("b", "a", {6, 10}));
  CHECK_CLOSE(world.x("b", "a", 7), 7.0, 1e-12);
  CHECK_CLOSE(world.x("a", "b", 7), -7.0, 1e-12);
  CHECK_CLOSE(world.x("a", "b", 3), 3.0, 1e-12);
}

TEST(loop_nothing_changes, "a refused loop changes nothing") {
  World world;
  world.put("a", "b", {1, 5});
  world.put("c", "a", {1, 5});
  CHECK(world.put_many("b", "c", {2, 4}).kind() == FailureKind::frame_loop);
  CHECK(world.fix("b", "c").kind() == FailureKind::frame_loop);
  CHECK(world.relation("b", "c") == kNone);
  CHECK(world.forest.relations().size() == 2 && world.kind("c", "b", 3) == FailureKind::none);
}

TEST(loop_self, "a frame cannot be placed in itself") {
  World world;
  CHECK(world.put("a", "a", {1}).kind() == FailureKind::frame_in_itself);
  CHECK(world.fix("a", "a").kind() == FailureKind::frame_in_itself);
  CHECK(world.forest.find_frame("a") == kNone);
}

TEST(loop_rivals, "relations of all sources count together") {
  World world;
  world.put("a", "b", {1, 5}, "one");
  CHECK(world.put("b", "a", {3}, "two").kind() == FailureKind::frame_loop);
  world.put("b", "c", {1, 5}, "one");
  CHECK(world.put("c", "a", {3}, "two").kind() == FailureKind::frame_loop);
}

TEST(loop_joined, "a sample that joins two runs is checked for all it then covers") {
  World world;
  world.put("c", "p1", {1, 3});
  world.put("c", "p2", {50});
  world.put("c", "p1", {70, 90});
  CHECK(!world.put("p1", "c", {35, 45}));
  CHECK(world.put("c", "p1", {50}).kind() == FailureKind::frame_loop);
}

TEST(loop_batch_joined, "a batch is checked for all that its samples cover with their neighbours") {
  World world;
  world.put("c", "p1", {1, 3});
  world.put("c", "p2", {5});
  world.put("c", "p1", {20, 30});
  CHECK(!world.put("p1", "c", {16, 18}));
  CHECK(world.put_many("c", "p1", {4, 15}).kind() == FailureKind::frame_loop);
}

TEST(loop_batch_around, "a batch around another run does not cover it") {
  World world;
  world.put("c", "p1", {1, 3});
  world.put("c", "p2", {5, 7});
  CHECK(!world.put("p1", "c", {5, 7}));
  CHECK(!world.put_many("c", "p1", {2, 9}));
}

TEST(loop_fixed_end, "a fixing covers no more than until the next run of its track") {
  World world;
  world.put("c", "p2", {10, 20});
  CHECK(!world.put("p1", "c", {30, 40}));
  CHECK(!world.fix("c", "p1", {}, {5}));
  CHECK(world.fix("c", "p1", {}, {35}).kind() == FailureKind::frame_loop);
}

TEST(loop_many_paths, "checking for a loop does not walk every path of a ladder of rivals") {
  World world;
  constexpr int kRungs = 40;
  for (int i = 0; i < kRungs; ++i)
    for (const char* source : {"one", "two"}) world.put("f" + std::to_string(i), "f" + std::to_string(i + 1), {10, 20}, source);
  world.put("f40", "top", {1, 2});
  CHECK(!world.put("top", "f0", {15}));  // 2^40 ways up, none at one instant
}
