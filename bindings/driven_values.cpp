#include "driven_values.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "convert.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

namespace {

std::string joint_name(nb::handle name) {
  const nb::object stored = stored_name(name);
  return std::string(text_of(stored));
}

nb::tuple parts_of(nb::handle value, std::size_t length) {
  if (!PyTuple_Check(value.ptr()) || (length > 0 && static_cast<std::size_t>(PyTuple_GET_SIZE(value.ptr())) != length))
    raise("InvalidArgument", "This does not say how joints drive a pose: its parts are others, got " + shown(value) + ".");
  return nb::borrow<nb::tuple>(value);
}

std::vector<std::string> names_from(nb::handle value) {
  std::vector<std::string> names;
  for (nb::handle name : parts_of(value, 0)) names.push_back(joint_name(name));
  return names;
}

nb::tuple names_tuple(const std::vector<std::string>& names) {
  nb::list list;
  for (const std::string& name : names) list.append(nb::str(name.data(), name.size()));
  return nb::tuple(list);
}

const Tape& tape_of(nb::handle value) {
  const Tape* tape = value_of<Tape>(value);
  if (tape == nullptr) raise("InvalidArgument", "A Tape is expected, got " + shown(value) + ".", value);
  return *tape;
}

double number_of(nb::handle value) {
  double number = 0.0;
  if (!nb::try_cast(value, number) || !std::isfinite(number))
    raise("InvalidArgument", "A joint needs finite numbers, got " + shown(value) + ".", value);
  return number;
}

Vector3 unit_axis(nb::handle axis) {
  const Doubles given(axis, "axes", {3});
  const Vector3 v{given.data()[0], given.data()[1], given.data()[2]};
  const double length = norm(v);
  if (!(length > 1e-9) || !std::isfinite(length))
    raise("InvalidArgument", "An axis of a joint needs a direction, got " + shown(axis) + ".", axis);
  // What has length one to rounding stays as it is: applied again elsewhere, it has the same bits.
  return std::abs(length - 1.0) < 1e-15 ? v : (1.0 / length) * v;
}

DrivenForm joint_from(const nb::tuple& parts) {
  const std::string kind = PyUnicode_Check(nb::handle(parts[1]).ptr()) ? std::string(text_of(parts[1])) : std::string();
  const std::optional<JointKind> known = joint_kind_named(kind);
  if (!known) raise("InvalidArgument", "No closed form moves like " + shown(parts[1]) + ".", parts[1]);
  JointMotion motion{.kind = *known,
                     .origin = as_transform(parts[2]),
                     .multiplier = number_of(parts[4]),
                     .offset = number_of(parts[5]),
                     .pitch = number_of(parts[6])};
  const nb::tuple axes = parts_of(parts[3], 0);
  if (nb::len(axes) > 0) motion.axis = unit_axis(axes[0]);
  if (nb::len(axes) > 1) motion.second_axis = unit_axis(axes[1]);
  if (variables_of(*known) > 1 && (motion.multiplier != 1.0 || motion.offset != 0.0))
    raise("InvalidArgument", "multiplier and offset are 1 and 0 for a joint of several variables.");
  DrivenForm form{.motion = motion, .positions = names_from(parts[7])};
  if (!form.is_whole())
    raise("InvalidArgument", "A " + kind + " joint is driven by " + std::to_string(variables_of(*known)) +
                                 " variables; a rotation by the four of one unit quaternion, w x y z.");
  return form;
}

DrivenForm tapes_from(const nb::tuple& parts, std::size_t first) {
  DrivenForm form{.value = tape_of(parts[first]),
                  .jacobian = tape_of(parts[first + 1]),
                  .positions = names_from(parts[first + 2]),
                  .velocities = names_from(parts[first + 3])};
  if (!form.is_whole())
    raise("InvalidArgument",
          "The value tape goes from the positions to 12 numbers, and the Jacobian tape to 6 for each of the velocities.");
  return form;
}

DrivenForm loop_from(const nb::tuple& parts) {
  const Tape &residual = tape_of(parts[1]), &slope = tape_of(parts[2]);
  DrivenForm form = tapes_from(parts, 3);
  if (!Loop::fits(residual, slope) || residual.inputs() != form.positions.size())
    raise("InvalidArgument", "The residual goes from the positions to at least as many numbers as there are dependents.");
  form.loop = Loop(residual, slope);
  return form;
}

nb::tuple joint_tuple(const DrivenForm& form) {
  const JointMotion& motion = *form.motion;
  const auto axis = [](const Vector3& v) { return nb::make_tuple(v.x, v.y, v.z); };
  return nb::make_tuple("joint", to_string(motion.kind), nb::cast(motion.origin),
                        nb::make_tuple(axis(motion.axis), axis(motion.second_axis)), motion.multiplier, motion.offset,
                        motion.pitch, names_tuple(form.positions));
}

}  // namespace

VariableKind variable_kind(nb::handle name) {
  const std::string_view text = PyUnicode_Check(name.ptr()) ? text_of(name) : std::string_view();
  for (const VariableKind kind :
       {VariableKind::linear, VariableKind::wrap, VariableKind::hold, VariableKind::unit_quaternion, VariableKind::velocity})
    if (text == log::name_of(kind)) return kind;
  raise("InvalidArgument",
        "A joint's kind is 'linear', 'wrap', 'hold', 'unit_quaternion' or 'velocity', got " + shown(name) + ".", name);
}

nb::object form_tuple(const DrivenForm* form) {
  if (form == nullptr) return nb::none();
  if (form->motion) return joint_tuple(*form);
  const nb::tuple positions = names_tuple(form->positions), velocities = names_tuple(form->velocities);
  if (!form->loop) return nb::make_tuple("tapes", nb::cast(*form->value), nb::cast(*form->jacobian), positions, velocities);
  return nb::make_tuple("loop", nb::cast(form->loop->residual()), nb::cast(form->loop->slope()), nb::cast(*form->value),
                        nb::cast(*form->jacobian), positions, velocities);
}

std::shared_ptr<const DrivenForm> form_from(nb::handle value) {
  const nb::tuple parts = parts_of(value, 0);
  const bool is_named = nb::len(parts) > 0 && PyUnicode_Check(nb::handle(parts[0]).ptr());
  const std::string_view kind = is_named ? text_of(parts[0]) : std::string_view();
  if (kind == "joint") return std::make_shared<const DrivenForm>(joint_from(parts_of(value, 8)));
  if (kind == "tapes") return std::make_shared<const DrivenForm>(tapes_from(parts_of(value, 5), 1));
  if (kind == "loop") return std::make_shared<const DrivenForm>(loop_from(parts_of(value, 7)));
  raise("InvalidArgument", "Joints drive a pose by a joint, by tapes or by a loop, got " + shown(value) + ".", value);
}

}  // namespace armillary::python
