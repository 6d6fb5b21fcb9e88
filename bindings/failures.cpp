// Failures of the core as Python errors, with their evidence.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.hpp"
#include "raise.hpp"
#include "scene_values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

nb::object edge_tuple(const StoreCore& world, RelationId id) {
  const std::optional<Forest::Edge> edge = world.forest->edge_of(id);
  if (!edge) return nb::make_tuple("?", "?", "?");
  return nb::make_tuple(world.store->frame_label(edge->of), world.store->frame_label(edge->in_frame),
                        world.store->source_label(edge->source));
}

/// Frames of a refused transaction are gone with it: the failure itself knows their names.
std::string frame_name(const StoreCore& world, const Failure& failure, FrameId id) {
  for (const auto& [known, name] : failure->names)
    if (known == id) return world.store->frame_label(name);
  return world.store->frame_label(world.forest->frame_name(id));
}

nb::tuple frame_names(const StoreCore& world, const Failure& failure, std::span<const FrameId> ids) {
  nb::list names;
  for (const FrameId id : ids) names.append(frame_name(world, failure, id));
  return nb::tuple(names);
}

nb::object not_connected(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame) {
  const bool has_ended = failure->ended != kNone;
  return error_class("NotConnected")(
      of, in_frame, frame_name(world, failure, failure->of), frame_name(world, failure, failure->in_frame),
      stamp_or_none(failure->requested),
      "ended"_a = has_ended ? nb::object(nb::cast(frame_name(world, failure, failure->ended))) : nb::none(),
      "ended_at"_a = has_ended ? stamp_or_none(failure->last) : nb::none());
}

const char* range_error(FailureKind kind) {
  switch (kind) {
    case FailureKind::before_history:
      return "BeforeHistory";
    case FailureKind::after_history:
      return "AfterHistory";
    case FailureKind::single_sample:
      return "SingleSample";
    case FailureKind::not_received:
      return "NotReceived";
    default:
      return "NoSamples";
  }
}

/// Calls an error class with keyword arguments whose names are made once.
template <std::size_t Count>
nb::object made(const nb::object& type, const nb::object& names, const std::array<nb::object, Count>& values) {
  std::array<PyObject*, Count> arguments;
  for (std::size_t i = 0; i < Count; ++i) arguments[i] = values[i].ptr();
  nb::object error = nb::steal(PyObject_Vectorcall(type.ptr(), arguments.data(), 0, names.ptr()));
  if (!error.is_valid()) throw nb::python_error();
  return error;
}

nb::object out_of_range(const StoreCore& world, const Failure& failure, bool inserting) {
  const bool has_samples = failure->kind != FailureKind::no_samples && failure->first <= failure->last;
  const bool never_common = failure->limiting != kNone;  // asked for LATEST, and there is no common instant
  const bool is_about_joint = failure->relation == kNone && !failure->joint.empty();
  static const auto* names = new nb::object(  // never ends
      nb::make_tuple("edge", "requested", "first", "last", "inserting", "horizon", "hold_up_to", "joint"));
  return made<8>(
      error_class(range_error(failure->kind)), *names,
      {is_about_joint ? nb::none() : edge_tuple(world, failure->relation),
       never_common ? nb::none() : stamp_or_none(failure->requested), has_samples ? stamp_or_none(failure->first) : nb::none(),
       has_samples ? stamp_or_none(failure->last) : nb::none(), nb::object(nb::bool_(inserting)),
       failure->horizon_ns < 0 ? nb::none() : nb::object(nb::int_(failure->horizon_ns)),
       failure->hold_up_to_ns < 0 ? nb::none() : nb::object(nb::int_(failure->hold_up_to_ns)),
       failure->joint.empty() ? nb::none() : nb::object(nb::cast(failure->joint))});
}

/// A broken rule about bodies, with the constraint's name.
nb::object violation(const char* constraint, const char* operation, const std::string& asked, const std::string& reason,
                     const std::string& hint) {
  return error_class("ConstraintViolation")("constraint"_a = constraint, "operation"_a = operation, "asked"_a = asked,
                                            "reason"_a = reason, "existing"_a = nb::tuple(), "hint"_a = hint,
                                            "offer"_a = nb::none());
}

nb::object body_error(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame) {
  const auto frame = [&](FrameId id) { return "'" + frame_name(world, failure, id) + "'"; };
  switch (failure->kind) {
    case FailureKind::constant_in_body: {
      const std::string mover = failure->in_frame == kNone ? "one of its frames" : frame(failure->in_frame);
      return violation("C5", "set_pose", "place " + shown(of) + " in " + shown(in_frame),
                       "Both are on the body '" + failure->name + "', whose poses are constant and set once.",
                       "Move " + mover + ", which carries the body, or correct it with fix(..., recalibrate=True).");
    }
    case FailureKind::moves_in_body:
      return violation("C5", "add_body", "put " + frame(failure->of) + " and " + frame(failure->in_frame) + " on one body",
                       std::string(failure->about_twist ? "A twist" : "A pose that can move") + " joins them.",
                       "Leave one of them out of '" + failure->name + "', or fix() what never moves.");
    case FailureKind::on_other_body:
      return violation("C2", "add_body", "take '" + failure->name + "' in", "It is on the body '" + failure->other + "'.",
                       "A frame is on one body: leave it out, or give the new one another name.");
    default:
      return violation("C8b", "set_twist", "say how '" + failure->name + "' moves relative to " + shown(in_frame),
                       failure->other.empty()
                           ? "They are fixed to one another for always: one body, which does not move relative to itself."
                           : "Both are the body '" + failure->other + "', which does not move relative to itself.",
                       "Name another body in relative_to=, or fix(..., at=) what may move later.");
  }
}

nb::object loop_error(const StoreCore& world, const Failure& failure) {
  std::vector<FrameId> path{failure->of};
  path.insert(path.end(), failure->path.begin(), failure->path.end());
  return error_class("FrameLoop")(frame_names(world, failure, path), stamp_or_none(failure->requested));
}

nb::object plain_error(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame, bool inserting) {
  switch (failure->kind) {
    case FailureKind::unknown_frame: {
      const std::string name =
          failure->name.empty() && failure->of != kNone ? frame_name(world, failure, failure->of) : failure->name;
      return error_class("UnknownFrame")(name.empty() ? printed(of) : name, frame_labels(world, world.forest->frame_names()));
    }
    case FailureKind::not_connected:
      return not_connected(world, failure, of, in_frame);
    case FailureKind::before_history:
    case FailureKind::after_history:
    case FailureKind::single_sample:
    case FailureKind::no_samples:
    case FailureKind::not_received:
      return out_of_range(world, failure, inserting);
    case FailureKind::ambiguous_path:
      if (const VariablePtr joint = failure->joint.empty() ? nullptr : world.forest->find_variable(failure->joint))
        return error_class("ContestedJoint")(joint->name, world.forest->sources_of(*joint));
      return error_class("AmbiguousPath")(frame_name(world, failure, failure->of),
                                          failure->about_twist
                                              ? world.forest->rivals_of_twist(failure->relation)
                                              : source_labels(world, world.forest->sources_at(failure->of, failure->requested)),
                                          stamp_or_none(failure->requested), "motion"_a = failure->about_twist);
    case FailureKind::frame_loop:
      return loop_error(world, failure);
    case FailureKind::open_loop:
      return error_class("OpenLoop")(edge_tuple(world, failure->relation), stamp_or_none(failure->requested));
    case FailureKind::placed_by_node:
      return error_class("InvalidArgument")(
          "The scene says in the name of " + shown(nb::str(failure->name.c_str())) + " where its node " + shown(of) +
              " is, so that it cannot be fixed elsewhere for always. Move it with scene.set_transform(...), fix it from an "
              "instant on with at=, or give another source=.",
          of);
    case FailureKind::frame_in_use:
      return error_class("FrameInUse")(frame_name(world, failure, failure->of),
                                       frame_names(world, failure, std::span(failure->path).subspan(1)));
    case FailureKind::closed:
      return error_class("WorldClosed")();
    case FailureKind::limit_reached:
      return error_class("LimitReached")("pending waits", world.forest->options().max_waits,
                                         "Cancel some, or give World(max_waits=) a larger number.");
    case FailureKind::too_many_paths:
      return error_class("LimitReached")("paths from " + shown(of) + " to " + shown(in_frame), failure->limit,
                                         "Choose rivals with world.prefer(of=, source=), or give World(max_paths=) a larger "
                                         "number.");
    case FailureKind::unknown_covariance: {
      nb::list relations;
      for (const RelationId id : failure->relations) relations.append(edge_tuple(world, id));
      return error_class("UnknownCovariance")(of, in_frame, failure->limit, relations);
    }
    case FailureKind::unknown_source: {
      std::string sources;
      for (const std::string& name : source_labels(world, world.forest->sources_of(failure->of)))
        sources += (sources.empty() ? "'" : ", '") + name + "'";
      return error_class("InvalidArgument")("No source '" + failure->name + "' places frame '" +
                                                frame_name(world, failure, failure->of) +
                                                (sources.empty() ? "': nobody does yet." : "'; these do: " + sources + "."),
                                            failure->name);
    }
    case FailureKind::not_a_pose:
      return error_class("InvalidTransform")(
          "The transform is not finite, or its quaternion is no unit one. Check where it was computed; nothing was stored.");
    case FailureKind::not_a_twist:
      return error_class("InvalidArgument")(
          "linear and angular must be three finite numbers each, below 1e100. Nothing was stored.");
    case FailureKind::constant_in_body:
    case FailureKind::moves_in_body:
    case FailureKind::on_other_body:
    case FailureKind::relative_to_itself:
      return body_error(world, failure, of, in_frame);
    case FailureKind::other_variable:
      return error_class("InvalidArgument")("Joint '" + failure->joint + "': " + to_string(failure->kind) +
                                            ". Nothing was declared.");
    case FailureKind::part_of_rotation:
      return error_class("InvalidArgument")(
          failure->joint.empty() ? "These joints do not fit: a rotation is driven by the four of one unit quaternion, w x y z, "
                                   "and a pose by no joint that has a velocity alone."
                                 : "Joint '" + failure->joint + "' drives nothing: it is not declared.");
    default:
      return error_class("InvalidArgument")(to_string(failure->kind));
  }
}

/// The nodes by whose ids an error calls frames or sources, and that have a name.
nb::dict names_in(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame) {
  std::vector<NodeId> nodes;
  const auto add = [&](std::string_view text) {
    constexpr std::size_t kDigits = 36;
    if (text.size() < kDigits) return;
    if (const std::optional<NodeId> id = NodeId::parse(text.substr(0, text.find('/')))) nodes.push_back(*id);
  };
  for (const nb::handle name : {of, in_frame})
    if (PyUnicode_Check(name.ptr())) add(text_of(name));
  for (const FrameId id : {failure->of, failure->in_frame, failure->ended})
    if (id != kNone) add(frame_name(world, failure, id));
  for (const FrameId id : failure->path) add(frame_name(world, failure, id));
  if (const std::optional<RelationInfo> info = world.forest->relation(failure->relation))
    for (const std::string& name : {info->of, info->in_frame, info->source}) add(name);
  if (failure->kind == FailureKind::ambiguous_path && failure->of != kNone)
    for (const std::string& source : world.forest->sources_at(failure->of, failure->requested)) add(source);
  nb::dict names;
  if (!nodes.empty())
    for (const auto& [node, name] : names_of(*world.store->version(), nodes)) names[nb::str(node)] = name;
  return names;
}

/// What people call a frame that was asked for by the id of its node.
nb::object called(const StoreCore& world, nb::handle given) {
  return nb::isinstance<NodeId>(given) ? nb::object(nb::cast(frame_label(world, given))) : nb::borrow(given);
}

}  // namespace

nb::object error_of(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame, bool inserting) {
  const nb::object of_name = called(world, of), in_name = called(world, in_frame);
  nb::object error = plain_error(world, failure, of_name, in_name, inserting);
  constexpr std::size_t kPermanentNodes = 2;
  if (world.store->version()->alive.size() <= kPermanentNodes) return error;  // no scene
  if (const nb::dict names = names_in(world, failure, of_name, in_name); nb::len(names) > 0) error.attr("node_names") = names;
  return error;
}

void raise_failure(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame, bool inserting) {
  raise_object(error_of(world, failure, of, in_frame, inserting));
}

void raise_batch_failure(Self self, const Failure& failure, nb::handle of, nb::handle in_frame, bool inserting) {
  nb::object error = error_of(core(self), failure, of, in_frame, inserting);
  if (nb::hasattr(error, "row")) error = core(self).upcalls.with_row(error, failure->row);
  raise_object(error);
}

}  // namespace armillary::python
