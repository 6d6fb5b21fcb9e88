// A wait watches the one thing that is missing: woken by that, and by nothing else.

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::keeping;
using tests::World;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kLong = 20'000'000'000;

struct Count : Watcher {
  void wake(WaitId) override { ++wakes; }
  int wakes = 0;
};

NamedQuestion asking(std::string of, std::string in, When at = {}) {
  return {.of = std::move(of), .in_frame = std::move(in), .fixed_frame = "", .at = at, .of_at = {}, .context = {}};
}

NamedQuestion asking_at(std::string of, std::string in, std::int64_t t) {
  return asking(std::move(of), std::move(in), When::exactly({t}));
}

/// One wait, and how often it was woken.
struct Waiting {
  World& world;
  NamedQuestion question;
  WaitId id;
  Count count;
  FailureKind first;

  Waiting(World& in_world, NamedQuestion asked)
      : world(in_world), question(std::move(asked)), id(world.forest.new_wait_id()), first(ask().failure.kind()) {}
  ~Waiting() { world.forest.forget_watch(id); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  Result<PoseAnswer> ask() { return world.forest.answer_or_watch(question, {id, &count}); }
  /// Whether it was woken since this was asked last.
  bool was_woken() { return std::exchange(count.wakes, 0) > 0; }
  [[nodiscard]] bool is_watching() const { return world.forest.is_watching(id); }
};

World with_history(std::int64_t history_ns) {
  ForestOptions options;
  options.retention = keeping(history_ns);
  return World(std::move(options));
}

/// Samples, moves, fixings and frames that concern nobody who waits for "x".
void make_noise_elsewhere(World& world) {
  for (std::int64_t t = 0; t < 20; ++t) world.put("noise", t % 2 == 0 ? "noise_a" : "noise_b", {1000 + t});
  for (std::int64_t t = 0; t < 20; ++t) world.put("steady", "noise_a", {t});
  world.put_many("steady", "noise_a", {100, 101, 102});
  world.fix("bolt", "noise_b");
  world.forest.add_frame("lonely");
}

}  // namespace

// -- Which event wakes which wait

TEST(wait_answered, "what can be answered is answered at once and watches nothing") {
  World world;
  world.put("x", "map", {0, 10});
  Waiting wait(world, asking_at("x", "map", 5));
  CHECK(wait.first == FailureKind::none && !wait.is_watching());
  CHECK(world.forest.waits_pending() == 0);
}

TEST(wait_unknown, "a wait for an unknown frame is woken when it appears, and not by others") {
  World world;
  world.forest.add_frame("map");
  Waiting wait(world, asking_at("x", "map", 5));
  CHECK(wait.first == FailureKind::unknown_frame && wait.is_watching());
  make_noise_elsewhere(world);
  CHECK(!wait.was_woken());
  world.forest.add_frame("x");
  CHECK(wait.was_woken());
  CHECK(wait.ask().failure.kind() == FailureKind::not_connected && wait.is_watching());
}

TEST(wait_connected, "a wait for a connection is woken when an end of the gap gets a parent") {
  World world;
  world.forest.add_frame("map");
  world.put("x", "island", {0, 10});
  Waiting wait(world, asking_at("x", "map", 5));
  CHECK(wait.first == FailureKind::not_connected);
  make_noise_elsewhere(world);
  world.put("x", "island", {20});
  world.put("leaf", "x", {0, 10});
  CHECK(!wait.was_woken());
  world.fix("island", "map");
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_after, "a wait for the future is woken by the first sample not before it") {
  World world;
  world.put("x", "map", {0, 10});
  Waiting wait(world, asking_at("x", "map", 50));
  CHECK(wait.first == FailureKind::after_history);
  make_noise_elsewhere(world);
  world.put("x", "map", {20, 30, 49, 15, 10});
  CHECK(!wait.was_woken());
  world.put("x", "map", {60, 70});
  CHECK(wait.count.wakes == 1);  // once: it must be asked again
  CHECK_CLOSE(wait.ask().value.transform.translation.x, 50.0, 1e-9);
}

TEST(wait_after_exact, "a sample at exactly the stamp waited for wakes") {
  World world;
  world.put("x", "map", {0, 10});
  Waiting wait(world, asking_at("x", "map", 50));
  world.put("x", "map", {50});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_before, "a wait for the past is woken by a late sample not after it") {
  World world;
  world.put("x", "map", {100, 110});
  Waiting wait(world, asking_at("x", "map", 50));
  CHECK(wait.first == FailureKind::before_history);
  make_noise_elsewhere(world);
  world.put("x", "map", {120, 60, 51});
  CHECK(!wait.was_woken());
  world.put("x", "map", {40});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_before_exact, "a late sample at exactly the stamp waited for wakes") {
  World world;
  world.put("x", "map", {100, 110});
  Waiting wait(world, asking_at("x", "map", 50));
  world.put("x", "map", {50});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_single, "a wait beside a single sample is woken by one on its other side") {
  World world;
  world.put("x", "map", {10});
  Waiting later(world, asking_at("x", "map", 15)), earlier(world, asking_at("x", "map", 5));
  CHECK(later.first == FailureKind::single_sample && earlier.first == FailureKind::single_sample);
  world.put("x", "map", {20});
  CHECK(later.was_woken() && !earlier.was_woken() && later.ask());
  world.put("x", "map", {0});
  CHECK(earlier.was_woken() && earlier.ask());
}

TEST(wait_empty, "a wait on a cleared edge is woken by any sample") {
  World world;
  world.put("x", "map", {10});
  world.forest.clear();
  Waiting wait(world, asking("x", "map"));
  CHECK(wait.first == FailureKind::no_samples);
  world.put("x", "map", {7});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_latest, "LATEST of histories that do not meet is woken from either side") {
  for (const bool by_limiting : {true, false}) {
    World world;
    world.put("x", "map", {0, 10});
    world.put("y", "map", {100, 110});
    Waiting wait(world, asking("x", "y"));
    CHECK(wait.first == FailureKind::before_history);
    world.put("x", "map", {50, 99});
    CHECK(!wait.was_woken());
    by_limiting ? world.put("x", "map", {105}) : world.put("y", "map", {5});
    CHECK(wait.was_woken() && wait.ask());
  }
}

TEST(wait_chain, "each missing thing is watched in turn") {
  World world;
  Waiting wait(world, asking_at("tip", "map", 50));
  const auto woken_by = [&](auto event) {
    event();
    const bool woken = wait.was_woken();
    (void)wait.ask();
    return woken;
  };
  CHECK(woken_by([&] { world.fix("tip", "arm"); }));
  CHECK(woken_by([&] { world.forest.add_frame("map"); }));
  CHECK(woken_by([&] { world.put("arm", "base", {0}); }));
  CHECK(woken_by([&] { world.put("base", "map", {0, 60}); }));
  CHECK(woken_by([&] { world.put("arm", "base", {100}); }));
  CHECK(wait.ask());
}

TEST(wait_rival_opens, "a wait is woken by a rival that connects earlier") {
  World world;
  world.forest.add_frame("b");
  world.put("x", "a", {100, 110}, "one");
  Waiting wait(world, asking_at("x", "b", 50));
  CHECK(wait.first == FailureKind::not_connected);
  world.put("x", "b", {40}, "two");
  (void)wait.ask();
  world.put("x", "b", {60}, "two");
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_run_earlier, "a wait in a gap is woken by a late sample that begins the next run earlier") {
  for (const bool connected : {true, false}) {
    World world;
    if (connected) world.fix("p1", "map");
    world.fix("p2", "map");
    world.put("x", "p1", {1, 3});
    world.put("x", "p2", {10, 12});
    Waiting wait(world, asking_at("x", "map", 7));
    CHECK(wait.first == (connected ? FailureKind::after_history : FailureKind::not_connected));
    world.put("x", "p2", {6});
    CHECK(wait.was_woken() && wait.ask());
  }
}

TEST(wait_moved, "a wait is woken when a frame on its way is moved") {
  World world;
  world.forest.add_frame("map");
  world.put("x", "p1", {0, 100});
  Waiting wait(world, asking_at("x", "map", 50));
  CHECK(wait.first == FailureKind::not_connected);
  world.fix("p2", "map");
  CHECK(!wait.was_woken());
  world.put("x", "p2", {40, 60});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_cycle, "a wait is woken by data that cut a cycle elsewhere") {
  World world;
  world.put("a", "b", {0, 6});
  world.put("b", "c", {8, 12});
  world.put("c", "a", {5});
  Waiting wait(world, asking_at("a", "c", 9));
  CHECK(wait.first == FailureKind::after_history);  // of "a" in "b"
  world.put("c", "a", {10});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_preferred, "a preference that opens another way wakes") {
  World world;
  world.put("x", "map", {0, 10}, "one");
  world.put("x", "map", {0, 100}, "two");
  (void)world.forest.prefer(world.forest.find_frame("x"), "one");
  Waiting wait(world, asking_at("x", "map", 50));
  CHECK(wait.first == FailureKind::after_history);
  (void)world.forest.prefer(world.forest.find_frame("x"), "two");
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_elsewhere, "moves of frames that are not on the way wake nobody") {
  World world;
  world.put("x", "map", {0, 10});
  Waiting future(world, asking_at("x", "map", 50)), unknown(world, asking("nobody", "map"));
  for (std::int64_t t = 0; t < 100; ++t) world.put("noise", t % 2 == 0 ? "noise_a" : "noise_b", {t});
  world.fix("noise", "noise_c", {}, {1000});
  CHECK(!future.was_woken() && !unknown.was_woken());
}

// -- Waits that cannot succeed

TEST(wait_hopeless_now, "what can never be answered is not waited for") {
  World world = with_history(100);
  world.put("x", "map", {1000, 1010});
  for (const char* source : {"one", "two"}) world.put("rival", "map", {0, 10}, source);
  Waiting old(world, asking_at("x", "map", 500)), contested(world, asking_at("rival", "map", 5));
  CHECK(old.first == FailureKind::before_history && !old.is_watching());
  CHECK(contested.first == FailureKind::ambiguous_path && !contested.is_watching());
  bool hopeless = false;
  CHECK(!world.forest.wait_for_pose(asking_at("x", "map", 500), kLong, {}, &hopeless));
  CHECK(hopeless);
}

TEST(wait_hopeless_later, "a wait that becomes hopeless is woken to learn it") {
  World world = with_history(100);
  world.put("x", "map", {100, 110});
  Waiting wait(world, asking_at("x", "map", 50));
  CHECK(wait.first == FailureKind::before_history && wait.is_watching());
  world.put("x", "map", {120, 150});
  CHECK(!wait.was_woken());
  world.put("x", "map", {200});
  CHECK(wait.was_woken());
  world.forest.forget_watch(wait.id);
  CHECK(wait.ask().failure.kind() == FailureKind::before_history && !wait.is_watching());
}

TEST(wait_endless_history, "where nothing is ever too old, a wait for the past goes on quietly") {
  World world = with_history(std::numeric_limits<std::int64_t>::max());
  world.put("x", "map", {100, 110});
  Waiting wait(world, asking_at("x", "map", 50));
  CHECK(wait.first == FailureKind::before_history && wait.is_watching());
  world.put("x", "map", {120, 1'000'000'000'000});
  CHECK(!wait.was_woken());
  world.put("x", "map", {20});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_limit, "there are no more waits than allowed") {
  World world({.retention = {}, .max_runs = 10, .max_waits = 3, .default_covariance = {}});
  Count count;
  for (int i = 0; i < 5; ++i) {
    const auto kind = world.forest.answer_or_watch(asking("x", "map"), {world.forest.new_wait_id(), &count}).failure.kind();
    CHECK(kind == (i < 3 ? FailureKind::unknown_frame : FailureKind::limit_reached));
  }
  CHECK(world.forest.waits_pending() == 3);
  bool hopeless = false;
  CHECK(world.forest.wait_for_pose(asking("x", "map"), kLong, {}, &hopeless).failure.kind() == FailureKind::limit_reached);
  CHECK(hopeless && world.forest.waits_pending() == 3);
}

TEST(wait_forgotten, "a forgotten wait is never woken, whatever it watched") {
  World world;
  world.put("x", "map", {0, 10});
  world.put("y", "map", {100, 110});
  world.put("z", "y", {200, 210});
  Waiting wait(world, asking("x", "z"));
  world.put("x", "map", {105});
  (void)wait.ask();  // another edge is missing now
  world.forest.forget_watch(wait.id);
  (void)wait.was_woken();
  world.put("x", "map", {300});
  world.put("y", "map", {5, 300});
  world.put("z", "y", {5, 300});
  CHECK(!wait.was_woken() && world.forest.waits_pending() == 0);
}

TEST(wait_removed, "removing a frame that is waited for wakes, and the wait goes on for its return") {
  World world;
  world.put("x", "map", {0, 10});
  Waiting wait(world, asking_at("x", "map", 50));
  world.forest.remove_frame(world.forest.find_frame("x"), false);
  CHECK(wait.was_woken());
  CHECK(wait.ask().failure.kind() == FailureKind::unknown_frame);
  world.put("x", "map", {45, 55});
  CHECK(wait.was_woken() && wait.ask());
}

TEST(wait_many_elsewhere, "a thousand waits elsewhere are not looked at by an insert") {
  World world;
  world.put("x", "map", {0, 10});
  world.put("y", "map", {0, 10});
  Count count;
  for (int i = 0; i < 1000; ++i) {
    const auto asked = i % 2 == 0 ? asking_at("y", "map", 1000 + i) : asking("unknown" + std::to_string(i), "map");
    CHECK(!world.forest.answer_or_watch(asked, {world.forest.new_wait_id(), &count}));
  }
  for (std::int64_t t = 20; t < 2000; ++t) world.put("x", "map", {t});
  CHECK(count.wakes == 0);
  world.put("y", "map", {1500});
  CHECK(count.wakes == 251);  // of those for 1000, 1002, ..., 1998
}

// -- Blocking

TEST(wait_timeout, "a wait ends with what was missing when its time is over") {
  World world;
  world.put("x", "map", {0, 10});
  bool hopeless = true;
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = world.forest.wait_for_pose(asking_at("x", "map", 50), 30'000'000, {}, &hopeless);
  CHECK(answer.failure.kind() == FailureKind::after_history && !hopeless);
  CHECK(std::chrono::steady_clock::now() - begin >= 30ms);
  CHECK(world.forest.waits_pending() == 0);
  CHECK(world.forest.wait_for_pose(asking_at("x", "map", 50), 0).failure.kind() == FailureKind::after_history);
}

TEST(wait_no_limit, "a wait without a limit, or with a huge one, waits") {
  for (const std::int64_t limit : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    World world;
    world.put("x", "map", {0, 10});
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      while (world.forest.waits_pending() == 0 && !stop) std::this_thread::yield();
      world.put("x", "map", {60});
    });
    int asked = 0;
    const auto answer = world.forest.wait_for_pose(asking_at("x", "map", 50), limit, [&] { return ++asked < 200; });
    CHECK(answer && answer.value.stamp == Stamp{50});
    stop = true;
    writer.join();
  }
}

TEST(wait_interrupted, "a wait ends when it is interrupted, and leaves nothing behind") {
  World world;
  int asked = 0;
  bool hopeless = true;
  CHECK(!world.forest.wait_for_pose(asking("x", "map"), -1, [&] { return ++asked < 2; }, &hopeless));
  CHECK(asked == 2 && !hopeless && world.forest.waits_pending() == 0);
}

TEST(wait_thrown, "a wait whose caller throws leaves nothing behind") {
  World world;
  bool thrown = false;
  try {
    (void)world.forest.wait_for_pose(asking("x", "map"), -1, []() -> bool { throw std::runtime_error("interrupted"); });
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  CHECK(thrown && world.forest.waits_pending() == 0);
  world.forest.add_frame("x");  // would wake who is no more
}

TEST(wait_closed, "closing ends every wait, and later ones at once") {
  World world;
  world.put("x", "map", {0, 10});
  std::atomic<int> ended{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i)
    waiters.emplace_back([&, i] {
      const auto answer = world.forest.wait_for_pose(i % 2 == 0 ? asking_at("x", "map", 50) : asking("nobody", "map"), -1);
      ended += answer.failure.kind() == FailureKind::closed ? 1 : 0;
    });
  while (world.forest.waits_pending() < 4) std::this_thread::yield();
  world.forest.close();
  for (std::thread& waiter : waiters) waiter.join();
  CHECK(ended == 4 && world.forest.waits_pending() == 0);
  CHECK(world.forest.wait_for_pose(asking_at("x", "map", 50), -1).failure.kind() == FailureKind::closed);
}

TEST(wait_threads, "many threads that wait for many stamps all get the right answer") {
  World world;
  world.put("x", "map", {0});
  std::atomic<int> right{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i)
    waiters.emplace_back([&, i] {
      for (std::int64_t t = 10 + i; t < 1000; t += 97) {
        const auto answer = world.forest.wait_for_pose(asking_at("x", "map", t), kLong);
        right += answer && std::abs(answer.value.transform.translation.x - static_cast<double>(t)) < 1e-9 ? 1 : 100'000;
      }
    });
  for (std::int64_t t = 1; t <= 1000; ++t) {
    world.put("x", "map", {t});
    if (t % 50 == 0) std::this_thread::yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
  CHECK(right >= 80 && right < 100'000);
  CHECK(world.forest.waits_pending() == 0);
}

TEST(wait_removals, "frames that come and go under waiting threads lose no wait") {
  World world;
  std::atomic<bool> stop{false};
  std::atomic<int> answered{0}, wrong{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i)
    waiters.emplace_back([&] {
      while (!stop) {
        const auto answer = world.forest.wait_for_pose(asking_at("x", "map", 50), 200'000'000);
        if (answer) ++answered;
        if (answer && std::abs(answer.value.transform.translation.x - 50.0) > 1e-9) ++wrong;
      }
    });
  for (int round = 0; round < 300; ++round) {
    world.put("x", "map", {0});
    world.put("x", "map", {100});
    if (round % 10 == 0) std::this_thread::sleep_for(1ms);
    world.forest.remove_frame(world.forest.find_frame("x"), false);
  }
  stop = true;
  for (std::thread& waiter : waiters) waiter.join();
  CHECK(answered > 0 && wrong == 0 && world.forest.waits_pending() == 0);
}
