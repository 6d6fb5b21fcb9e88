#pragma once

// The answers of a world as Python values: Pose and Twist, with their names.

#include <nanobind/nanobind.h>

#include "armillary/graph/forest.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// The answer to a question about a pose, with its names.
///
/// The names that are not set take their value from `of` and `in_frame`: a plain pose is of the origin of `of`,
/// from the origin of `in_frame`, in the axes of `in_frame`. Where they are set, the translation is that of `point`
/// from `reference_point` along `expressed_in`.
struct Pose {
  PoseAnswer answer;
  nb::object of, in_frame;
  nb::object point, reference_point, expressed_in, body, reference_body;
  nb::object catalog;                    // relation id -> (of, in_frame, source), as it was; null for a pose made by hand
  nb::object coordinates;                // in place of the transform, as they were given; null: the transform is all
  nb::object held;                       // in place of that of the answer, as it was given: a tuple that is not empty; else null
  std::shared_ptr<Judgement> judgement;  // of a policy; null where nobody contested anything
  nb::object lost;                       // the errors of paths without an answer: a list; null where there is none

  [[nodiscard]] bool is_frame_form() const;
};

/// The answer to a question about a motion, with its names.
struct Twist {
  TwistAnswer answer;
  nb::object point, body, reference_body, expressed_in;
  nb::object catalog;
  nb::object coordinates;  // in place of linear and angular, as they were given; null: those are all
  nb::object held;         // in place of that of the answer, as it was given: a tuple that is not empty; else null
};

/// The classes that answers are made of: these ones, or subclasses that add to them.
struct AnswerTypes {
  nb::object pose, twist;
  nb::object policy_pose{};  ///< null until a policy has answered
};
[[nodiscard]] AnswerTypes& answer_types();

/// A Python object of `type`, which is that of what `make` returns or a subclass of it; made in its place.
template <typename Make>
[[nodiscard]] nb::object new_value(nb::handle type, Make make) {
  using Value = decltype(make());
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<Value>(made)) Value(make());
  nb::inst_mark_ready(made);
  return made;
}

template <typename Make>
[[nodiscard]] nb::object new_pose(Make make) {
  return new_value(answer_types().pose, make);
}
template <typename Make>
[[nodiscard]] nb::object new_twist(Make make) {
  return new_value(answer_types().twist, make);
}

/// A str, and no subclass of it.
[[nodiscard]] nb::object plain_text(nb::handle text);
[[nodiscard]] nb::object checked_name(nb::handle value, const char* name);
/// Null for None.
[[nodiscard]] nb::object optional_name(nb::handle value, const char* name);
[[nodiscard]] inline nb::object either(const nb::object& given, const nb::object& otherwise) {
  return given.is_valid() ? given : otherwise;
}
[[nodiscard]] bool same_name(const nb::object& a, const nb::object& b);

/// The (6, 6) array of an answer, or None.
template <typename Answer>
[[nodiscard]] nb::object covariance_array(const Answer& answer);

/// From None or (6, 6).
template <typename Answer>
void set_covariance(Answer& answer, nb::handle covariance);

template <typename Answer>
[[nodiscard]] bool same_covariance(const Answer& a, const Answer& b) {
  const bool known = a.certainty == Certainty::known;
  return a.certainty == b.certainty && (!known || a.covariance->values == b.covariance->values);
}

/// What was held, as a tuple of armillary.transforms.HeldSample; joints alone have no catalog.
[[nodiscard]] nb::tuple held_tuple(const HeldSamples* held, const nb::object& catalog);
template <typename Value>
[[nodiscard]] nb::tuple held_tuple(const Value& value) {
  return value.held.is_valid() ? nb::borrow<nb::tuple>(value.held) : held_tuple(value.answer.held.get(), value.catalog);
}
template <typename Value>
[[nodiscard]] bool is_held(const Value& value) {
  return value.held.is_valid() || value.answer.held != nullptr;
}
/// What was given as held: null where that is nothing, else the tuple.
[[nodiscard]] nb::object checked_held(nb::handle given);
/// For people: which relation was held, and for how long.
[[nodiscard]] std::string held_text(const nb::tuple& held);

/// The names of the relations an answer was computed from.
[[nodiscard]] nb::object edge_in(const nb::object& catalog, RelationId id);
[[nodiscard]] nb::tuple relation_names(const RelationList& relations, const nb::object& catalog);
/// The other way round: a catalog of its own.
[[nodiscard]] nb::object own_catalog(nb::handle names, RelationList& relations);

}  // namespace armillary::python
