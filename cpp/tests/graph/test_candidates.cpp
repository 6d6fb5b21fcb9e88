// Every path between two frames, where sources disagree on the way.

#include <algorithm>

#include "armillary/graph/candidates.hpp"
#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::at_y;
using tests::World;

namespace {

struct Paths : World {
  [[nodiscard]] Result<CandidateSet> between(std::string_view of, std::string_view in, When at = {},
                                             std::size_t most = 64) const {
    return forest.candidates({.of = forest.find_frame(of), .in_frame = forest.find_frame(in), .at = at}, most);
  }
};

/// Every layer placed twice: two to the power of `layers` paths.
void stack(Paths& world, int layers) {
  for (int i = 0; i < layers; ++i)
    for (const char* source : {"a", "b"})
      world.fix("f" + std::to_string(i + 1), "f" + std::to_string(i), at_x(1.0), Stamp::always(), source);
}

}  // namespace

TEST(candidates_of_a_plain_path_are_one, "candidates of a plain path are one") {
  Paths world;
  world.put("b", "a", {10, 20});
  const auto found = world.between("b", "a", When::exactly({15}));
  CHECK(found.value.paths.size() == 1);
  CHECK(found.value.paths[0].steps.size() == 1);
  CHECK(found.value.edges.size() == 1);
  CHECK(!found.value.edges[0].is_contested);
  CHECK(found.value.edges[0].sampled_at == Stamp{10});
}

TEST(candidates_keep_what_lies_below_a_branching, "candidates keep what lies below a branching") {
  Paths world;
  world.fix("left", "root", at_x(1.0));
  world.fix("right", "root", at_x(2.0));
  world.fix("p", "left", at_y(1.0), Stamp::always(), "l");
  world.fix("p", "right", at_y(1.0), Stamp::always(), "r");
  world.fix("leaf", "p");
  const auto found = world.between("leaf", "root");
  CHECK(found.value.paths.size() == 2);
  CHECK(found.value.edges.size() == 5);  // what paths share is there once
  for (const Candidate& path : found.value.paths)
    CHECK(path.steps.size() == 3 && found.value.edges[path.steps[1].edge].is_contested);
  CHECK(found.value.paths[0].answer.transform.translation.x + found.value.paths[1].answer.transform.translation.x == 3.0);
  CHECK(world.between("leaf", "left").value.paths.size() == 2);
}

TEST(candidates_have_a_latest_each, "each candidate has a latest instant of its own") {
  Paths world;
  world.put("b", "a", {10, 20}, "l");
  world.put("b", "a", {10, 30}, "r");
  const auto found = world.between("b", "a");
  CHECK(found.value.paths.size() == 2);
  CHECK(found.value.paths[0].answer.stamp == Stamp{20});
  CHECK(found.value.paths[1].answer.stamp == Stamp{30});
}

TEST(candidates_say_what_they_lack, "candidates say what they lack") {
  Paths world;
  world.put("b", "a", {10, 20}, "l");
  world.put("b", "a", {10, 30}, "r");
  world.fix("b", "elsewhere", {}, Stamp::always(), "x");
  const auto found = world.between("b", "a", When::exactly({25}));
  CHECK(found.value.paths.size() == 3);
  CHECK(found.value.paths[0].failure.kind() == FailureKind::after_history);
  CHECK(!found.value.paths[1].failure);
  CHECK(found.value.paths[2].failure.kind() == FailureKind::not_connected);
}

TEST(candidates_are_chosen_by_a_preference, "candidates are chosen by a preference") {
  Paths world;
  world.put("b", "a", {10, 20}, "l");
  world.put("b", "a", {10, 30}, "r");
  CHECK(!world.forest.prefer(world.forest.find_frame("b"), "r"));
  const auto found = world.between("b", "a");
  CHECK(found.value.paths.size() == 1);
  CHECK(found.value.paths[0].answer.stamp == Stamp{30});
}

TEST(candidates_are_taken_by_every_question_that_is_asked_with_their_sources,
     "candidates are taken by every question that is asked with their sources") {
  Paths world;
  stack(world, 3);
  const auto found = world.between("f3", "f0");
  CHECK(found.value.paths.size() == 8);
  for (const Candidate& path : found.value.paths) {
    QueryContext context;
    context.selector = &path.sources;
    const Question question{.of = world.forest.find_frame("f3"), .in_frame = world.forest.find_frame("f0"), .context = context};
    const Result<PoseAnswer> answer = world.forest.pose(question);
    CHECK(static_cast<bool>(answer));
    CHECK(std::ranges::equal(answer.value.relations.ids(), path.answer.relations.ids()));
  }
}

TEST(candidates_are_bounded, "candidates are bounded") {
  Paths world;
  stack(world, 200);
  CHECK(world.between("f6", "f0").value.paths.size() == 64);
  CHECK(world.between("f7", "f0").failure.kind() == FailureKind::too_many_paths);
  CHECK(world.between("f200", "f0").failure->limit == 64);
}

TEST(candidates_of_frames_that_are_gone_are_a_failure, "candidates of frames that are gone are a failure") {
  Paths world;
  world.fix("b", "a");
  CHECK(world.between("b", "nobody").failure.kind() == FailureKind::unknown_frame);
}

TEST(candidates_do_not_count_who_has_closed, "candidates do not count who has closed the frame") {
  Paths world;
  for (const char* source : {"a", "b", "c"}) world.fix("cup", "map", at_x(1.0), Stamp::always(), source);
  const FrameEdit edit = CloseFrame{.of = "cup", .source = "b", .at = {10}};
  CHECK(!world.forest.transact({&edit, 1}));
  CHECK(world.between("cup", "map", When::exactly({5})).value.paths.size() == 3);
  CHECK(world.between("cup", "map", When::exactly({15})).value.paths.size() == 2);
  CHECK(world.between("cup", "map").value.paths.size() == 2);
}
