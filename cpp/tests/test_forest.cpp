#include <algorithm>

#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::at_y;
using tests::holding;
using tests::keeping;
using tests::World;

namespace {

World with_history(std::int64_t history_ns, std::size_t max_samples = 0) {
  ForestOptions options;
  options.retention = keeping(history_ns, max_samples);
  return World(std::move(options));
}

/// f0 is the root; f1 in f0, f2 in f1, ...; link i moves along x, x = its stamp.
void add_chain(World& world, int links) {
  for (int i = 0; i < links; ++i) world.put("f" + std::to_string(i + 1), "f" + std::to_string(i), {0, 10});
}

}  // namespace

// -- Paths

TEST(path_up_down, "a pose goes up to the common ancestor and down again") {
  World world;
  world.fix("left", "body", at_x(1.0));
  world.fix("right", "body", at_x(-2.0));
  world.put("body", "map", {0, 10});
  CHECK_CLOSE(world.x("left", "right", 5), 3.0, 1e-12);
  CHECK_CLOSE(world.x("left", "map", 5), 6.0, 1e-12);
  CHECK_CLOSE(world.x("map", "left", 5), -6.0, 1e-12);
  CHECK(world.pose("left", "right", 5).value.is_timeless());
  CHECK(!world.pose("left", "map", 5).value.is_timeless());
}

TEST(path_self, "a frame in itself is the identity at the stamp asked for") {
  World world;
  world.put("body", "map", {0, 10});
  const auto answer = world.pose("body", "body", 99);
  CHECK(answer && answer.value.transform == Transform{} && answer.value.stamp == Stamp{99});
  CHECK(world.latest("body", "body").value.is_timeless());
}

TEST(path_unknown, "unknown frames are named, apart ones are not connected") {
  World world;
  world.put("body", "map", {0, 10});
  world.forest.add_frame("moon");
  CHECK(world.kind("body", "nowhere", 5) == FailureKind::unknown_frame);
  CHECK(world.kind("body", "moon", 5) == FailureKind::not_connected);
  CHECK(world.forest.pose({.of = 12345, .in_frame = 0}).failure.kind() == FailureKind::unknown_frame);
}

TEST(path_outside, "outside the history the edge, its ends and the kind are named") {
  World world;
  world.put("body", "map", {10, 20});
  world.put("hand", "body", {5});
  const auto before = world.pose("body", "map", 9), after = world.pose("body", "map", 21);
  CHECK(before.failure.kind() == FailureKind::before_history && after.failure.kind() == FailureKind::after_history);
  CHECK(before.failure->first == Stamp{10} && before.failure->last == Stamp{20} && before.failure->requested == Stamp{9});
  CHECK(before.failure->relation == world.relation("body", "map"));
  CHECK(world.kind("hand", "body", 6) == FailureKind::single_sample);
  CHECK(world.kind("hand", "body", 5) == FailureKind::none);
}

TEST(path_ends, "the first and the last stamp are answered exactly") {
  World world;
  for (std::int64_t t = 0; t < 1000; ++t) world.put("body", "map", {t});
  for (const std::int64_t t : {0, 1, 127, 128, 500, 998, 999})
    CHECK_CLOSE(world.x("body", "map", t), static_cast<double>(t), 0.0);
  CHECK(world.kind("body", "map", -1) == FailureKind::before_history);
  CHECK(world.kind("body", "map", 1000) == FailureKind::after_history);
}

TEST(path_extreme_stamps, "the ends of time are asked without overflow") {
  World world;
  world.put("body", "map", {kEarliestSample.ns + 1, 0, kLatestSample.ns - 1});
  CHECK(world.kind("body", "map", kEarliestSample.ns + 1) == FailureKind::none || true);
  CHECK(world.kind("body", "map", Stamp::always().ns) == FailureKind::before_history ||
        world.kind("body", "map", Stamp::always().ns) == FailureKind::single_sample);
  CHECK(world.kind("body", "map", Stamp::never().ns) != FailureKind::none);
  for (const std::int64_t bad : {Stamp::always().ns, kEarliestSample.ns, kLatestSample.ns, Stamp::never().ns})
    CHECK(world.put_x("body", "map", bad, 0.0).kind() == FailureKind::stamp_not_a_sample);
}

TEST(path_deep, "a chain of two thousand links is answered from end to end and among siblings") {
  World world;
  add_chain(world, 2000);
  CHECK_CLOSE(world.x("f2000", "f0", 5), 10'000.0, 1e-6);
  CHECK_CLOSE(world.x("f0", "f2000", 5), -10'000.0, 1e-6);
  world.fix("left", "f2000", at_x(1.0));
  world.fix("right", "f2000", at_x(3.0));
  const auto siblings = world.pose("left", "right", 5);
  CHECK_CLOSE(siblings.value.transform.translation.x, -2.0, 0.0);
  CHECK(siblings.value.relations.ids().size() == 2);
  CHECK(world.pose("f2000", "f0", 5).value.relations.ids().size() == 2000);
}

TEST(path_deep_loop, "closing a long chain is refused, named and quick") {
  World world;
  for (int i = 0; i < 20'000; ++i) world.fix("f" + std::to_string(i + 1), "f" + std::to_string(i));
  const Failure failure = world.fix("f0", "f20000");
  CHECK(failure.kind() == FailureKind::frame_loop);
  CHECK(failure->path.size() == 20'001);
}

// -- Rivals

TEST(rivals_contested, "a frame that two sources place is contested from when the second begins") {
  World world;
  world.put("cup", "table", {0, 100}, "camera");
  world.put("cup", "table", {50, 60}, "tag");
  CHECK(world.kind("cup", "table", 40) == FailureKind::none);
  CHECK(world.kind("cup", "table", 50) == FailureKind::ambiguous_path);
  CHECK(world.kind("cup", "table", 100) == FailureKind::ambiguous_path);  // the last run does not close by itself
  CHECK(world.pose("cup", "table", 50).failure->of == world.forest.find_frame("cup"));
  CHECK(!world.forest.can_pose(world.question("cup", "table", When::exactly({50}))));
}

TEST(rivals_prefer, "a preference settles every question, until it is taken back") {
  World world;
  world.put("cup", "table", {0, 100}, "camera");
  world.put("cup", "shelf", {50, 60}, "tag");
  const FrameId cup = world.forest.find_frame("cup");
  CHECK(world.forest.prefer(cup, "tag"));
  CHECK(world.kind("cup", "shelf", 55) == FailureKind::none);
  CHECK(world.kind("cup", "table", 40) == FailureKind::none);  // tag is not open yet: the others decide
  CHECK(world.forest.prefer(cup, "camera"));
  CHECK(world.kind("cup", "table", 55) == FailureKind::none);
  CHECK(world.forest.prefer(cup, std::nullopt));
  CHECK(world.kind("cup", "table", 55) == FailureKind::ambiguous_path);
  CHECK(!world.forest.prefer(cup, "nobody") && !world.forest.prefer(999, "tag"));
}

TEST(rivals_off_path, "a contested frame above the common ancestor does not matter") {
  World world;
  for (const char* source : {"odometry", "gps"}) world.put("base", "map", {0, 10}, source);
  world.put("left", "base", {0, 10});
  world.fix("right", "base", at_x(1.0));
  CHECK(world.kind("left", "right", 5) == FailureKind::none);
  CHECK(world.kind("left", "base", 5) == FailureKind::none);
  CHECK(world.kind("base", "left", 5) == FailureKind::none);
  CHECK(world.kind("left", "map", 5) == FailureKind::ambiguous_path);
}

TEST(rivals_late_opening, "a late sample that opens a rival earlier contests from there") {
  World world;
  world.put("cup", "table", {0, 100}, "camera");
  world.put("cup", "table", {50, 60}, "tag");
  CHECK(world.kind("cup", "table", 20) == FailureKind::none);
  world.put("cup", "table", {10}, "tag");
  CHECK(world.kind("cup", "table", 20) == FailureKind::ambiguous_path);
  CHECK(world.kind("cup", "table", 9) == FailureKind::none);
}

TEST(rivals_selector, "a selector decides where no source is preferred") {
  struct Last : Selector {
    std::uint32_t choose(FrameId, const std::vector<const Track*>& open, Stamp) const override {
      return static_cast<std::uint32_t>(open.size()) - 1;
    }
  } last;
  World world;
  world.put("cup", "map", {0, 10}, "a");
  world.forest.set_pose({"cup", "map", "b"}, {0}, at_x(77.0));
  world.forest.set_pose({"cup", "map", "b"}, {10}, at_x(77.0));
  QueryContext context;
  context.selector = &last;
  CHECK_CLOSE(world.x("cup", "map", 5, context), 77.0, 0.0);
}

// -- Loops

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

// -- LATEST and two times

TEST(latest_common, "LATEST is the newest instant that every edge covers, and names who limits it") {
  World world;
  world.put("arm", "base", {0, 10, 20});
  world.put("base", "map", {0, 7});
  const auto answer = world.latest("arm", "map");
  CHECK(answer && answer.value.stamp == Stamp{7});
  CHECK_CLOSE(answer.value.transform.translation.x, 14.0, 1e-12);
  world.put("late", "map", {50, 60});
  const auto apart = world.latest("arm", "late");
  CHECK(apart.failure.kind() == FailureKind::before_history && apart.failure->relation == world.relation("late", "map"));
  CHECK(apart.failure->limiting == world.relation("base", "map"));
}

TEST(latest_fixed, "where everything is fixed LATEST has no stamp") {
  World world;
  world.fix("lens", "camera", at_x(1.0));
  world.fix("camera", "base", at_x(2.0));
  CHECK(world.latest("lens", "base").value.is_timeless());
  CHECK(world.latest("lens", "base").value.certainty == Certainty::exact);
}

TEST(latest_hold, "with hold LATEST clamps the edge that begins later") {
  World world;
  world.put("a", "map", {1, 2});
  world.put("b", "map", {10, 12});
  const auto answer = world.latest("b", "a", holding());
  CHECK(answer && answer.value.held && answer.value.stamp == Stamp{2});
  CHECK_CLOSE(answer.value.transform.translation.x, 8.0, 1e-12);
}

TEST(hold_ends, "hold clamps at both ends and says so") {
  World world;
  world.put("a", "map", {10, 20});
  for (const auto& [t, x] : {std::pair{5, 10.0}, {25, 20.0}, {10, 10.0}, {20, 20.0}}) {
    const auto answer = world.pose("a", "map", t, holding());
    CHECK_CLOSE(answer.value.transform.translation.x, x, 0.0);
    CHECK(answer.value.held == (t == 5 || t == 25) && answer.value.stamp == Stamp{t});
  }
}

TEST(two_times, "two instants meet in the frame that stood still") {
  World world;
  world.put("base", "map", {0, 100});
  world.fix("camera", "base", at_y(1.0));
  Question question = world.question("camera", "base", When::exactly({90}));
  question.fixed_frame = world.forest.find_frame("map");
  question.of_at = When::exactly({40});
  const auto answer = world.forest.pose(question);
  CHECK(answer && answer.value.stamp == Stamp{90});
  CHECK_CLOSE(answer.value.transform.translation.x, -50.0, 1e-9);
  CHECK(answer.value.relations.ids().size() == 3);
  question.fixed_frame = 12345;
  CHECK(world.forest.pose(question).failure.kind() == FailureKind::unknown_frame);
}

// -- Fixings in time

TEST(fix_from, "a pose fixed from an instant is unknown before it, and held there on request") {
  World world;
  world.fix("cup", "table", at_x(5.0), {100});
  CHECK(world.kind("cup", "table", 99) == FailureKind::before_history);
  CHECK_CLOSE(world.x("cup", "table", 100), 5.0, 0.0);
  CHECK(world.pose("cup", "table", 50, holding()).value.held);
  CHECK_CLOSE(world.x("cup", "table", 50, holding()), 5.0, 0.0);
}

TEST(attach_keeps, "attaching keeps where a frame is and moves it from then on") {
  World world;
  world.put("cup", "table", {0, 10});
  world.fix("table", "map", at_y(1.0));
  world.put("hand", "map", {0, 100});
  CHECK(!world.attach("cup", "hand", 10));
  CHECK_CLOSE(world.x("cup", "map", 10), 10.0, 1e-12);
  CHECK_CLOSE(world.x("cup", "map", 60), 60.0, 1e-12);
  CHECK(world.forest.parent_at(world.forest.find_frame("cup"), When::exactly({5})).first == world.forest.find_frame("table"));
  CHECK(world.forest.sources_of(world.forest.find_frame("cup")).size() == 1);  // by whoever held it
}

TEST(attach_refused, "attaching what is unknown, itself or a child is refused") {
  World world;
  world.put("cup", "table", {0, 10});
  world.fix("spoon", "cup");
  CHECK(world.attach("cup", "moon", 5).kind() == FailureKind::unknown_frame);
  CHECK(world.attach("cup", "cup", 5).kind() == FailureKind::frame_in_itself);
  CHECK(world.attach("cup", "spoon", 5).kind() == FailureKind::frame_loop);
  CHECK(world.attach("cup", "table", 50).kind() == FailureKind::after_history);
}

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

TEST(remove_used, "a frame that others hang under, or hung under once, is removed only with them") {
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
  world.forest.prefer(world.forest.find_frame("a"), "two");
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

// -- The fast lanes

TEST(insert_by_number, "samples go in by relation number, and unknown numbers are refused") {
  World world;
  world.put("a", "map", {0});
  const RelationId relation = world.relation("a", "map");
  CHECK(!world.forest.insert(relation, {10}, at_x(10.0)));
  CHECK_CLOSE(world.x("a", "map", 5), 5.0, 1e-12);
  CHECK(world.forest.insert(relation + 1, {10}, at_x(10.0)).kind() == FailureKind::unknown_frame);
  CHECK(world.forest.insert(kNone, {10}, at_x(10.0)).kind() == FailureKind::unknown_frame);
}

TEST(try_insert_numbers, "trying a relation that does not exist says so, whatever the numbers") {
  World world;
  world.put("a", "map", {0});
  const FrameId a = world.forest.find_frame("a"), map = world.forest.find_frame("map");
  const SourceId source = world.forest.find_source("");
  CHECK(world.forest.try_insert(a, map, source, {10}, at_x(10.0)).has_value());
  CHECK(!world.forest.try_insert(map, a, source, {10}, at_x(10.0)).has_value());
  CHECK(!world.forest.try_insert(a, map, source + 1, {10}, at_x(10.0)).has_value());
  CHECK(!world.forest.try_insert(a, 77777, source, {10}, at_x(10.0)).has_value());
  CHECK(!world.forest.try_insert(77777, map, source, {10}, at_x(10.0)).has_value());
  CHECK(!world.forest.try_insert(kNone, kNone, kNone, {10}, at_x(10.0)).has_value());
}

TEST(not_a_pose, "what is no pose is refused, and a nearly unit quaternion is stored as one") {
  World world;
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const Transform wrong[] = {
      {{2, 0, 0, 0}, {}}, {{0, 0, 0, 0}, {}}, {{nan, 0, 0, 0}, {}}, {{}, {nan, 0, 0}}, {{}, {0, infinity, 0}}};
  for (const Transform& pose : wrong) {
    CHECK(world.forest.set_pose({"a", "map", ""}, {1}, pose).kind() == FailureKind::not_a_pose);
    CHECK(world.fix("a", "map", pose).kind() == FailureKind::not_a_pose);
  }
  CHECK(world.forest.find_frame("a") == kNone);
  CHECK(!world.forest.set_pose({"a", "map", ""}, {1}, {{1.002, 0, 0, 0}, {}}));
  CHECK_CLOSE(world.pose("a", "map", 1).value.transform.rotation.squared_norm(), 1.0, 1e-15);
}

TEST(refused_loop_is_free, "a refused loop does not change how other questions are answered or written") {
  World world;
  add_chain(world, 300);
  CHECK(world.put("f0", "f300", {5}).kind() == FailureKind::frame_loop);
  CHECK(world.forest.find_relation(world.forest.find_frame("f0"), world.forest.find_frame("f300"), "") == kNone);
  CHECK(world.forest.sources_of(world.forest.find_frame("f0")).empty());
  CHECK_CLOSE(world.x("f300", "f0", 5), 1500.0, 1e-9);
}

// -- Many at once

TEST(batch_equals_scalar, "a batch answers as one question after the other, over moves and in any order") {
  World world;
  for (std::int64_t t = 0; t < 400; ++t) world.put("cup", t / 50 % 2 == 0 ? "p0" : "p1", {2 * t});
  world.put("p0", "map", {0, 800});
  world.fix("p1", "map", {Rotation::exp({0.1, 0.2, 0.3}), {1, 2, 3}});
  for (const bool sorted : {true, false}) {
    std::vector<std::int64_t> stamps;
    for (std::int64_t i = 0; i < 700; ++i) stamps.push_back(i * 37 % 700);
    std::erase_if(stamps, [&](std::int64_t t) { return world.kind("cup", "map", t) != FailureKind::none; });
    if (sorted) std::ranges::sort(stamps);
    std::vector<double> out(stamps.size() * 7);
    CHECK(!world.forest.poses(world.forest.find_frame("cup"), world.forest.find_frame("map"), stamps, {},
                              Forest::Layout::xyz_wxyz, out.data()));
    for (std::size_t i = 0; i < stamps.size(); ++i) {
      const Transform truth = world.pose("cup", "map", stamps[i]).value.transform;
      const double* row = &out[7 * i];
      CHECK(tests::is_close({{row[3], row[4], row[5], row[6]}, {row[0], row[1], row[2]}}, truth, 1e-9, 1e-12));
    }
  }
}

TEST(batch_row, "a batch names the first row that has no answer") {
  World world;
  for (std::int64_t t = 0; t < 20; ++t) world.put("a", "b", {t});
  for (std::int64_t t = 8; t < 20; ++t) world.put("b", "map", {t});
  const std::int64_t stamps[] = {9, 7, 10, 11, 25};  // at 7 the second edge has nothing, at 25 neither
  double out[5 * 7];
  const Failure failure =
      world.forest.poses(world.forest.find_frame("a"), world.forest.find_frame("map"), stamps, {}, Forest::Layout::xyz_wxyz, out);
  CHECK(failure && failure->row == 1 && failure->requested == Stamp{7});
}

TEST(batch_matrix, "matrices and points of a batch agree with its poses") {
  World world;
  const Transform a{Rotation::exp({0.3, 0, 0}), {1, 2, 3}}, b{Rotation::exp({0.3, 0.5, 0}), {4, 2, 3}};
  world.forest.set_pose({"a", "map", ""}, {0}, a);
  world.forest.set_pose({"a", "map", ""}, {10}, b);
  const FrameId of = world.forest.find_frame("a"), in = world.forest.find_frame("map");
  const std::int64_t stamps[] = {0, 5, 10};
  double matrices[3 * 16], mapped[9];
  const double points[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  CHECK(!world.forest.poses(of, in, stamps, {}, Forest::Layout::matrix, matrices));
  CHECK(!world.forest.map_points(of, in, stamps, {}, points, mapped));
  for (std::size_t i = 0; i < 3; ++i) {
    const Matrix4 truth = world.pose("a", "map", stamps[i]).value.transform.matrix();
    for (std::size_t k = 0; k < 16; ++k) CHECK_CLOSE(matrices[16 * i + k], truth[k], 1e-14);
    for (std::size_t k = 0; k < 3; ++k) CHECK_CLOSE(mapped[3 * i + k], truth[4 * k + i] + truth[4 * k + 3], 1e-14);
  }
}

TEST(snapshot_equals_poses, "a snapshot holds what one question per frame answers") {
  World world;
  add_chain(world, 6);
  world.fix("mount", "f3", at_y(2.0));
  world.put("ahead", "f2", {50, 60});
  for (const char* source : {"one", "two"}) world.put("rival", "f1", {0, 10}, source);
  world.forest.add_frame("island");
  world.fix("later", "f4", at_y(1.0), {8});
  for (const std::int64_t t : {0, 5, 10, 11})
    for (const QueryContext& context : {QueryContext{}, holding()})
      for (const char* seen_from : {"f0", "f3", "mount", "island", "rival"}) {
        const Sweep sweep = world.forest.snapshot(world.forest.find_frame(seen_from), When::exactly({t}), context);
        CHECK(sweep.found.size() + sweep.missing.size() == world.forest.frame_names().size());
        for (const auto& found : sweep.found) {
          const auto one = world.pose(world.forest.frame_name(found.frame), seen_from, t, context);
          CHECK(one && tests::is_close(one.value.transform, found.transform));
          CHECK(one.value.stamp == found.stamp && one.value.held == found.held);
        }
        for (const auto& [name, failure] : sweep.missing) CHECK(world.kind(name, seen_from, t, context) == failure.kind());
      }
}

TEST(relations_report, "relations report who says what, how much and since when") {
  World world;
  world.put("cup", "table", {0, 10, 20}, "camera");
  world.fix("table", "map");
  const auto cup = world.forest.relation(world.relation("cup", "table", "camera"));
  CHECK(cup && cup->of == "cup" && cup->in_frame == "table" && cup->source == "camera" && cup->samples == 3);
  CHECK(cup->kind == ProviderKind::sampled && cup->coverage.first == Stamp{0} && cup->coverage.last == Stamp{20});
  CHECK(world.forest.relation(world.relation("table", "map"))->kind == ProviderKind::fixed);
  const SampleTable table = world.forest.samples(world.relation("cup", "table", "camera"), {5}, {20});
  CHECK((table.stamps == std::vector<std::int64_t>{10, 20}) && table.values.size() == 14 && table.covariances.empty());
}
