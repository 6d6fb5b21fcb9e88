// Several edits at once: the same as one by one, seen together, and all or nothing.

#include <algorithm>
#include <random>

#include "armillary/graph/forest_view.hpp"
#include "portrait.hpp"

using namespace armillary;
using tests::at_x;
using tests::portrait;
using tests::World;

namespace {

using Edits = std::vector<FrameEdit>;

struct Counter : Companion {
  explicit Counter(int n) : count(n) {}
  int count;
};

PlaceFixed fixed(std::string of, std::string in, double x, Stamp from = Stamp::always(), std::string source = "") {
  return {.of = std::move(of),
          .in_frame = std::move(in),
          .source = std::move(source),
          .from = from,
          .pose = std::make_shared<FixedPose>(FixedPose{.value = at_x(x)})};
}

PlaceSample sample(std::string of, std::string in, std::int64_t at, std::string source = "") {
  return {.of = std::move(of),
          .in_frame = std::move(in),
          .source = std::move(source),
          .at = {at},
          .in_frame_T_of = at_x(static_cast<double>(at))};
}

/// What was in one frame is in another, but for a while.
PlaceRuns runs(std::string of, std::string was_in, std::string in_frame, std::string source = "") {
  const PlaceRuns::Piece before{.in_frame = std::move(was_in), .is_fixed = false};
  const PlaceRuns::Piece first{.in_frame = in_frame, .is_fixed = false, .first_sample = Stamp{1}};
  const PlaceRuns::Piece again{.from = {8}, .in_frame = std::move(in_frame), .is_fixed = false};
  return {std::move(of), std::move(source), {before}, {first, {.from = {5}}, again}};
}

/// One of everything: samples, moves, rivals, a cycle in time, a body, twists and what was integrated from them.
void furnish(World& world) {
  (void)world.put("base", "map", {0, 2, 4, 6});
  (void)world.fix("arm", "base", at_x(1.0));
  (void)world.put("cup", "map", {1, 3});
  (void)world.put("cup", "arm", {5, 7});
  (void)world.put("tag", "map", {0, 9}, "left");
  (void)world.put("tag", "base", {0, 9}, "right");
  (void)world.put("a", "b", {0, 4});
  (void)world.put("b", "a", {6, 9});
  const std::string_view on_gun[] = {"gun", "muzzle"};
  (void)world.forest.add_body("gun", on_gun);
  (void)world.fix("muzzle", "gun", at_x(0.2));
  (void)world.fix("gun", "arm");
  (void)world.put("cart", "map", {0});
  for (const std::int64_t at : {2, 4})
    (void)world.forest.set_twist({"cart", "map", ""}, {.at = {at}, .velocity = {{1e9, 0.0, 0.0}, {}}});
  (void)world.forest.fix({"hook", "map", ""}, Stamp{0}, {.value = at_x(0.0)});  // not for always: no part of the map
  (void)world.forest.set_twist({"hook", "cart", "gyro"}, {.at = {1}, .velocity = {{1.0, 0.0, 0.0}, {}}});
  (void)world.forest.prefer(world.forest.find_frame("tag"), "left");
}

/// Edits that each change the furnished world.
Edits all_kinds() {
  return {AddFrame{"new"},
          fixed("lamp", "ceiling", 2.0, Stamp::always(), "electrician"),
          fixed("arm", "map", 2.0, {5}),
          fixed("magazine", "gun", 0.1),
          sample("cup", "map", 9),
          sample("cup", "base", 6),
          sample("cart", "map", 3),
          sample("base", "map", 3),
          sample("tag", "base", 5, "middle"),
          sample("a", "b", 5),
          runs("cup", "arm", "gripper"),
          runs("tag", "base", "plate", "right"),
          runs("a", "b", "ab"),
          runs("lamp", "", "ceiling"),
          CloseFrame{.of = "cup", .source = "", .at = {6}},
          CloseFrame{.of = "arm", .source = "", .at = Stamp::always()},
          CloseFrame{.of = "cart", .source = "", .at = {3}},
          CloseFrame{.of = "a", .source = "", .at = {2}},
          EraseFrame{"cup"},
          EraseFrame{"muzzle"},
          EraseFrame{"cart"},
          EraseFrame{"hook"}};
}

}  // namespace

TEST(transaction_together, "transaction: edits and companion are published at once") {
  World world;
  CHECK(world.forest.companion() == nullptr);
  const Edits edits{fixed("table", "map", 1.0), sample("cup", "table", 5), AddFrame{"door"}};
  CHECK(!world.forest.transact(edits, std::make_shared<Counter>(1)));
  CHECK_CLOSE(world.x("cup", "map", 5), 6.0, tests::kCloseM);
  CHECK(world.forest.find_frame("door") != kNone);
  CHECK(dynamic_cast<const Counter&>(*world.forest.companion()).count == 1);
  CHECK(!world.forest.transact(Edits{fixed("table", "map", 2.0)}));
  CHECK(dynamic_cast<const Counter&>(*world.forest.companion()).count == 1);
}

TEST(transaction_companion, "transaction: a companion alone leaves the frames as they are") {
  World world;
  furnish(world);
  const std::string before = portrait(world.forest);
  const CompanionPtr first = std::make_shared<Counter>(1);
  CHECK(!world.forest.transact({}, first));
  CHECK(portrait(world.forest) != before && world.forest.companion() == first);
  std::weak_ptr<const Companion> old = first;
  const ForestView view(world.forest);
  CHECK(!world.forest.transact({}, std::make_shared<Counter>(2)));
  CHECK(dynamic_cast<const Counter&>(*view.companion()).count == 1);
  CHECK(dynamic_cast<const Counter&>(*world.forest.companion()).count == 2);
}

TEST(transaction_view, "transaction: a view goes on to see the frames of its version") {
  World world;
  (void)world.fix("cup", "map", at_x(1.0));
  const Question question = world.question("cup", "map", When::exactly({5}));
  const ForestView view(world.forest);
  CHECK(!world.forest.transact(Edits{fixed("cup", "map", 2.0), fixed("lid", "cup", 0.0)}, std::make_shared<Counter>(1)));
  CHECK(view.companion() == nullptr && !view.has(world.forest.find_frame("lid")));
  CHECK_CLOSE(view.pose(question).value.transform.translation.x, 1.0, tests::kCloseM);
  CHECK(view.snapshot(question.in_frame, When::newest(), {}).found.size() == 2);
  CHECK_CLOSE(world.x("cup", "map", 5), 2.0, tests::kCloseM);
}

TEST(transaction_rolled_back, "transaction: where a later edit fails, nothing has changed") {
  for (const FrameEdit& edit : all_kinds()) {
    World world;
    furnish(world);
    const std::string before = portrait(world.forest);
    const Failure failure =
        world.forest.transact(Edits{edit, sample("x", "y", 3), EraseFrame{"nobody"}}, std::make_shared<Counter>(1));
    CHECK(failure.kind() == FailureKind::unknown_frame && failure->edit == 2);
    CHECK(portrait(world.forest) == before);
    CHECK(!world.forest.transact(Edits{edit}));
    CHECK(portrait(world.forest) != before);
  }
}

TEST(transaction_goes_on, "transaction: after one that failed, the next is as if it had not been") {
  for (const FrameEdit& edit : all_kinds()) {
    World tried, plain;
    furnish(tried);
    furnish(plain);
    (void)tried.forest.transact(Edits{edit, EraseFrame{"nobody"}});
    for (World* world : {&tried, &plain}) {
      CHECK(!world->forest.transact(Edits{edit, fixed("late", "map", 1.0)}));
      (void)world->put("base", "map", {8, 10});
      (void)world->forest.set_twist({"cart", "map", ""}, {.at = {6}, .velocity = {{1e9, 0.0, 0.0}, {}}});
    }
    CHECK(portrait(tried.forest) == portrait(plain.forest));
  }
}

TEST(transaction_refusals, "transaction: the failure is that of the edit, and names it") {
  World world;
  furnish(world);
  const std::string before = portrait(world.forest);
  const auto refused = [&](FrameEdit edit) {
    const Failure failure = world.forest.transact(Edits{fixed("extra", "map", 0.0), std::move(edit)});
    CHECK(failure && failure->edit == 1);
    CHECK(portrait(world.forest) == before);
    return failure.kind();
  };
  CHECK(refused(fixed("map", "extra", 0.0)) == FailureKind::frame_loop);
  CHECK(refused(sample("muzzle", "gun", 3)) == FailureKind::constant_in_body);
  CHECK(refused(fixed("cup", "cup", 0.0)) == FailureKind::frame_in_itself);
  CHECK(refused(sample("cup", "map", kLatestSample.ns)) == FailureKind::stamp_not_a_sample);
  CHECK(refused(EraseFrame{"map"}) == FailureKind::frame_in_use);
  CHECK(refused(ExpectNothingUnder{{"base", "arm"}, {7}}) == FailureKind::frame_in_use);
  CHECK(refused(runs("muzzle", "sight", "gun")) == FailureKind::constant_in_body);
}

TEST(transaction_names, "transaction: a failure names frames that are gone with it") {
  World world;
  const Failure failure = world.forest.transact(Edits{fixed("a", "b", 0.0), fixed("b", "a", 0.0)});
  CHECK(failure.kind() == FailureKind::frame_loop && failure->edit == 1 && world.forest.frame_names().empty());
  const auto is_named = [&](const char* name) {
    return std::ranges::any_of(failure->names, [&](const auto& known) { return known.second == name; });
  };
  CHECK(is_named("a") && is_named("b"));
}

TEST(transaction_children, "transaction: the children of frames, from an instant on") {
  World world;
  furnish(world);
  const std::vector<std::string> base{"base"}, both{"base", "arm"}, cup{"cup"};
  using Names = std::vector<std::string>;
  CHECK((world.forest.frames_under(both, {8}) == Names{"cup", "tag", "gun", "muzzle"}));
  CHECK((world.forest.frames_under(base, {8}).front() == "arm"));
  CHECK(world.forest.frames_under(cup, {0}).empty());
  CHECK(!world.forest.transact(Edits{CloseFrame{.of = "cup", .source = "", .at = {9}}}));
  CHECK((world.forest.frames_under(both, {9}) == Names{"tag", "gun", "muzzle"}));
  CHECK(!world.forest.transact(Edits{ExpectNothingUnder{{"base", "arm", "cup", "tag", "gun", "muzzle"}, {9}}}));
}

TEST(transaction_wakes, "transaction: wakes who waits for a frame that it adds") {
  World world;
  struct Flag : Watcher {
    void wake(WaitId) override { ++rung; }
    int rung = 0;
  } flag;
  const NamedQuestion question{.of = "cup", .in_frame = "map", .fixed_frame = {}, .at = When::exactly({5})};
  const auto ask = [&] { return world.forest.answer_or_watch(question, {1, &flag}).failure.kind(); };
  CHECK(ask() == FailureKind::unknown_frame);
  CHECK(world.forest.transact(Edits{fixed("cup", "map", 1.0), EraseFrame{"nobody"}}));
  CHECK(ask() == FailureKind::unknown_frame && world.forest.is_watching(1));
  const int rung = flag.rung;
  CHECK(!world.forest.transact(Edits{fixed("cup", "map", 1.0), fixed("lid", "cup", 1.0)}));
  CHECK(flag.rung > rung && ask() == FailureKind::none);
}

TEST(transaction_keeps_waits, "transaction: waits outlive one that is rolled back") {
  World world;
  furnish(world);
  struct Flag : Watcher {
    void wake(WaitId) override { ++rung; }
    int rung = 0;
  } flag;
  const NamedQuestion question{.of = "base", .in_frame = "map", .fixed_frame = {}, .at = When::exactly({9})};
  CHECK(!world.forest.answer_or_watch(question, {1, &flag}));
  CHECK(world.forest.transact(Edits{fixed("base", "map", 1.0), EraseFrame{"nobody"}}));
  if (flag.rung > 0) CHECK(!world.forest.answer_or_watch(question, {1, &flag}));
  const int rung = flag.rung;
  (void)world.put("base", "map", {9});
  CHECK(flag.rung > rung && world.forest.answer_or_watch(question, {1, &flag}));
}

TEST(transaction_keeps_twist_waits, "transaction: waits for a motion outlive one that is rolled back") {
  World world;
  furnish(world);
  struct Flag : Watcher {
    void wake(WaitId) override { ++rung; }
    int rung = 0;
  } flag;
  const NamedTwistQuestion question{.of = "cart", .relative_to = "map", .at = When::exactly({9})};
  CHECK(!world.forest.answer_or_watch(question, {1, &flag}) && world.forest.is_watching(1));
  CHECK(world.forest.transact(Edits{EraseFrame{"cup"}, EraseFrame{"nobody"}}));
  const int rung = flag.rung;
  (void)world.forest.set_twist({"cart", "map", ""}, {.at = {9}, .velocity = {{1e9, 0.0, 0.0}, {}}});
  CHECK(flag.rung > rung);
  CHECK(world.forest.transact(Edits{EraseFrame{"cart"}, EraseFrame{"nobody"}}));
  world.forest.forget_watch(1);
  CHECK(world.forest.waits_pending() == 0);
}

TEST(transaction_numbers, "transaction: numbers of frames that rest are as before where it is rolled back") {
  Edits edits;
  for (int i = 0; i < 5000; ++i) edits.push_back(AddFrame{"guest" + std::to_string(i)});
  for (int i = 0; i < 5000; ++i) edits.push_back(EraseFrame{"guest" + std::to_string(i)});
  for (int i = 0; i < 3; ++i) edits.push_back(fixed("late" + std::to_string(i), "map", 1.0));
  World tried, plain;
  for (World* world : {&tried, &plain}) (void)world->fix("cup", "map");
  const std::string before = portrait(tried.forest);
  edits.push_back(EraseFrame{"nobody"});
  CHECK(tried.forest.transact(edits) && portrait(tried.forest) == before);
  edits.pop_back();
  for (World* world : {&tried, &plain}) CHECK(!world->forest.transact(edits));
  CHECK(portrait(tried.forest) == portrait(plain.forest));
  CHECK(tried.forest.find_frame("late2") == plain.forest.find_frame("late2"));
}

namespace {

/// Edits drawn at random from a small world, so that they meet.
class Drawing {
 public:
  explicit Drawing(unsigned seed) : random_(seed) {}

  Edits list() {
    Edits edits;
    for (std::size_t n = 1 + below(6); edits.size() < n;) edits.push_back(one());
    return edits;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string frame() { return std::string(1, static_cast<char>('a' + below(7))); }
  std::string source() { return below(3) == 0 ? "rival" : ""; }
  Stamp at() { return {static_cast<std::int64_t>(below(12))}; }

  SetInactiveIntervals away() {
    const Stamp from = at();
    SetInactiveIntervals edit{.of = frame()};
    if (below(3) != 0) edit.inactive_intervals.push_back({from, below(2) == 0 ? Stamp::never() : Stamp{from.ns + 3}});
    return edit;
  }

  FrameEdit one() {
    switch (below(11)) {
      case 0:
        return AddFrame{frame()};
      case 1:
      case 2:
        return fixed(frame(), frame(), static_cast<double>(below(5)), below(2) == 0 ? Stamp::always() : at(), source());
      case 3:
      case 4:
      case 5:
        return sample(frame(), frame(), at().ns, source());
      case 6:
      case 7:
        return CloseFrame{frame(), source(), at()};
      case 8:
        return away();
      case 9:
        return EraseFrame{frame()};
      default:
        return ExpectNothingUnder{{frame(), frame(), frame()}, at()};
    }
  }

  std::mt19937_64 random_;
};

/// How many edits pass, one by one, before the first that fails.
std::size_t one_by_one(Forest& forest, const Edits& edits, FailureKind& failed) {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Failure failure = forest.transact({&edits[i], 1});
    failed = failure.kind();
    if (failure) return i;
  }
  return edits.size();
}

}  // namespace

TEST(transaction_equals, "transaction: the same as its edits one by one, or nothing") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Drawing drawing(seed);
    World at_once, singly;
    for (int round = 0; round < 25; ++round) {
      const Edits edits = drawing.list();
      const std::string before = portrait(at_once.forest);
      FailureKind expected = FailureKind::none;
      const std::size_t passed = one_by_one(singly.forest, edits, expected);
      const Failure failure = at_once.forest.transact(edits);
      CHECK(failure.kind() == expected && (!failure || failure->edit == passed));
      if (failure) {
        CHECK(portrait(at_once.forest) == before);
        CHECK(!at_once.forest.transact(std::span(edits).first(passed)));
      }
      CHECK(portrait(at_once.forest) == portrait(singly.forest));
    }
  }
}
