// Many at once, and the lanes without names.

#include <algorithm>

#include "worlds.hpp"

using namespace armillary;
using tests::add_chain;
using tests::at_x;
using tests::at_y;
using tests::holding;
using tests::World;

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

TEST(try_insert_numbers, "trying a relation that does not exist reports it, whatever the numbers") {
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
          CHECK(one.value.stamp == found.stamp && (one.value.held != nullptr) == found.held);
        }
        for (const auto& [name, failure] : sweep.missing) CHECK(world.kind(name, seen_from, t, context) == failure.kind());
      }
}

TEST(relations_report, "relations report sources, counts and spans") {
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
