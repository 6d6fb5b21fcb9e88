// All assertions of a source about a frame at once: new runs in place of the old, samples with the thing they are of.

#include "portrait.hpp"

using namespace armillary;
using tests::at_x;
using tests::World;

namespace {

using Piece = PlaceRuns::Piece;

Piece fixed(std::int64_t from, std::string in_frame, double x = 0.0) {
  return {.from = {from}, .in_frame = std::move(in_frame), .in_frame_T_of = at_x(x)};
}

Piece sampled(Stamp from, std::string in_frame, std::uint64_t thing = 0) {
  return {.from = from, .in_frame = std::move(in_frame), .thing = {0, thing}, .is_fixed = false};
}

Piece nowhere(std::int64_t from) { return {.from = {from}}; }

Failure place(World& world, std::vector<PlaceRuns> runs) {
  const std::vector<FrameEdit> edits(runs.begin(), runs.end());
  return world.forest.transact(edits);
}

}  // namespace

TEST(placed_for_a_while, "placing: from one instant until another, and nowhere else") {
  World world;
  (void)world.fix("shelf", "map", at_x(5.0));
  CHECK(!place(world, {{"cup", "me", {}, {fixed(2, "map", 1.0), nowhere(4), fixed(6, "shelf", 2.0)}}}));
  CHECK(world.kind("cup", "map", 1) == FailureKind::before_history);
  CHECK_CLOSE(world.x("cup", "map", 3), 1.0, tests::kCloseM);
  CHECK(world.kind("cup", "map", 5) == FailureKind::not_connected);
  CHECK_CLOSE(world.x("cup", "map", 6), 7.0, tests::kCloseM);
}

TEST(placed_elsewhere, "placing: samples go with their thing into another frame, under the same number") {
  World world;
  (void)world.put("cup", "map", {1, 3});
  const RelationId relation = world.relation("cup", "map");
  (void)world.fix("tray", "map", at_x(10.0));
  const Piece before = sampled(Stamp::always(), "map"), after = sampled(Stamp::always(), "tray");
  CHECK(!place(world, {{"cup", "", {before}, {after}}}));
  CHECK_CLOSE(world.x("cup", "map", 2), 12.0, tests::kCloseM);
  CHECK(world.relation("cup", "tray") == relation);
}

TEST(placed_again, "placing: after a pause a sampled frame goes on from its last samples, which count once") {
  World world;
  (void)world.put("cup", "map", {1, 3});
  const Piece always = sampled(Stamp::always(), "map"), again = sampled({8}, "map");
  CHECK(!place(world, {{"cup", "", {always}, {always, nowhere(5), again}}}));
  CHECK(world.kind("cup", "map", 4) == FailureKind::after_history);
  CHECK(world.kind("cup", "map", 6, tests::holding()) == FailureKind::not_connected);
  CHECK(world.kind("cup", "map", 9) == FailureKind::after_history);
  CHECK_CLOSE(world.x("cup", "map", 9, tests::holding()), 3.0, tests::kCloseM);
  CHECK_CLOSE(world.latest("cup", "map").value.transform.translation.x, 3.0, tests::kCloseM);
  CHECK(world.samples("cup", "map") == 2);
}

TEST(placed_things, "placing: what one thing was sampled at is nothing to the next") {
  World world;
  (void)world.put("cup", "map", {1, 3});
  Piece second = sampled({2}, "map", 1);
  second.first_sample = Stamp{2};
  second.in_frame_T_of = at_x(7.0);
  CHECK(!place(world, {{"cup", "", {sampled(Stamp::always(), "map")}, {sampled(Stamp::always(), "map"), second}}}));
  CHECK_CLOSE(world.x("cup", "map", 1), 1.0, tests::kCloseM);
  CHECK_CLOSE(world.x("cup", "map", 4, tests::holding()), 7.0, tests::kCloseM);
}

TEST(placed_constant, "placing: a constant pose holds until the first sample of its thing, also when it is open again") {
  World world;
  const Piece always = fixed(Stamp::always().ns, "map", 1.0);
  CHECK(!place(world, {{"cup", "", {}, {always}}}));
  (void)world.put("cup", "map", {3});
  CHECK(!place(world, {{"cup", "", {always}, {always, nowhere(5), fixed(8, "map", 1.0)}}}));
  CHECK_CLOSE(world.x("cup", "map", 2), 1.0, tests::kCloseM);
  CHECK_CLOSE(world.x("cup", "map", 3), 3.0, tests::kCloseM);
  CHECK(world.kind("cup", "map", 6, tests::holding()) == FailureKind::not_connected);
  CHECK_CLOSE(world.x("cup", "map", 9, tests::holding()), 3.0, tests::kCloseM);
}

TEST(placed_late, "placing: a late sample stays with its thing, whatever its parent at that instant") {
  for (const std::int64_t at : {2, 6, 9}) {
    World world;
    const std::vector<Piece> pieces{fixed(Stamp::always().ns, "map", 1.0), nowhere(5), fixed(8, "map", 1.0)};
    CHECK(!place(world, {{"cup", "", {}, pieces}}));
    PlaceRuns edit{"cup", "", pieces, pieces};
    edit.late.push_back({.at = {at}, .in_frame_T_of = at_x(7.0)});
    CHECK(!place(world, {edit}));
    CHECK_CLOSE(world.x("cup", "map", 1), 1.0, tests::kCloseM);
    CHECK_CLOSE(world.x("cup", "map", 4, tests::holding()), at == 2 ? 7.0 : 1.0, tests::kCloseM);
    CHECK(world.kind("cup", "map", 7, tests::holding()) == FailureKind::not_connected);
    CHECK_CLOSE(world.x("cup", "map", 10, tests::holding()), 7.0, tests::kCloseM);
  }
}

TEST(placed_nowhere, "placing: samples of a thing without a parent wait, unless a transaction fails, and are its own again") {
  World world;
  (void)world.put("cup", "map", {1, 3});
  const Piece always = sampled(Stamp::always(), "map", 4), again = sampled({8}, "map", 4);
  CHECK(!place(world, {{"cup", "", {always}, {sampled(Stamp::always(), "map", 4)}}}));
  CHECK(place(world, {{"cup", "", {always}, {}}, {"map", "", {}, {fixed(0, "map")}}}));
  CHECK_CLOSE(world.x("cup", "map", 3), 3.0, tests::kCloseM);
  CHECK(!place(world, {{"cup", "", {always}, {}}}));
  CHECK(world.kind("cup", "map", 3, tests::holding()) != FailureKind::none);
  CHECK(!place(world, {{"cup", "", {}, {sampled(Stamp::always(), "map", 5)}}}));
  CHECK(world.kind("cup", "map", 3, tests::holding()) != FailureKind::none);
  CHECK(!place(world, {{"cup", "", {sampled(Stamp::always(), "map", 5)}, {again}}}));
  CHECK_CLOSE(world.x("cup", "map", 9, tests::holding()), 3.0, tests::kCloseM);
}

TEST(placed_by_others, "placing: where somebody else moved the frame stays") {
  World world;
  (void)place(world, {{"cup", "", {}, {fixed(Stamp::always().ns, "map", 1.0)}}});
  (void)world.put("cup", "hand", {5, 7});
  (void)world.fix("hand", "map");
  CHECK(!place(world, {{"cup", "", {fixed(Stamp::always().ns, "map", 1.0)}, {fixed(0, "map", 2.0)}}}));
  CHECK_CLOSE(world.x("cup", "map", 1), 2.0, tests::kCloseM);
  CHECK_CLOSE(world.x("cup", "map", 6), 6.0, tests::kCloseM);
}

TEST(placed_around, "placing: two frames change places at once, and a loop is refused as a whole") {
  World world;
  const Piece in_map = fixed(Stamp::always().ns, "map"), in_a = fixed(Stamp::always().ns, "a", 1.0);
  const Piece in_b = fixed(Stamp::always().ns, "b", 2.0);
  CHECK(!place(world, {{"a", "", {}, {in_map}}, {"b", "", {}, {in_a}}}));
  CHECK(!place(world, {{"a", "", {in_map}, {in_b}}, {"b", "", {in_a}, {in_map}}}));
  CHECK_CLOSE(world.x("a", "map", 1), 2.0, tests::kCloseM);
  const Failure failure = place(world, {{"a", "", {in_b}, {in_b}}, {"b", "", {in_map}, {in_a}}});
  CHECK(failure.kind() == FailureKind::frame_loop);
  CHECK_CLOSE(world.x("a", "map", 1), 2.0, tests::kCloseM);
}
