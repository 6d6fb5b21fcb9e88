// No wake-up is lost: for a wait that was not woken there is no news.

#include <atomic>
#include <random>
#include <thread>

#include "worlds.hpp"

using namespace armillary;
using tests::keeping;
using tests::World;

namespace {

struct Flag : Watcher {
  void wake(WaitId) override { woken = true; }
  bool woken = false;
};

/// One wait. It is asked again when it was woken, and only then.
struct Waiting {
  World& world;
  NamedQuestion question;
  WaitId id = world.forest.new_wait_id();
  Flag flag{};

  Waiting(World& in_world, NamedQuestion asked) : world(in_world), question(std::move(asked)) { (void)ask(); }
  ~Waiting() { world.forest.forget_watch(id); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  Result<PoseAnswer> ask() {
    flag.woken = false;
    return world.forest.answer_or_watch(question, {id, &flag});
  }
  [[nodiscard]] bool is_watching() const { return world.forest.is_watching(id); }

  /// The answer to a query now: the pose, that it can never come, or nothing yet.
  enum class News { answer, no_hope, none };
  [[nodiscard]] News news() const {
    Flag unused;
    const WaitId other = world.forest.new_wait_id();
    const bool answered = static_cast<bool>(world.forest.answer_or_watch(question, {other, &unused}));
    const bool watches = world.forest.is_watching(other);
    world.forest.forget_watch(other);
    return answered ? News::answer : watches ? News::none : News::no_hope;
  }
};

NamedQuestion asking(std::string of, std::string in, When at = {}) {
  return {.of = std::move(of), .in_frame = std::move(in), .fixed_frame = "", .at = at, .of_at = {}, .context = {}};
}

}  // namespace

// -- LATEST, where the newest common instant lies under another parent

TEST(lost_detour, "a wait for LATEST is woken by data that leads past the parent of an earlier time") {
  World world;
  world.forest.add_frame("map");
  world.put("x", "island", {0, 8});
  world.put("x", "ship", {15, 30});
  world.put("ship", "map", {0, 10});
  Waiting wait(world, asking("x", "map"));  // at 10 x is on the island still
  CHECK(wait.is_watching());
  world.put("ship", "map", {12});
  CHECK(!wait.flag.woken);
  world.put("ship", "map", {20});
  CHECK(wait.flag.woken);
  CHECK_CLOSE(wait.ask().value.stamp.ns, 20, 0);
}

TEST(lost_detour_structure, "a wait for LATEST is woken by a move on the path of a later time") {
  World world;
  world.forest.add_frame("map");
  world.put("x", "island", {0, 8});
  world.put("x", "ship", {15, 30});
  world.put("ship", "map", {0, 10});
  Waiting wait(world, asking("x", "map"));
  CHECK(wait.is_watching() && !wait.flag.woken);
  world.fix("ship", "map", {}, {12});
  CHECK(wait.flag.woken && wait.ask());
}

TEST(lost_detour_data, "a wait for data under an earlier parent is woken by data that leads past it") {
  World world;
  world.put("x", "island", {0, 8});
  world.put("island", "map", {9, 12});
  world.put("x", "ship", {15, 30});
  world.put("ship", "map", {0, 5});
  Waiting wait(world, asking("x", "map"));  // at 5 x is on the island, whose place is known from 9 on
  CHECK(wait.is_watching());
  world.put("ship", "map", {20});
  CHECK(wait.flag.woken && wait.ask());
}

TEST(lost_gone_again, "a frame that went again before the wait looked is waited for again") {
  World world;
  world.forest.add_frame("map");
  Waiting wait(world, asking("x", "map"));
  for (int round = 0; round < 3; ++round) {
    world.put("x", "map", {1});
    world.forest.remove_frame(world.forest.find_frame("x"), false);
    CHECK(wait.flag.woken);
    CHECK(wait.ask().failure.kind() == FailureKind::unknown_frame && wait.is_watching());
  }
  world.put("x", "map", {1});
  CHECK(wait.flag.woken && wait.ask());
}

// -- What can never succeed any more

TEST(lost_expired, "a wait is woken when what it has is forgotten while it waits for the rest") {
  World world({.retention = keeping(100)});
  world.put("x", "base", {0, 10});
  world.put("base", "map", {0});
  Waiting wait(world, asking("x", "map", When::exactly({5})));
  CHECK(wait.is_watching());
  world.put("x", "base", {105});
  CHECK(!wait.flag.woken);
  world.put("x", "base", {106});
  CHECK(wait.flag.woken && wait.news() == Waiting::News::no_hope);
}

TEST(lost_full, "a wait for the past is woken when the history is full: nothing older is taken then") {
  World world({.retention = keeping(1000, 3)});
  world.put("x", "map", {100, 110});
  Waiting wait(world, asking("x", "map", When::exactly({50})));
  CHECK(wait.is_watching());
  world.put("x", "map", {120});
  CHECK(wait.flag.woken && wait.news() == Waiting::News::no_hope);
}

// -- Anything, at random

namespace {

/// A small world, shaken; its questions are of the same few frames.
class Shaken {
 public:
  Shaken(std::uint32_t seed, bool counted) : counted_(counted), random_(seed), world_(options(counted)) {}

  void shake_once() {
    switch (below(12)) {
      case 0:
        return (void)world_.fix(name(), name(), {}, below(2) == 0 ? Stamp::always() : Stamp{stamp()}, source());
      case 1:
        return (void)world_.forest.prefer(world_.forest.find_frame(name()), source());
      case 2:
        return (void)world_.forest.prefer(world_.forest.find_frame(name()), std::nullopt);
      case 3:
        return (void)world_.forest.remove_frame(world_.forest.find_frame(name()), below(2) == 0);
      case 4:
        return (void)world_.attach(name(), name(), stamp());
      case 5:
        return shake_all();
      case 6:
        return (void)world_.put_many(name(), name(), {stamp(), stamp(), stamp()}, source());
      default:
        return (void)world_.put(name(), name(), {stamp()}, source());
    }
  }

  NamedQuestion question() {
    NamedQuestion asked = asking(name(), name(), when());
    if (below(3) == 0) asked.fixed_frame = name(), asked.of_at = when();
    if (below(3) == 0) asked.context.outside = Outside::hold;
    return asked;
  }

  World& world() { return world_; }

 private:
  static ForestOptions options(bool counted) {
    ForestOptions options;
    options.retention = keeping(40, counted ? 4 : 0);
    options.max_runs = 6;
    return options;
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::int64_t stamp() { return below(80); }
  When when() { return below(2) == 0 ? When::newest() : When::exactly({stamp()}); }
  std::string name() { return std::string(1, static_cast<char>('a' + below(6))); }
  std::string source() { return below(5) == 0 ? "other" : ""; }
  void shake_all() {
    const std::uint32_t which = below(20);
    if (which == 0) world_.forest.clear();
    if (which == 1) world_.forest.reset_time();
    if (which == 2) world_.forest.keep(below(10), keeping(10 + below(60), counted_ ? below(5) : 0));
  }

  bool counted_;
  std::mt19937 random_;
  World world_;
};

}  // namespace

namespace {

/// How many waits were not woken although there was news for them.
int lost_waits(std::uint32_t seed, bool counted) {
  Shaken shaken(seed, counted);
  std::vector<std::unique_ptr<Waiting>> waits;
  for (int i = 0; i < 20; ++i) waits.push_back(std::make_unique<Waiting>(shaken.world(), shaken.question()));
  int lost = 0;
  for (int step = 0; step < 120; ++step) {
    shaken.shake_once();
    for (const auto& wait : waits) {
      const auto news = wait->is_watching() && !wait->flag.woken ? wait->news() : Waiting::News::none;
      const bool pushed_out = counted && news == Waiting::News::no_hope;  // by number: notified when the rest comes
      if (news != Waiting::News::none && !pushed_out) ++lost;
      if (wait->flag.woken || !wait->is_watching()) (void)wait->ask();
    }
  }
  return lost;
}

}  // namespace

TEST(lost_random, "whatever happens, there is no news for a wait that was not woken") {
  int lost = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) lost += lost_waits(seed, seed % 3 == 0);
  CHECK(lost == 0);
}

TEST(lost_threads, "a thread that waits for a frame that comes and goes is answered once it stays") {
  World world;
  world.forest.add_frame("map");
  std::atomic<int> asked{0}, answered{0};
  constexpr int kRounds = 300;
  const auto name = [](int round) { return "x" + std::to_string(round); };
  std::thread waiter([&] {
    for (int round = 0; round < kRounds; ++round) {
      ++asked;
      answered += world.forest.wait_for_pose(asking(name(round), "map", When::exactly({50})), -1) ? 1 : 0;
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    while (asked <= round) std::this_thread::yield();
    for (int again = 0; again < round % 5; ++again) {
      world.put(name(round), "map", {0, 40});
      world.forest.remove_frame(world.forest.find_frame(name(round)), false);
    }
    world.put(name(round), "map", {40, 60});
  }
  waiter.join();
  CHECK(answered == kRounds && world.forest.waits_pending() == 0);
}
