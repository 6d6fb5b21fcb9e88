#include "door.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "convert.hpp"
#include "driven_values.hpp"
#include "gil.hpp"
#include "scene_store.hpp"
#include "values.hpp"

namespace armillary::python {

using scene::ChangeKind;
using scene::ChangePtr;
using scene::FrameAssertion;

namespace {

Failure record(Self self, scene::Change change, std::int64_t now_ns, bool for_undo, const Act& act, Gil gil,
               ChangePtr* recorded = nullptr) {
  if (gil == Gil::kept)
    return with_changes(self,
                        [&](scene::Store& store) { return store.record(std::move(change), now_ns, act, for_undo, recorded); });
  scene::Store& store = *core(self).store;
  return without_gil([&] { return store.record(std::move(change), now_ns, act, for_undo, recorded); });
}

/// Python runs the change under the lock that orders notifications, and notifies the observers after it.
Failure change_observed(Self self, scene::Change change, std::int64_t now_ns, bool for_undo, const Act& act, Gil gil) {
  Failure failure;
  const nb::object run = nb::cpp_function([&]() -> nb::object {
    ChangePtr recorded;
    failure = record(self, std::move(change), now_ns, for_undo, act, gil, &recorded);
    return failure ? nb::none() : change_object(recorded);
  });
  (void)core(self).upcalls.notify(self, run);
  return failure;
}

}  // namespace

Failure change_frames(Self self, ChangeKind kind, FrameAssertion assertion, bool for_undo, const Act& act, Gil gil) {
  scene::Change change;
  change.kind = kind;
  change.assertion = std::make_shared<const FrameAssertion>(std::move(assertion));
  const nb::object now = now_of(self);
  const std::int64_t now_ns = as_stamp(now, "what the clock tells");
  if (core(self).is_observed) return change_observed(self, std::move(change), now_ns, for_undo, act, gil);
  return record(self, std::move(change), now_ns, for_undo, act, gil);
}

Failure add_samples(Self self, FrameAssertion relation, const Act& act, Gil gil) {
  if (!with_changes(self, [&](scene::Store& store) { return store.knows_relation(relation); }))
    return change_frames(self, ChangeKind::add_relation, std::move(relation), false, act, gil);
  return gil == Gil::kept ? act(relation) : without_gil([&] { return act(relation); });
}

namespace {

constexpr int kEnough = 8;

std::array<double, 4> parts(const Rotation& q) { return {q.w, q.x, q.y, q.z}; }

/// Until it stays the same, or goes to and fro between two: then the lesser of them.
Rotation settled(Rotation unit) {
  Rotation next = unit.normalized();
  for (int times = 0; times < kEnough && parts(next) != parts(unit); ++times) {
    unit = next;
    next = unit.normalized();
  }
  return std::min(unit, next, [](const Rotation& a, const Rotation& b) { return parts(a) < parts(b); });
}

}  // namespace

/// What is said again elsewhere, and read from files, has the same bits.
std::shared_ptr<const FixedPose> fixed_pose(const FixedPose& pose) {
  auto stored = std::make_shared<FixedPose>(pose);
  stored->value.rotation = settled(stored->value.rotation);
  return stored;
}

// -- Plain values

namespace {

constexpr std::size_t kParts = 10;

[[noreturn]] void refuse(const char* what) {
  raise("InvalidArgument", std::string("This is no change of frames: ") + what + ".");
}

nb::object pose_tuple(const FixedPose* pose) {
  if (pose == nullptr) return nb::none();
  const bool is_known = pose->certainty == Certainty::known;
  return nb::make_tuple(nb::cast(pose->value), is_known ? read_only_array(pose->covariance.values.data(), {6, 6}) : nb::none(),
                        pose->certainty == Certainty::unknown);
}

std::shared_ptr<const FixedPose> pose_from(nb::handle value) {
  if (!PyTuple_Check(value.ptr()) || PyTuple_GET_SIZE(value.ptr()) != 3) refuse("a fixed pose has three parts");
  const auto parts = nb::borrow<nb::tuple>(value);
  FixedPose pose{.value = as_transform(parts[0])};
  bool is_unsure = false;
  if (!nb::try_cast(parts[2], is_unsure)) refuse("a pose is unsure or not");
  if (is_unsure) pose.certainty = Certainty::unknown;
  if (!nb::handle(parts[1]).is_none()) {
    pose.covariance = as_covariance(parts[1], "covariance");
    pose.certainty = Certainty::known;
  }
  return fixed_pose(pose);
}

std::string name_from(nb::handle value) { return std::string(text_of(stored_name(value))); }

std::vector<std::string> names_from(nb::handle value) {
  if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr())) refuse("its frames are a list");
  std::vector<std::string> names;
  for (nb::handle name : value) names.push_back(name_from(name));
  return names;
}

bool is_pair(ChangeKind kind) {
  return kind == ChangeKind::fix || kind == ChangeKind::unfix || kind == ChangeKind::add_relation ||
         kind == ChangeKind::add_twist_relation || kind == ChangeKind::drive;
}

bool is_of_joints(ChangeKind kind) { return kind == ChangeKind::add_joints || kind == ChangeKind::remove_joints; }

}  // namespace

nb::object assertion_tuple(const FrameAssertion* assertion) {
  if (assertion == nullptr) return nb::none();
  nb::list frames;
  for (const std::string& frame : assertion->frames) frames.append(nb::str(frame.data(), frame.size()));
  return nb::make_tuple(assertion->of, assertion->in_frame,
                        assertion->has_source ? nb::object(nb::cast(assertion->source)) : nb::none(),
                        stamp_or_none(assertion->since), pose_tuple(assertion->pose.get()), assertion->recalibrate,
                        nb::tuple(frames), assertion->clock ? nb::object(nb::int_(assertion->clock->ns)) : nb::none(),
                        form_tuple(assertion->form.get()), joints_tuple(assertion->joints));
}

std::shared_ptr<const FrameAssertion> assertion_from(ChangeKind kind, nb::handle value) {
  if (!PyTuple_Check(value.ptr()) || PyTuple_GET_SIZE(value.ptr()) != kParts) refuse("it has ten parts");
  const auto parts = nb::borrow<nb::tuple>(value);
  FrameAssertion assertion;
  assertion.frames = names_from(parts[6]);
  const bool has_name =
      is_pair(kind) || kind == ChangeKind::add_body || kind == ChangeKind::prefer || kind == ChangeKind::release;
  if (has_name) assertion.of = name_from(parts[0]);
  if (is_pair(kind)) assertion.in_frame = name_from(parts[1]);
  if (is_pair(kind) && assertion.of == assertion.in_frame) refuse("a frame is not in itself");
  assertion.has_source = !nb::handle(parts[2]).is_none();
  if (assertion.has_source && !PyUnicode_Check(nb::handle(parts[2]).ptr())) refuse("a source is a text");
  if (assertion.has_source) assertion.source = std::string(text_of(parts[2]));
  if (!assertion.has_source && kind != ChangeKind::prefer) refuse("somebody says it");
  if (!nb::handle(parts[3]).is_none()) assertion.since = Stamp{as_stamp(parts[3], "at")};
  if (kind == ChangeKind::add_relation && assertion.since == Stamp::always()) refuse("samples begin at an instant");
  if (kind == ChangeKind::fix) assertion.pose = pose_from(parts[4]);
  if (kind == ChangeKind::drive) assertion.form = form_from(parts[8]);
  if (is_of_joints(kind)) assertion.joints = joints_from(parts[9]);
  if (kind == ChangeKind::release && assertion.since == Stamp::always()) refuse("a frame is released at an instant");
  if (!nb::try_cast(parts[5], assertion.recalibrate)) refuse("it corrects a pose or not");
  if (!nb::handle(parts[7]).is_none()) assertion.clock = Stamp{as_stamp(parts[7], "to")};
  if (kind == ChangeKind::fix || kind == ChangeKind::add_relation || kind == ChangeKind::drive)
    assertion.frames = {assertion.of, assertion.in_frame};
  return std::make_shared<const FrameAssertion>(std::move(assertion));
}

}  // namespace armillary::python
