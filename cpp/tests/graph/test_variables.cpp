// Variables in time: channels, sources, kinds of interpolation, and the joints they drive.

#include <atomic>
#include <numbers>
#include <thread>

#include "armillary/graph/driven_link.hpp"
#include "worlds.hpp"

using namespace armillary;
using tests::holding;
using tests::keeping;

namespace {

constexpr double kPi = std::numbers::pi;

/// A world with joints `a` and `b` (linear), `turn` (wrap), `drawer` (hold) and a rotation `w x y z`.
struct Joints : tests::World {
  explicit Joints(ForestOptions options = {}) : tests::World(std::move(options)) {
    const Variables::Declaration declarations[] = {{"a"},
                                                   {"b"},
                                                   {"turn", VariableKind::wrap},
                                                   {"drawer", VariableKind::hold},
                                                   {"w", VariableKind::unit_quaternion},
                                                   {"x", VariableKind::unit_quaternion},
                                                   {"y", VariableKind::unit_quaternion},
                                                   {"z", VariableKind::unit_quaternion}};
    CHECK(!forest.declare_variables(declarations));
  }

  /// Names in the order they were declared.
  Failure give(std::initializer_list<std::string_view> names, std::int64_t at, std::vector<double> row,
               std::string_view source = "", bool has_velocities = false) {
    ChannelName name;
    for (const std::string_view one : names) name.variables.push_back(forest.find_variable(one)->id);
    name.has_velocities = has_velocities;
    Result<ChannelId> channel = forest.joint_channel(name, source);
    if (!channel) return std::move(channel.failure);
    return forest.set_joints(channel.value, {&at, 1}, row.data());
  }

  [[nodiscard]] Result<JointAnswer> ask(std::string_view name, std::int64_t at, const QueryContext& context = {}) const {
    return forest.joint(*forest.find_variable(name), When::exactly({at}), context);
  }
  [[nodiscard]] double value(std::string_view name, std::int64_t at) const { return ask(name, at).value.position; }

  Failure slide(std::string_view of, std::string_view in, std::string_view joint) {
    const JointMotion motion{.kind = JointKind::prismatic, .axis = {1.0, 0.0, 0.0}};
    return forest.drive_by_joints({of, in, ""}, Stamp::always(), {.motion = motion, .positions = {std::string(joint)}});
  }
};

}  // namespace

TEST(variables_declared, "variables are declared once, and another kind is refused") {
  Joints joints;
  const Variables::Declaration same[] = {{"a"}}, other[] = {{"new"}, {"a", VariableKind::wrap}},
                               half[] = {{"p", VariableKind::unit_quaternion}};
  CHECK(!joints.forest.declare_variables(same) && joints.forest.variables().size() == 8);
  CHECK(joints.forest.declare_variables(other).kind() == FailureKind::other_variable);
  CHECK(joints.forest.declare_variables(half).kind() == FailureKind::other_variable);
  CHECK(joints.forest.find_variable("new") == nullptr && joints.forest.variables().size() == 8);
}

TEST(variables_linear, "between two samples a variable is on the line between them") {
  Joints joints;
  CHECK(joints.ask("a", 0).failure.kind() == FailureKind::no_samples);
  joints.give({"a", "b"}, 0, {1.0, 10.0});
  CHECK(joints.ask("a", 50).failure.kind() == FailureKind::single_sample);
  joints.give({"a", "b"}, 100, {2.0, 20.0});
  CHECK_CLOSE(joints.value("a", 25), 1.25, 1e-15);
  CHECK_CLOSE(joints.value("b", 100), 20.0, 0.0);
  CHECK(joints.ask("a", -1).failure.kind() == FailureKind::before_history);
  CHECK(joints.ask("a", 101).failure.kind() == FailureKind::after_history && joints.ask("a", 101).failure->joint == "a");
  CHECK_CLOSE(joints.ask("a", 101, holding()).value.position, 2.0, 0.0);
  CHECK(joints.ask("a", 101, holding()).value.held && !joints.ask("a", 100, holding()).value.held);
}

TEST(variables_wrap, "an angle goes the shorter way round") {
  Joints joints;
  joints.give({"turn"}, 0, {3.0});
  joints.give({"turn"}, 100, {-3.0});
  CHECK_CLOSE(joints.value("turn", 50), kPi, 1e-15);
  CHECK_CLOSE(joints.ask("turn", 50).value.velocity, 1e7 * (2.0 * kPi - 6.0), 1e-6);
}

TEST(variables_hold, "what is held stays where it was left, for ever") {
  Joints joints;
  joints.give({"drawer"}, 10, {0.25});
  joints.give({"drawer"}, 20, {0.5});
  CHECK(joints.value("drawer", 15) == 0.25 && joints.ask("drawer", 15).value.held);
  CHECK(joints.value("drawer", 1000) == 0.5 && joints.ask("drawer", 1000).value.held);
  CHECK(!joints.ask("drawer", 20).value.held && joints.ask("drawer", 1000).value.velocity == 0.0);
  CHECK(joints.ask("drawer", 9).failure.kind() == FailureKind::before_history);
}

TEST(variables_rotation, "a rotation is set as a whole, is normalised and turns along the shortest arc") {
  Joints joints;
  CHECK(joints.give({"w", "x"}, 0, {1.0, 0.0}).kind() == FailureKind::part_of_rotation);
  CHECK(joints.give({"w", "x", "y", "z"}, 0, {2.0, 0.0, 0.0, 0.0}).kind() == FailureKind::not_a_position);
  CHECK(!joints.give({"w", "x", "y", "z"}, 0, {1.001, 0.0, 0.0, 0.0}));
  CHECK(joints.value("w", 0) == 1.0);
  joints.give({"w", "x", "y", "z"}, 1'000'000'000, {-std::cos(0.5), 0.0, 0.0, -std::sin(0.5)});
  CHECK_CLOSE(joints.value("w", 500'000'000), std::cos(0.25), 1e-15);
  CHECK_CLOSE(joints.value("z", 500'000'000), std::sin(0.25), 1e-15);
  CHECK_CLOSE(joints.ask("z", 500'000'000).value.velocity, 0.5 * std::cos(0.25), 1e-12);
}

TEST(variables_channels, "a variable that is set together with changing others is one variable") {
  Joints joints;
  joints.give({"a", "b"}, 0, {0.0, 7.0});
  joints.give({"a"}, 10, {1.0});
  joints.give({"a", "b"}, 20, {0.0, 9.0});
  CHECK_CLOSE(joints.value("a", 5), 0.5, 1e-15);
  CHECK_CLOSE(joints.value("a", 15), 0.5, 1e-15);
  CHECK_CLOSE(joints.value("b", 10), 8.0, 1e-15);
  joints.give({"a"}, 20, {5.0});  // set again: the older channel is withdrawn
  CHECK(joints.value("a", 20) == 5.0 && joints.value("b", 20) == 9.0);
  joints.give({"a", "b"}, 10, {3.0, 1.0});
  CHECK(joints.value("a", 10) == 3.0 && joints.value("b", 10) == 1.0);
  const VariableTable table = joints.forest.joint_samples(*joints.forest.find_variable("a"), "", Stamp::always(), Stamp::never());
  CHECK((table.stamps == std::vector<std::int64_t>{0, 10, 20}) && (table.positions == std::vector<double>{0.0, 3.0, 5.0}));
}

TEST(variables_velocity, "given velocities are taken, others are slopes") {
  Joints joints;
  const double none = std::numeric_limits<double>::quiet_NaN();
  joints.give({"a", "b"}, 0, {0.0, 0.0, 3.0, none}, "", true);
  CHECK(joints.ask("a", 0).value.velocity == 3.0 && !joints.ask("b", 0).value.has_velocity);
  joints.give({"a", "b"}, 1'000'000'000, {1.0, 2.0, 5.0, none}, "", true);
  CHECK_CLOSE(joints.ask("a", 250'000'000).value.velocity, 3.5, 1e-15);
  CHECK_CLOSE(joints.ask("b", 250'000'000).value.velocity, 2.0, 1e-15);
  CHECK_CLOSE(joints.ask("b", 1'000'000'000).value.velocity, 2.0, 1e-15);
  CHECK_CLOSE(joints.value("a", 250'000'000), 0.25, 1e-15);
}

TEST(variables_predict, "a prediction goes on with the given velocity, else with the last slope") {
  Joints joints;
  joints.give({"a"}, 0, {0.0});
  joints.give({"a"}, 1'000'000'000, {2.0});
  joints.give({"b"}, 0, {1.0, 4.0}, "", true);
  QueryContext ahead;
  ahead.outside = Outside::predict;
  CHECK_CLOSE(joints.ask("a", 1'500'000'000, ahead).value.position, 3.0, 1e-15);
  CHECK_CLOSE(joints.ask("b", 500'000'000, ahead).value.position, 3.0, 1e-15);
  CHECK(joints.ask("b", 500'000'000, ahead).value.predicted);
  CHECK(joints.ask("a", 2'500'000'000, ahead).failure.kind() == FailureKind::after_history);
  CHECK(joints.ask("a", -1, ahead).failure.kind() == FailureKind::before_history);
}

TEST(variables_rivals, "two sources contest a variable from when both have spoken, unless one is preferred") {
  Joints joints;
  joints.give({"a"}, 0, {1.0}, "arm");
  joints.give({"a"}, 50, {5.0}, "camera");
  joints.give({"a"}, 100, {2.0}, "arm");
  CHECK(joints.value("a", 49) == 1.49);
  CHECK(joints.ask("a", 50).failure.kind() == FailureKind::ambiguous_path);
  CHECK(!joints.forest.prefer_variable(*joints.forest.find_variable("a"), "nobody"));
  CHECK(joints.forest.prefer_variable(*joints.forest.find_variable("a"), "camera"));
  CHECK(joints.value("a", 50) == 5.0 && joints.value("a", 40) == 1.4);
  CHECK(joints.forest.prefer_variable(*joints.forest.find_variable("a"), std::nullopt));
  CHECK(joints.ask("a", 50).failure.kind() == FailureKind::ambiguous_path);
}

TEST(variables_history, "each variable forgets against its own newest sample") {
  Joints joints({.retention = keeping(100)});
  joints.give({"a", "b"}, 0, {0.0, 0.0});
  joints.give({"a", "b"}, 50, {1.0, 1.0});
  joints.give({"a"}, 140, {2.0});
  CHECK(joints.ask("a", 30).failure.kind() == FailureKind::before_history);
  CHECK_CLOSE(joints.value("b", 25), 0.5, 1e-15);
  CHECK(joints.give({"a"}, 39, {0.0}).kind() == FailureKind::before_history);
  CHECK(joints.give({"a", "b"}, 39, {0.0, 0.0}).kind() == FailureKind::before_history);
  CHECK(!joints.give({"b"}, 39, {0.0}) && !joints.give({"a"}, 40, {0.5}));
}

TEST(variables_refused, "a row that cannot be stored changes nothing") {
  Joints joints;
  CHECK(joints.give({"a", "b"}, 0, {0.0, std::numeric_limits<double>::infinity()}).kind() == FailureKind::not_a_position);
  CHECK(joints.ask("a", 0).failure.kind() == FailureKind::no_samples);
  CHECK(joints.give({"a"}, kLatestSample.ns, {0.0}).kind() == FailureKind::stamp_not_a_sample);
}

TEST(joints_drive, "a joint drives a frame at every instant that its variable covers") {
  Joints joints;
  CHECK(!joints.slide("slider", "rail", "a"));
  joints.put("rail", "map", {0, 400});
  CHECK(joints.kind("slider", "map", 50) == FailureKind::no_samples);
  joints.give({"a"}, 0, {0.0});
  joints.give({"a"}, 100, {1.0});
  CHECK_CLOSE(joints.x("slider", "map", 50), 50.5, 1e-12);
  CHECK(joints.latest("slider", "map").value.stamp == Stamp{100});
  const auto after = joints.pose("slider", "map", 150);
  CHECK(after.failure.kind() == FailureKind::after_history && after.failure->joint == "a" && after.failure->last == Stamp{100});
  CHECK(joints.pose("slider", "map", 150, holding()).value.held);
}

TEST(joints_apart, "variables whose histories do not overlap say which one begins too late") {
  Joints joints;
  const DrivenForm form{.motion = JointMotion{.kind = JointKind::planar}, .positions = {"a", "b", "turn"}};
  CHECK(!joints.forest.drive_by_joints({"car", "map", ""}, Stamp::always(), form));
  joints.give({"a", "turn"}, 0, {0.0, 0.0});
  joints.give({"b"}, 10, {0.0});
  const auto answer = joints.latest("car", "map");
  CHECK(answer.failure.kind() == FailureKind::before_history && answer.failure->joint == "b");
}

TEST(joints_copy, "a copy has variables of its own") {
  Joints joints;
  joints.slide("slider", "rail", "a");
  joints.give({"a", "b"}, 0, {0.0, 0.0});
  joints.give({"a"}, 100, {1.0});
  Forest twin{ForestOptions{}};
  twin.become(joints.forest);
  const Question question{.of = twin.find_frame("slider"), .in_frame = twin.find_frame("rail"), .at = When::exactly({50})};
  CHECK_CLOSE(twin.pose(question).value.transform.translation.x, 0.5, 1e-15);
  joints.give({"a"}, 100, {3.0});
  CHECK_CLOSE(twin.pose(question).value.transform.translation.x, 0.5, 1e-15);
  CHECK_CLOSE(joints.x("slider", "rail", 50), 1.5, 1e-15);
}

TEST(joints_clear, "clearing forgets where joints were, and keeps what they drive") {
  Joints joints;
  joints.slide("slider", "rail", "a");
  joints.give({"a"}, 0, {1.0}, "arm");
  joints.forest.clear();
  CHECK(joints.kind("slider", "rail", 0) == FailureKind::no_samples);
  joints.give({"a"}, 0, {2.0}, "other");
  CHECK(joints.x("slider", "rail", 0) == 2.0);
}

TEST(joints_wait, "a wait for a driven frame is woken by its joint, and ends when the joint can not come any more") {
  Joints joints({.retention = keeping(1000)});
  joints.slide("slider", "rail", "a");
  joints.give({"a"}, 0, {0.0});
  const NamedQuestion question{.of = "slider", .in_frame = "rail", .at = When::exactly({50})};
  std::thread driver([&] {
    while (joints.forest.waits_pending() == 0) std::this_thread::yield();
    joints.give({"b"}, 100, {0.0});
    joints.give({"a"}, 100, {1.0});
  });
  const auto answer = joints.forest.wait_for_pose(question, 20'000'000'000);
  driver.join();
  CHECK(answer && answer.value.transform.translation.x == 0.5);
  bool hopeless = false;
  joints.give({"a"}, 5000, {0.0});
  CHECK(!joints.forest.wait_for_pose(question, 20'000'000'000, {}, &hopeless) && hopeless);
}

TEST(joints_twist, "a joint's velocity is its frame's twist") {
  Joints joints;
  joints.slide("slider", "rail", "a");
  joints.give({"a"}, 0, {0.0, 0.25}, "", true);
  const TwistQuestion question{
      .of = joints.forest.find_frame("slider"), .reference = joints.forest.find_frame("rail"), .at = When::exactly({0})};
  const auto answer = joints.forest.twist(question);
  CHECK(answer && answer.value.method == TwistMethod::joints && answer.value.velocity.linear.x == 0.25);
}

TEST(joints_readers, "readers see whole rows while joints are written, late and anew") {
  Joints joints({.retention = keeping(1000)});
  const DrivenForm form{.motion = JointMotion{.kind = JointKind::cylindrical}, .positions = {"a", "b"}};
  CHECK(!joints.forest.drive_by_joints({"tip", "base", ""}, Stamp::always(), form));
  joints.give({"a", "b"}, 0, {0.0, 0.0});
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      const auto seen = joints.latest("tip", "base");
      if (seen) CHECK_CLOSE(seen.value.transform.translation.z, seen.value.transform.rotation.log().z, 1e-12);
    }
  });
  for (std::int64_t t = 1; t < 20'000; ++t) {
    const double q = 1e-4 * static_cast<double>(t % 997);
    joints.give({"a", "b"}, t, {q, q});
    if (t % 7 == 0) joints.give({"a", "b"}, t - 3, {q, q});
    if (t % 5000 == 0) joints.forest.clear();
  }
  done = true;
  reader.join();
}
