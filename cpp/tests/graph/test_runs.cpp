// The assertions of one source about one frame: runs of parents, against a model that looks through the bare list of events.

#include <algorithm>
#include <map>
#include <random>

#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::holding;
using tests::World;

namespace {

constexpr int kParents = 3;

std::string parent_name(int k) { return "p" + std::to_string(k); }

/// Parent k is at y = 1000 (k + 1) in the map: an answer's y encodes which parent it went through.
struct Kitchen : World {
  explicit Kitchen(ForestOptions options = {}) : World(std::move(options)) {
    for (int k = 0; k < kParents; ++k) fix(parent_name(k), "map", tests::at_y(1000.0 * (k + 1)));
  }
};

struct Event {
  std::int64_t stamp;
  int parent;
  bool fixed;
};

struct Expected {
  FailureKind kind = FailureKind::none;
  double x = 0.0;
  int parent = 0;
  bool held = false;
};

/// One track as a sorted list of events; every question walks it.
class Model {
 public:
  void give(const Event& event) { events_[event.stamp] = event; }
  [[nodiscard]] bool empty() const { return events_.empty(); }

  [[nodiscard]] Expected at(std::int64_t t, bool hold) const {
    const auto next = events_.upper_bound(t);
    if (next == events_.begin()) return outside(next->second, FailureKind::before_history, hold);
    const Event& last = std::prev(next)->second;
    if (last.fixed || last.stamp == t) return {FailureKind::none, static_cast<double>(last.stamp), last.parent, false};
    const bool inside = next != events_.end() && !next->second.fixed && next->second.parent == last.parent;
    if (inside) return {FailureKind::none, static_cast<double>(t), last.parent, false};
    return outside(last, FailureKind::after_history, hold);
  }

 private:
  [[nodiscard]] Expected outside(const Event& nearest, FailureKind kind, bool hold) const {
    if (hold) return {FailureKind::none, static_cast<double>(nearest.stamp), nearest.parent, true};
    if (nearest.fixed) return {kind, 0.0, nearest.parent, false};
    const bool moves_later =
        kind == FailureKind::after_history && std::any_of(events_.upper_bound(nearest.stamp), events_.end(),
                                                          [&](const auto& one) { return one.second.parent != nearest.parent; });
    return {is_alone(nearest) && !moves_later ? FailureKind::single_sample : kind, 0.0, nearest.parent, false};
  }

  /// Whether the run of this sample holds no other.
  [[nodiscard]] bool is_alone(const Event& event) const {
    const auto here = events_.find(event.stamp);
    const auto joins = [&](const Event& other) { return !other.fixed && other.parent == event.parent; };
    const bool left = here != events_.begin() && joins(std::prev(here)->second);
    const bool right = std::next(here) != events_.end() && joins(std::next(here)->second);
    return !left && !right;
  }

  std::map<std::int64_t, Event> events_;
};

void give(World& world, const Event& event) {
  const auto x = static_cast<double>(event.stamp);
  const Failure failure = event.fixed ? world.fix("cup", parent_name(event.parent), at_x(x), {event.stamp})
                                      : world.put_x("cup", parent_name(event.parent), event.stamp, x);
  CHECK(!failure);
}

std::vector<Event> random_events(std::mt19937_64& random, int count, std::int64_t span) {
  std::vector<Event> events;
  for (int i = 0; i < count; ++i)
    events.push_back({static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(span)),
                      static_cast<int>(random() % kParents), random() % 8 == 0});
  return events;
}

void check_answer(const World& world, const Model& model, std::int64_t t, bool hold) {
  const Expected expected = model.at(t, hold);
  const auto answer = world.pose("cup", "map", t, hold ? holding() : QueryContext{});
  CHECK(answer.failure.kind() == expected.kind);
  if (!answer || expected.kind != FailureKind::none) return;
  CHECK_CLOSE(answer.value.transform.translation.x, expected.x, 1e-9);
  CHECK_CLOSE(answer.value.transform.translation.y, 1000.0 * (expected.parent + 1), 1e-9);
  CHECK((answer.value.held != nullptr) == expected.held);
}

void check_everywhere(const World& world, const Model& model, std::int64_t span) {
  for (std::int64_t t = -2; t < span + 2; ++t) {
    check_answer(world, model, t, false);
    check_answer(world, model, t, true);
  }
}

}  // namespace

TEST(runs_model, "runs of samples and fixings answer as the bare list of events does") {
  constexpr std::int64_t kSpan = 60;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    Kitchen world;
    Model model;
    for (const Event& event : random_events(random, 10 + static_cast<int>(seed % 80), kSpan)) {
      give(world, event);
      model.give(event);
      check_answer(world, model, static_cast<std::int64_t>(random() % kSpan), random() % 2 == 0);
    }
    check_everywhere(world, model, kSpan);
  }
}

TEST(runs_order, "the same set of samples gives the same answers in whatever order it came") {
  constexpr std::int64_t kSpan = 40;
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    std::map<std::int64_t, Event> unique;
    for (const Event& event : random_events(random, 25, kSpan)) unique[event.stamp] = event;
    std::vector<Event> events;
    Model model;
    for (const auto& [stamp, event] : unique) {
      events.push_back(event);
      model.give(event);
    }
    for (int order = 0; order < 4; ++order) {
      Kitchen world;
      for (const Event& event : events) give(world, event);
      check_everywhere(world, model, kSpan);
      std::ranges::shuffle(events, random);
    }
  }
}

TEST(runs_long, "a run of many chunks splits and fills at any place") {
  for (const std::int64_t at : {1, 255, 256, 257, 1001, 1999}) {
    Kitchen world;
    for (std::int64_t t = 0; t <= 2000; t += 2) CHECK(!world.put("cup", "p0", {t}));
    const std::int64_t odd = at | 1;
    CHECK(!world.put("cup", "p1", {odd}));
    CHECK(world.kind("cup", "map", odd) == FailureKind::none);
    CHECK_CLOSE(world.x("cup", "map", odd - 1), static_cast<double>(odd - 1), 0.0);
    CHECK_CLOSE(world.x("cup", "map", 1000), 1000.0, 0.0);
    CHECK(world.samples("cup", "p0") == 1001 && world.samples("cup", "p1") == 1);
    CHECK(!world.put("cup", "p0", {odd}));  // taken back: one run again
    CHECK(world.samples("cup", "p0") == 1002 && world.relation("cup", "p1") == kNone);
  }
}

TEST(runs_no_interpolation, "nothing is interpolated across a move, and hold gives the last sample before it") {
  Kitchen world;
  world.put("cup", "p0", {1, 3});
  world.put("cup", "p1", {10, 12});
  for (const std::int64_t t : {4, 7, 9}) {
    CHECK(world.kind("cup", "map", t) == FailureKind::after_history);
    const auto held = world.pose("cup", "map", t, holding());
    CHECK(held && held.value.held && held.value.stamp == Stamp{t});
    CHECK_CLOSE(held.value.transform.translation.x, 3.0, 0.0);
    CHECK_CLOSE(held.value.transform.translation.y, 1000.0, 0.0);
  }
}

TEST(runs_fill, "a late sample under the run's parent fills it") {
  Kitchen world;
  world.put("cup", "p0", {0, 100});
  world.put_x("cup", "p0", 50, 80.0);
  CHECK_CLOSE(world.x("cup", "map", 25), 40.0, 1e-12);
  CHECK_CLOSE(world.x("cup", "map", 50), 80.0, 0.0);
}

TEST(runs_repeat, "a repeated stamp replaces the sample, also under another parent") {
  Kitchen world;
  world.put("cup", "p0", {0, 10, 20});
  world.put_x("cup", "p0", 10, 99.0);
  CHECK_CLOSE(world.x("cup", "map", 10), 99.0, 0.0);
  world.put_x("cup", "p1", 10, 7.0);
  const auto moved = world.pose("cup", "map", 10);
  CHECK_CLOSE(moved.value.transform.translation.x, 7.0, 0.0);
  CHECK_CLOSE(moved.value.transform.translation.y, 2000.0, 0.0);
  CHECK(world.kind("cup", "map", 5) == FailureKind::after_history);  // it moved
  CHECK(world.samples("cup", "p0") == 2);
}

TEST(runs_fixing_replaced, "a sample replaces a fixing at its stamp, under the same parent and under another") {
  for (const char* parent : {"p0", "p1"}) {
    Kitchen world;
    world.fix("cup", "p0", at_x(1.0), {5});
    CHECK(!world.put_x("cup", parent, 5, 2.0));
    for (int i = 0; i < 200; ++i) world.fix("other", "map", {}, {i});  // what is retired is freed meanwhile
    CHECK_CLOSE(world.x("cup", "map", 5), 2.0, 0.0);
    CHECK(world.kind("cup", "map", 6) == FailureKind::single_sample);
  }
}

TEST(runs_sample_replaced, "a fixing replaces a sample at its stamp and lasts until the next") {
  Kitchen world;
  world.put("cup", "p0", {0, 5, 10});
  CHECK(!world.fix("cup", "p1", at_x(77.0), {5}));
  CHECK_CLOSE(world.x("cup", "map", 5), 77.0, 0.0);
  CHECK_CLOSE(world.x("cup", "map", 9), 77.0, 0.0);
  CHECK_CLOSE(world.x("cup", "map", 10), 10.0, 0.0);
  CHECK(world.kind("cup", "map", 4) == FailureKind::after_history);  // it moved
}

TEST(runs_fix_always, "a pose fixed for ever removes earlier assertions, and a later sample ends it") {
  Kitchen world;
  world.put("cup", "p0", {0, 5, 10});
  CHECK(!world.fix("cup", "p1", at_x(77.0)));
  CHECK_CLOSE(world.x("cup", "map", -1'000'000), 77.0, 0.0);
  CHECK(world.pose("cup", "map", 3).value.is_timeless());
  CHECK(world.relation("cup", "p0") == kNone);
  world.put("cup", "p0", {100, 110});
  CHECK_CLOSE(world.x("cup", "map", 99), 77.0, 0.0);
  CHECK_CLOSE(world.x("cup", "map", 105), 105.0, 1e-12);
}

TEST(runs_batch, "a batch that moves a frame gives what its samples one by one give") {
  for (const bool sorted : {true, false}) {
    Kitchen batch, single;
    for (Kitchen* world : {&batch, &single}) world->put("cup", "p0", {0, 10, 20, 30});
    std::vector<std::int64_t> stamps{5, 10, 15, 40};
    if (!sorted) std::ranges::reverse(stamps);
    CHECK(!batch.put_many("cup", "p1", stamps));
    for (const std::int64_t t : stamps) CHECK(!single.put("cup", "p1", {t}));
    for (std::int64_t t = -1; t < 45; ++t) {
      CHECK(batch.kind("cup", "map", t) == single.kind("cup", "map", t));
      const double x = batch.x("cup", "map", t), y = single.x("cup", "map", t);
      CHECK((std::isnan(x) && std::isnan(y)) || x == y);
    }
  }
}

TEST(runs_batch_repeat, "of equal stamps in a batch the later row wins") {
  World world;
  const std::int64_t stamps[] = {5, 1, 5};
  const double rows[] = {1, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 20, 0, 0, 1, 0, 0, 0, 30, 0, 0};
  CHECK(!world.forest.set_poses({"cup", "map", ""}, stamps, rows, nullptr));
  CHECK_CLOSE(world.x("cup", "map", 5), 30.0, 0.0);
  CHECK(world.samples("cup", "map") == 2);
}

TEST(runs_max, "the number of runs is bounded, by samples and by fixings") {
  for (const bool fixed : {false, true}) {
    Kitchen world({.retention = {}, .max_runs = 10, .max_waits = 10, .default_covariance = {}});
    for (int i = 0; i < 500; ++i) {
      CHECK(!(fixed ? world.fix("cup", parent_name(i % 2), at_x(i), {i}) : world.put("cup", parent_name(i % 2), {i})));
    }
    int answered = 0;
    for (std::int64_t t = 0; t < 500; ++t) answered += world.kind("cup", "map", t) == FailureKind::none ? 1 : 0;
    CHECK(answered == 10);
    CHECK(world.kind("cup", "map", 499) == FailureKind::none);
  }
}

TEST(runs_max_batch, "a batch older than the runs that may be kept does no harm") {
  for (const bool fixed : {false, true}) {
    Kitchen world({.retention = {}, .max_runs = 1, .max_waits = 10, .default_covariance = {}});
    CHECK(!(fixed ? world.fix("cup", "p0", at_x(10.0), {10}) : world.put("cup", "p0", {10})));
    (void)world.put_many("cup", "p1", {5, 6, 7});
    CHECK_CLOSE(world.x("cup", "map", 10), 10.0, 0.0);
  }
}

TEST(runs_latest, "LATEST uses the parent of the newest common instant, and gaps lower it") {
  Kitchen world;
  world.put("cup", "p0", {1, 3});
  world.put("cup", "p1", {10, 12});
  world.put("base", "map", {0, 7});
  const auto alone = world.latest("cup", "map");
  CHECK(alone.value.stamp == Stamp{12} && alone.value.transform.translation.y == 2000.0);
  const auto common = world.latest("cup", "base");  // base ends at 7, in the gap of the cup
  CHECK(common && common.value.stamp == Stamp{3});
  CHECK_CLOSE(common.value.transform.translation.x, 0.0, 1e-12);
  CHECK_CLOSE(common.value.transform.translation.y, 1000.0, 0.0);
}
