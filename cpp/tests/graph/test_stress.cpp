// Everything at once from several threads, where every answer can be checked.
//
// A sample at stamp t is placed at x = t, so that every interpolated x is its stamp. Parent k is at
// y = 1000 (k + 1), and what is set in parent k has z = 1000 (k + 1): an answer in the map with y != z took
// the sample of one parent through the pose of another.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "worlds.hpp"

using namespace armillary;
using tests::World;

namespace {

constexpr int kParents = 4;
constexpr std::int64_t kHistory = 4000;
constexpr int kLinks = 5;

/// Answers that are checked; reads that are refused do not count.
std::int64_t wanted_answers() {
  const char* given = std::getenv("ARMILLARY_STRESS_ANSWERS");
  return given != nullptr ? std::atoll(given) : 1'000'000;
}

std::string name_of(const char* what, int k) { return what + std::to_string(k); }

Transform given_under(int parent, std::int64_t t) { return {{}, {static_cast<double>(t), 0.0, 1000.0 * (parent + 1)}}; }

struct Tally {
  std::atomic<std::int64_t> reads{0}, answered{0}, torn{0}, odd_failures{0}, waits{0};
};

/// The world under stress: `mover` changes parents, `marker` has rivals, `arm0..` is a chain, `guest0..` come and go.
class Arena {
 public:
  Arena() : forest_(options()) {
    for (int k = 0; k < kParents; ++k) fix(name_of("p", k), "map", tests::at_y(1000.0 * (k + 1)));
    for (std::int64_t t = 0; t < 100; ++t) write_all(t);
    clock = 100;
  }

  void write_all(std::int64_t t) {
    set("mover", 0, "", t);
    set("marker", 0, "one", t);
    for (int i = 0; i < kLinks; ++i) link(i, t);
  }
  void set(std::string_view of, int parent, std::string_view source, std::int64_t t) {
    (void)forest_.set_pose({of, name_of("p", parent), source}, {t}, given_under(parent, t));
  }
  /// Link i of the arm: x = t and a turn about x, so that positions only add.
  void link(int i, std::int64_t t) {
    const Transform pose{Rotation::exp({1e-3 * static_cast<double>(t), 0, 0}), {static_cast<double>(t), 0, 0}};
    (void)forest_.set_pose({name_of("arm", i), i == 0 ? "map" : name_of("arm", i - 1), ""}, {t}, pose);
  }
  void fix(std::string_view of, std::string_view in, const Transform& pose) {
    FixedPose fixed;
    fixed.value = pose;
    (void)forest_.fix({of, in, ""}, Stamp::always(), fixed);
  }
  [[nodiscard]] FrameId id(std::string_view name) const { return forest_.find_frame(name); }
  Forest& forest() { return forest_; }

  std::atomic<std::int64_t> clock{0};
  std::atomic<bool> stop{false};
  Tally tally;

 private:
  static ForestOptions options() {
    ForestOptions options;
    options.retention = tests::keeping(kHistory);
    options.max_runs = 50;
    return options;
  }
  Forest forest_;
};

// -- Writers

/// In order, late, and repeated: the same stamp always has the same value.
void write_arm(Arena& arena, unsigned seed) {
  std::mt19937_64 random(seed);
  while (!arena.stop) {
    const std::int64_t now = ++arena.clock;
    for (int i = 0; i < kLinks; ++i) arena.link(i, now);
    if (random() % 4 == 0) arena.link(static_cast<int>(random() % kLinks), now - static_cast<std::int64_t>(random() % 3000));
    if (random() % 64 == 0) std::this_thread::yield();
  }
}

void write_mover(Arena& arena, unsigned seed) {
  std::mt19937_64 random(seed);
  int parent = 0;
  while (!arena.stop) {
    const std::int64_t now = arena.clock;
    if (random() % 50 == 0) parent = static_cast<int>(random() % kParents);
    const std::int64_t late = random() % 5 == 0 ? static_cast<std::int64_t>(random() % 2000) : 0;
    arena.set("mover", random() % 20 == 0 ? static_cast<int>(random() % kParents) : parent, "", now - late);
    arena.set("marker", 0, "one", now);
    if (random() % 16 == 0) std::this_thread::yield();
  }
}

/// A second source comes and goes with the frame; preferences and fixings change.
void write_structure(Arena& arena, unsigned seed) {
  std::mt19937_64 random(seed);
  while (!arena.stop) {
    const std::int64_t now = arena.clock;
    for (std::int64_t t = now - 20; t < now; ++t) arena.set("marker", 1, "two", t);
    (void)arena.forest().prefer(arena.id("marker"), random() % 2 == 0 ? "one" : "two");
    std::this_thread::yield();
    (void)arena.forest().prefer(arena.id("marker"), std::nullopt);
    (void)arena.forest().remove_frame(arena.id("marker"), true);
    for (std::int64_t t = now - 20; t < now; ++t) arena.set("marker", 0, "one", t);
    const int guest = static_cast<int>(random() % 3);
    const std::string name = name_of("guest", guest);
    for (std::int64_t t = now - 10; t < now; ++t) arena.set(name, guest, "", t);
    arena.fix(name_of("tail", guest), name, {});
    std::this_thread::yield();
    if (random() % 2 == 0) (void)arena.forest().remove_frame(arena.id(name), true);
    if (random() % 200 == 0) arena.forest().clear();
  }
}

// -- Readers

bool is_one_of(FailureKind kind, std::initializer_list<FailureKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// What may be missing while writers are at work; anything else is a fault.
void note_failure(Arena& arena, FailureKind kind) {
  using enum FailureKind;
  if (!is_one_of(kind, {unknown_frame, not_connected, before_history, after_history, single_sample, no_samples, ambiguous_path}))
    ++arena.tally.odd_failures;
}

bool is_whole(const Vector3& p, double t) { return std::abs(p.x - t) < 1e-6 && std::abs(p.y - p.z) < 1e-6 && p.y > 999.0; }

void read_one(Arena& arena, std::string_view of, std::int64_t t, bool latest) {
  const Question question{.of = arena.id(of),
                          .in_frame = arena.id("map"),
                          .at = latest ? When::newest() : When::exactly({t}),
                          .fixed_frame = kNone,
                          .of_at = {},
                          .context = {}};
  const auto answer = arena.forest().pose(question);
  ++arena.tally.reads;
  if (!answer) return note_failure(arena, answer.failure.kind());
  ++arena.tally.answered;
  const double at = static_cast<double>(answer.value.stamp.ns);
  if (!is_whole(answer.value.transform.translation, at)) ++arena.tally.torn;
}

bool is_whole_arm(const Transform& pose, int links, double t) {
  const Vector3& p = pose.translation;
  return std::abs(p.x - links * t) < 1e-6 && std::abs(p.y) < 1e-6 && std::abs(p.z) < 1e-6 &&
         pose.rotation.angle_to(Rotation::exp({1e-3 * links * t, 0, 0})) < 1e-9;
}

void read_arm(Arena& arena, int link, std::int64_t t, bool latest) {
  const auto answer = arena.forest().pose({.of = arena.id(name_of("arm", link)),
                                           .in_frame = arena.id("map"),
                                           .at = latest ? When::newest() : When::exactly({t}),
                                           .fixed_frame = kNone,
                                           .of_at = {},
                                           .context = {}});
  ++arena.tally.reads;
  if (!answer) return note_failure(arena, answer.failure.kind());
  ++arena.tally.answered;
  if (!is_whole_arm(answer.value.transform, link + 1, static_cast<double>(answer.value.stamp.ns))) ++arena.tally.torn;
}

void read_batch(Arena& arena, std::mt19937_64& random, std::int64_t now) {
  std::vector<std::int64_t> stamps(200);
  for (std::int64_t& t : stamps) t = now - 5 - static_cast<std::int64_t>(random() % 1000);
  if (random() % 2 == 0) std::ranges::sort(stamps);
  std::vector<double> rows(stamps.size() * 7);
  const Failure failure =
      arena.forest().poses(arena.id("arm2"), arena.id("map"), stamps, {}, Forest::Layout::xyz_wxyz, rows.data());
  const std::size_t good = failure ? 0 : stamps.size();
  arena.tally.reads += static_cast<std::int64_t>(stamps.size());
  arena.tally.answered += static_cast<std::int64_t>(good);
  if (failure) note_failure(arena, failure.kind());
  for (std::size_t i = 0; i < good; ++i) {
    const double* r = &rows[7 * i];
    if (!is_whole_arm({{r[3], r[4], r[5], r[6]}, {r[0], r[1], r[2]}}, 3, static_cast<double>(stamps[i]))) ++arena.tally.torn;
  }
}

void read_snapshot(Arena& arena, std::int64_t t) {
  const Sweep sweep = arena.forest().snapshot(arena.id("map"), When::exactly({t}), {});
  arena.tally.reads += static_cast<std::int64_t>(sweep.found.size() + sweep.missing.size());
  arena.tally.answered += static_cast<std::int64_t>(sweep.found.size());
  for (const auto& [frame, failure] : sweep.missing) note_failure(arena, failure.kind());
  for (const Sweep::Found& found : sweep.found) {
    const Vector3& p = found.transform.translation;
    if (found.stamp == Stamp::always()) continue;       // map itself and the parents
    const double share = p.x / static_cast<double>(t);  // the arm's links are at 1, 2, ... times t
    const bool is_arm = std::abs(p.y) < 1e-6 && share < kLinks + 0.5 && std::abs(share - std::round(share)) < 1e-6;
    if (!is_arm && !is_whole(p, static_cast<double>(t))) ++arena.tally.torn;
  }
}

void read_all(Arena& arena, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::int64_t wanted = wanted_answers();
  for (int round = 0; arena.tally.answered < wanted; ++round) {
    const std::int64_t now = arena.clock, t = now - static_cast<std::int64_t>(random() % 1000);
    const bool latest = random() % 4 == 0;
    read_one(arena, "mover", t, latest);
    read_one(arena, "marker", now - static_cast<std::int64_t>(random() % 30), latest);
    read_one(arena, name_of(random() % 2 == 0 ? "guest" : "tail", static_cast<int>(random() % 3)),
             now - static_cast<std::int64_t>(random() % 30), latest);
    for (int i = 0; i < kLinks; ++i) read_arm(arena, i, t, latest);
    if (round % 64 == 0) read_batch(arena, random, now);
    if (round % 64 == 32) read_snapshot(arena, now - static_cast<std::int64_t>(random() % 100));
  }
}

void wait_often(Arena& arena) {
  while (!arena.stop) {
    const std::int64_t t = arena.clock + 3;
    const NamedQuestion question{.of = t % 2 == 0 ? "arm4" : "mover",
                                 .in_frame = "map",
                                 .fixed_frame = "",
                                 .at = When::exactly({t}),
                                 .of_at = {},
                                 .context = {}};
    const auto answer = arena.forest().wait_for_pose(question, 20'000'000);
    ++arena.tally.waits;
    if (!answer) continue;
    const bool whole = t % 2 == 0 ? is_whole_arm(answer.value.transform, kLinks, static_cast<double>(t))
                                  : is_whole(answer.value.transform.translation, static_cast<double>(t));
    if (!whole) ++arena.tally.torn;
  }
}

// -- A reader that is stopped in the middle of a question

/// A provider at whose door a reader can be made to wait.
class Gate : public DrivenProvider {
 public:
  [[nodiscard]] Coverage coverage() const override { return {{0}, {1000}}; }
  [[nodiscard]] FailureKind evaluate(Stamp, const QueryContext&, Evaluation& out) const override {
    std::unique_lock<std::mutex> guard(mutex_);
    arrived_ = true;
    changed_.notify_all();
    changed_.wait(guard, [this] { return open_; });
    out.value = {};
    return FailureKind::none;
  }
  void await_reader() {
    std::unique_lock<std::mutex> guard(mutex_);
    changed_.wait(guard, [this] { return arrived_; });
  }
  void let_through() {
    const std::lock_guard<std::mutex> guard(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool arrived_ = false;
  bool open_ = false;
};

/// Asks for tip, over the gate and then over the samples of `base`, and waits at the gate until it opens.
struct StoppedReader {
  World& world;
  Question question;
  Result<PoseAnswer> answer;
  std::thread thread;

  explicit StoppedReader(World& in_world) : world(in_world), question(world.question("tip", "map", When::exactly({5}))) {}
  void start() {
    thread = std::thread([this] { answer = world.forest.pose(question); });
  }
};

/// Lets go of everything that may be freed.
void churn(World& world) {
  for (int i = 0; i < 300; ++i) world.fix("churn", "elsewhere");
}

struct OnWake : Watcher {
  std::function<void()> act;
  void wake(WaitId) override {
    if (act) std::exchange(act, nullptr)();
  }
};

}  // namespace

TEST(stress_all, "stress: readers, writers, moves, rivals, waits and removals at once tear no answer") {
  Arena arena;
  std::vector<std::thread> threads;
  threads.emplace_back(write_arm, std::ref(arena), 1);
  threads.emplace_back(write_mover, std::ref(arena), 2);
  threads.emplace_back(write_structure, std::ref(arena), 3);
  threads.emplace_back(wait_often, std::ref(arena));
  std::thread first(read_all, std::ref(arena), 11), second(read_all, std::ref(arena), 12);
  first.join();
  second.join();
  arena.stop = true;
  for (std::thread& thread : threads) thread.join();
  const Tally& tally = arena.tally;
  std::printf("     %lld reads, %lld answered, %lld torn, %lld waits, clock %lld\n", static_cast<long long>(tally.reads),
              static_cast<long long>(tally.answered), static_cast<long long>(tally.torn), static_cast<long long>(tally.waits),
              static_cast<long long>(arena.clock));
  CHECK(tally.torn == 0);
  CHECK(tally.odd_failures == 0);
  CHECK(tally.answered >= wanted_answers());
  CHECK(tally.waits > 0 && arena.forest().waits_pending() == 0);
}

TEST(stress_clear, "stress: clearing hundreds of frames under readers frees nothing they see") {
  World world;
  constexpr int kFrames = 300;
  for (int i = 0; i < kFrames; ++i) world.put(name_of("f", i), "map", {0, 10});
  const FrameId map = world.forest.find_frame("map");
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> torn{0};
  const auto read = [&] {
    while (!stop)
      for (FrameId id = 0; id <= kFrames; ++id) {
        const auto answer = world.forest.pose({.of = id, .in_frame = map, .at = When::exactly({5})});
        if (answer && id != map && answer.value.transform.translation.x != 5.0) ++torn;
      }
  };
  std::thread first(read), second(read);
  for (int round = 0; round < 60; ++round) {
    round % 2 == 0 ? world.forest.clear() : world.forest.reset_time();
    for (int i = 0; i < kFrames; ++i) world.put(name_of("f", i), "map", {0, 10});
  }
  stop = true;
  first.join();
  second.join();
  CHECK(torn == 0);
}

TEST(stress_gap, "stress: a gap between two runs is never answered, whatever replaces the event between them") {
  World world;
  for (const char* parent : {"p1", "p2", "p3"}) world.fix(parent, "map");
  world.put("cup", "p1", {1, 2, 3});
  world.put("cup", "p2", {5});
  for (std::int64_t t = 7; t < 200; ++t) world.put("cup", "p1", {t});
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> answered{0};
  const FrameId cup = world.forest.find_frame("cup"), map = world.forest.find_frame("map");
  const auto read = [&] {
    while (!stop)
      for (const std::int64_t t : {4, 6})
        answered += world.forest.pose({.of = cup, .in_frame = map, .at = When::exactly({t})}) ? 1 : 0;
  };
  std::thread first(read), second(read);
  for (int i = 0; i < 3000; ++i) world.put("cup", i % 2 == 0 ? "p3" : "p2", {5});
  stop = true;
  first.join();
  second.join();
  CHECK(answered == 0);
}

TEST(stress_pinned, "what a stopped reader looks at outlives removal, clearing and a thousand edits") {
  for (const int what : {0, 1, 2}) {
    World world;
    auto gate = std::make_shared<Gate>();
    for (std::int64_t t = 0; t < 500; ++t) world.put("base", "map", {t});
    world.forest.drive({"tip", "base", ""}, Stamp::always(), gate);
    StoppedReader reader(world);
    reader.start();
    gate->await_reader();
    if (what == 0) world.forest.remove_frame(world.forest.find_frame("base"), true);
    if (what == 1) world.forest.clear();
    if (what == 2) world.fix("base", "map");
    churn(world);
    gate->let_through();
    reader.thread.join();
    CHECK(reader.answer && reader.answer.value.transform.translation.x == 5.0);
  }
}

TEST(stress_unlink_first, "a reader that comes while a frame is being removed is as safe as one before") {
  World world;
  auto gate = std::make_shared<Gate>();
  for (std::int64_t t = 0; t < 500; ++t) world.put("base", "map", {t});
  world.forest.drive({"tip", "base", ""}, Stamp::always(), gate);
  world.put("last", "tip", {0, 10});  // removed after base and tip: its waits are notified in the middle
  StoppedReader reader(world);
  OnWake in_the_middle;
  in_the_middle.act = [&] {
    reader.start();
    gate->await_reader();
  };
  const NamedQuestion question{
      .of = "last", .in_frame = "map", .fixed_frame = "", .at = When::exactly({50}), .of_at = {}, .context = {}};
  (void)world.forest.answer_or_watch(question, {world.forest.new_wait_id(), &in_the_middle});
  world.forest.remove_frame(world.forest.find_frame("base"), true);
  churn(world);
  gate->let_through();
  CHECK(reader.thread.joinable());
  if (reader.thread.joinable()) reader.thread.join();
  CHECK(reader.answer && reader.answer.value.transform.translation.x == 5.0);
}
