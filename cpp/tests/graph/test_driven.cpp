// A provider that computes: a door whose hinge angle is a function of time within what it covers.

#include <atomic>
#include <thread>

#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::holding;
using tests::World;

namespace {

constexpr double kRadPerStamp = 0.01;

class Door : public DrivenProvider {
 public:
  Door(std::int64_t first, std::int64_t last) : first_(first), last_(last) {}

  void open_until(std::int64_t last) { last_ = last; }
  void know_how_well() { certainty_ = Certainty::known; }

  [[nodiscard]] Coverage coverage() const override { return {{first_}, {last_.load()}}; }

  [[nodiscard]] FailureKind evaluate(Stamp at, const QueryContext& context, Evaluation& out) const override {
    ++asked;
    const std::int64_t last = last_.load();
    if (last < first_) return FailureKind::no_samples;
    const bool inside = at.ns >= first_ && at.ns <= last;
    if (!inside && context.outside != Outside::hold)
      return at.ns < first_ ? FailureKind::before_history : FailureKind::after_history;
    out.held = !inside;
    out.value.rotation = angle_at(std::clamp(at.ns, first_, last));
    out.value.translation = {};
    out.certainty = certainty_;
    if (certainty_ == Certainty::known) out.covariance.at(5, 5) = 0.25;
    return FailureKind::none;
  }

  static Rotation angle_at(std::int64_t at) { return Rotation::exp({0, 0, kRadPerStamp * static_cast<double>(at)}); }

  mutable std::atomic<int> asked{0};

 private:
  const std::int64_t first_;
  std::atomic<std::int64_t> last_;
  Certainty certainty_ = Certainty::unknown;
};

/// handle (fixed) - door (driven) - frame (fixed) - base (sampled) - map.
struct House {
  World world;
  std::shared_ptr<Door> door;

  explicit House(std::int64_t first = 10, std::int64_t last = 100) : door(std::make_shared<Door>(first, last)) {
    world.put("base", "map", {0, 200});
    world.fix("frame", "base", tests::at_y(3.0));
    CHECK(!world.forest.drive({"door", "frame", ""}, Stamp::always(), door));
    world.fix("handle", "door", at_x(1.0));
  }
};

Vector3 handle_at(std::int64_t t) {
  const Vector3 turned = Door::angle_at(t) * Vector3{1.0, 0.0, 0.0};
  return turned + Vector3{static_cast<double>(t), 3.0, 0.0};
}

struct Count : Watcher {
  void wake(WaitId) override { ++wakes; }
  int wakes = 0;
};

}  // namespace

TEST(driven_pose, "a driven edge answers within what it covers, and fails with the reason outside") {
  House house;
  for (const std::int64_t t : {10, 55, 100}) {
    const auto answer = house.world.pose("handle", "map", t);
    CHECK(answer && norm(answer.value.transform.translation - handle_at(t)) < 1e-12);
    CHECK(answer.value.stamp == Stamp{t} && !answer.value.is_timeless());
  }
  const auto before = house.world.pose("handle", "map", 9), after = house.world.pose("handle", "map", 101);
  CHECK(before.failure.kind() == FailureKind::before_history && before.failure->first == Stamp{10});
  CHECK(after.failure.kind() == FailureKind::after_history && after.failure->last == Stamp{100});
  CHECK(after.failure->relation == house.world.relation("door", "frame"));
}

TEST(driven_inverse, "a driven edge is inverted on the way down") {
  House house;
  const Transform there = house.world.pose("handle", "map", 40).value.transform;
  const Transform back = house.world.pose("map", "handle", 40).value.transform;
  CHECK(tests::is_close(back, there.inverse()));
}

TEST(driven_hold, "holding is left to the provider, and the answer is marked") {
  House house;
  const auto answer = house.world.pose("handle", "base", 150, holding());
  CHECK(answer && answer.value.held);
  CHECK(
      tests::is_close(answer.value.transform, {Door::angle_at(100), Door::angle_at(100) * Vector3{1, 0, 0} + Vector3{0, 3, 0}}));
}

TEST(driven_latest, "LATEST is limited by what a driven edge covers") {
  House house;
  CHECK(house.world.latest("handle", "map").value.stamp == Stamp{100});
  house.door->open_until(150);
  CHECK(house.world.latest("handle", "map").value.stamp == Stamp{150});
  house.door->open_until(500);  // now the base limits
  CHECK(house.world.latest("handle", "map").value.stamp == Stamp{200});
  house.door->open_until(5);
  CHECK(house.world.latest("handle", "map").failure.kind() == FailureKind::no_samples);
}

TEST(driven_from, "a driven run is not active before it begins, and ends where the next begins") {
  World world;
  world.fix("door", "wall", at_x(7.0), {0});
  CHECK(!world.forest.drive({"door", "frame", ""}, {50}, std::make_shared<Door>(0, 1000)));
  world.fix("door", "wall", at_x(8.0), {80});
  CHECK_CLOSE(world.x("door", "wall", 49), 7.0, 0.0);
  CHECK(world.kind("door", "frame", 49) == FailureKind::not_connected);
  CHECK(world.kind("door", "frame", 50) == FailureKind::none && world.kind("door", "frame", 79) == FailureKind::none);
  CHECK_CLOSE(world.x("door", "wall", 80), 8.0, 0.0);
}

TEST(driven_before_first, "before the first run of a track a driven pose is before its history") {
  World world;
  CHECK(!world.forest.drive({"door", "frame", ""}, {50}, std::make_shared<Door>(0, 1000)));
  CHECK(world.kind("door", "frame", 20) == FailureKind::before_history);
  CHECK(world.kind("door", "frame", 50) == FailureKind::none);
  world.put("frame", "map", {0, 30});
  CHECK(world.latest("door", "map").failure.kind() == FailureKind::before_history);
}

TEST(driven_batch, "a batch over a driven edge answers as one question after the other") {
  House house;
  std::vector<std::int64_t> stamps;
  for (std::int64_t i = 0; i < 300; ++i) stamps.push_back(10 + i * 7 % 91);
  std::vector<double> out(stamps.size() * 7);
  const FrameId handle = house.world.forest.find_frame("handle"), map = house.world.forest.find_frame("map");
  CHECK(!house.world.forest.poses(handle, map, stamps, {}, Forest::Layout::xyz_wxyz, out.data()));
  for (std::size_t i = 0; i < stamps.size(); ++i)
    CHECK(norm(Vector3{out[7 * i], out[7 * i + 1], out[7 * i + 2]} - handle_at(stamps[i])) < 1e-12);
  stamps[177] = 101;
  const Failure failure = house.world.forest.poses(handle, map, stamps, {}, Forest::Layout::xyz_wxyz, out.data());
  CHECK(failure.kind() == FailureKind::after_history && failure->row == 177);
}

TEST(driven_snapshot, "a snapshot evaluates a driven edge once and names its failure") {
  House house;
  const FrameId map = house.world.forest.find_frame("map");
  house.door->asked = 0;
  const Sweep sweep = house.world.forest.snapshot(map, When::exactly({40}), {});
  CHECK(house.door->asked == 1 && sweep.missing.empty() && sweep.found.size() == 5);
  for (const auto& found : sweep.found)
    if (found.frame == house.world.forest.find_frame("handle")) CHECK(norm(found.transform.translation - handle_at(40)) < 1e-12);
  const Sweep outside = house.world.forest.snapshot(map, When::exactly({150}), {});
  CHECK(outside.missing.size() == 2);  // door and handle
  for (const auto& [frame, failure] : outside.missing) CHECK(failure.kind() == FailureKind::after_history);
}

TEST(driven_covariance, "the provider's certainty is the edge's") {
  House house;
  CHECK(house.world.pose("handle", "frame", 40).value.certainty == Certainty::unknown);
  house.door->know_how_well();
  const auto answer = house.world.pose("handle", "frame", 40);
  CHECK(answer.value.certainty == Certainty::known);
  CHECK_CLOSE(answer.value.covariance->at(5, 5), 0.25, 1e-15);
  CHECK_CLOSE(answer.value.covariance->at(1, 1), 0.25, 1e-15);  // at the end of a lever of one metre
}

TEST(driven_wakes, "a wait for a driven edge is woken when its owner reports what it covers") {
  House house;
  Count count;
  const RelationId relation = house.world.relation("door", "frame");
  const NamedQuestion question{
      .of = "handle", .in_frame = "map", .fixed_frame = "", .at = When::exactly({150}), .of_at = {}, .context = {}};
  CHECK(house.world.forest.answer_or_watch(question, {house.world.forest.new_wait_id(), &count}).failure.kind() ==
        FailureKind::after_history);
  house.door->open_until(120);
  house.world.forest.driven_changed(relation, {120});
  house.world.forest.driven_changed(relation + 1000, {150});
  CHECK(count.wakes == 0);
  house.door->open_until(160);
  house.world.forest.driven_changed(relation, {160});
  CHECK(count.wakes == 1 && house.world.kind("handle", "map", 150) == FailureKind::none);
}

TEST(driven_wait, "a thread that waits for a driven edge gets its answer") {
  House house;
  const NamedQuestion question{
      .of = "handle", .in_frame = "map", .fixed_frame = "", .at = When::exactly({150}), .of_at = {}, .context = {}};
  std::thread owner([&] {
    while (house.world.forest.waits_pending() == 0) std::this_thread::yield();
    house.door->open_until(160);
    house.world.forest.driven_changed(house.world.relation("door", "frame"), {160});
  });
  const auto answer = house.world.forest.wait_for_pose(question, 20'000'000'000);
  owner.join();
  CHECK(answer && norm(answer.value.transform.translation - handle_at(150)) < 1e-12);
}

TEST(driven_lifetime, "a replaced provider lives until its last reader left, and no longer") {
  World world;
  std::weak_ptr<Door> old;
  {
    auto door = std::make_shared<Door>(0, 100);
    old = door;
    world.forest.drive({"door", "frame", ""}, Stamp::always(), std::move(door));
  }
  {
    const Pin reader;
    world.forest.drive({"door", "frame", ""}, Stamp::always(), std::make_shared<Door>(0, 200));
    for (int i = 0; i < 300; ++i) world.fix("other", "map");
    CHECK(!old.expired());
  }
  for (int i = 0; i < 300; ++i) world.fix("other", "map");
  CHECK(old.expired());
  CHECK(world.kind("door", "frame", 150) == FailureKind::none);
}

TEST(driven_clear, "clearing and a new time keep a driven edge") {
  House house;
  house.world.forest.clear();
  CHECK(house.world.kind("handle", "frame", 40) == FailureKind::none);
  house.world.forest.reset_time();
  CHECK(house.world.kind("handle", "frame", 40) == FailureKind::none);
  CHECK(house.world.kind("handle", "map", 40) == FailureKind::no_samples);
}
