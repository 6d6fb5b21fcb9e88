// Joints: their samples, and the poses they drive.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "convert.hpp"
#include "driven_values.hpp"
#include "gil.hpp"
#include "joint_channels.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();

nb::list variables(Self self) {
  nb::list rows;
  for (const auto& [name, kind] : core(self).forest->variables()) rows.append(nb::make_tuple(name, log::name_of(kind)));
  return rows;
}

double number_of(nb::handle value, nb::handle name) {
  if (PyFloat_CheckExact(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
  const double number = PyBool_Check(value.ptr()) ? -1.0 : PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && (PyBool_Check(value.ptr()) || PyErr_Occurred() != nullptr)) {
    PyErr_Clear();
    raise("InvalidArgument", "Joint " + shown(name) + " needs a number, got " + shown(value) + ". Nothing was stored.", value);
  }
  return number;
}

nb::object as_dict(nb::handle mapping, const char* name) {
  if (PyDict_CheckExact(mapping.ptr())) return nb::borrow(mapping);
  nb::object copied = nb::steal(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyDict_Type), mapping.ptr()));
  if (copied.is_valid()) return copied;
  PyErr_Clear();
  raise("InvalidArgument", std::string(name) + " must map names of joints to numbers, got " + shown(mapping) + ".", mapping);
}

/// What a dict holds, in its order. The dict may change while numbers are read: it is read first.
struct Items {
  std::vector<nb::handle> names;
  std::vector<nb::object> values;
};

Items items_of(nb::handle dict) {
  Items items;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(dict.ptr(), &place, &key, &value) != 0;) {
    items.names.push_back(key);
    items.values.push_back(nb::borrow(value));
  }
  return items;
}

/// Samples of joints at one instant: numbers for the columns of a channel, and velocities beside positions.
struct Saying {
  Items numbers;
  Items velocities;
  std::size_t positions = 0;  // among the numbers: first come these, then velocities of what has no position
};

/// A wheel has a velocity and no position: that is its number.
Saying saying_of(Self self, const nb::object& joints, const nb::object& velocities) {
  Saying saying{items_of(joints)};
  saying.positions = saying.numbers.names.size();
  if (velocities.is_none()) return saying;
  const Items given = items_of(velocities);
  for (std::size_t i = 0; i < given.names.size(); ++i) {
    const bool is_beside = i < saying.positions && saying.numbers.names[i].is(given.names[i]);
    const bool is_alone = !is_beside && joint_of(self, given.names[i])->kind == VariableKind::velocity;
    Items& items = is_alone ? saying.numbers : saying.velocities;
    items.names.push_back(given.names[i]);
    items.values.push_back(given.values[i]);
  }
  return saying;
}

void put_velocities(const JointChannel& channel, const Items& given, double* out) {
  std::fill_n(out, channel.width(), kNotGiven);
  for (std::size_t i = 0; i < given.names.size(); ++i) {
    const std::optional<std::uint32_t> column = channel.column_of(i, given.names[i]);
    if (!column)
      raise("InvalidArgument", "A velocity is given for joint " + shown(given.names[i]) +
                                   ", and no position. Give both together; nothing was stored.");
    out[*column] = number_of(given.values[i], given.names[i]);
  }
}

/// The upper triangle, in the order of the columns; velocities, where they are covered, behind all positions.
void put_covariance(const JointChannel& channel, const double* given, double* out) {
  const std::size_t k = channel.width(), n = channel.name.covered(static_cast<std::uint32_t>(k));
  const auto place = [&](std::size_t i) { return i < k ? channel.columns[i] : k + channel.columns[i - k]; };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t row = place(i), column = place(j);
      if (row <= column) out[row * (2 * n - row + 1) / 2 + column - row] = given[i * n + j];
    }
}

/// Checked, and of positions, or of positions and velocities.
nb::object checked_covariance(Self self, const nb::object& given, std::size_t k, RowForm& form) {
  if (given.is_none()) return given;
  nb::object checked = core(self).upcalls.as_joint_covariance(given, k, form.has_velocities);
  form.has_covariance = true;
  form.has_velocity_covariance = nb::len(checked) > k;
  return checked;
}

void say_joints(Self self, const nb::object& positions, nb::handle at, nb::handle velocities, nb::handle source, nb::object sure,
                bool is_computed) {
  const Stamp stamp{as_stamp(at, "at")};
  const nb::object speeds = velocities.is_none() ? nb::object(nb::none()) : as_dict(velocities, "velocities");
  const Saying saying = saying_of(self, positions, speeds);
  const Items& given = saying.numbers;
  RowForm form{.has_velocities = !saying.velocities.names.empty(), .is_computed = is_computed};
  if (given.names.empty() && !form.has_velocities) return;
  sure = checked_covariance(self, sure, given.names.size(), form);
  const auto channel = joint_channel(self, given.names, saying.positions, source_of(self, source), form);
  std::vector<double> row(channel->name.row_width());
  for (std::size_t i = 0; i < given.values.size(); ++i) row[channel->columns[i]] = number_of(given.values[i], given.names[i]);
  if (form.has_velocities) put_velocities(*channel, saying.velocities, row.data() + channel->width());
  if (form.has_covariance) {
    const auto side = static_cast<Py_ssize_t>(nb::len(sure));
    put_covariance(*channel, Doubles(sure, "covariance", {side, side}).data(),
                   row.data() + (form.has_velocities ? 2 : 1) * channel->width());
  }
  if (const Failure failure = core(self).forest->set_joints(channel->id, {&stamp.ns, 1}, row.data()))
    raise_joint_failure(self, failure, false);
  resolve_pending(self);
  if (given.names.size() > saying.positions) core(self).upcalls.wheels_turned(self, at, source);
}

/// Whether a name is that of a joint which follows another one.
bool is_follower(const StoreCore& world, nb::handle name) {
  if (world.followers.empty() || !PyUnicode_Check(name.ptr())) return false;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
  if (text == nullptr) PyErr_Clear();
  return text != nullptr && world.followers.contains(std::string(text, static_cast<std::size_t>(size)));
}

bool names_follower(const StoreCore& world, nb::handle dict) {
  if (world.followers.empty()) return false;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(dict.ptr(), &place, &key, &value) != 0;)
    if (is_follower(world, key)) return true;
  return false;
}

bool is_text(nb::handle value, const char* text) {
  return PyUnicode_Check(value.ptr()) && PyUnicode_CompareWithASCIIString(value.ptr(), text) == 0;
}

void set_joints(Self self, nb::handle joints, nb::handle given_at, nb::handle given_velocities, nb::handle source,
                nb::handle covariance, nb::handle unknown, nb::handle limits) {
  const nb::object at = stamp_object(given_at, "at");
  check_ahead(self, as_stamp(at, "at"));
  nb::object positions = as_dict(joints, "joints"), velocities = nb::borrow(given_velocities);
  nb::object sure = nb::borrow(covariance);
  if (!velocities.is_none()) velocities = as_dict(velocities, "velocities");
  if (!is_text(unknown, "raise") || !is_text(limits, "ignore") || names_follower(core(self), positions) ||
      (!velocities.is_none() && names_follower(core(self), velocities)))
    std::tie(positions, velocities, sure) = nb::cast<std::tuple<nb::object, nb::object, nb::object>>(
        core(self).upcalls.admit_joints(self, positions, at, velocities, sure, unknown, limits));
  if (core(self).has_loops)
    std::tie(positions, sure) =
        nb::cast<std::pair<nb::object, nb::object>>(core(self).upcalls.complete_joints(self, positions, at, sure));
  say_joints(self, positions, at, velocities, source, std::move(sure), false);
  if (core(self).has_loops) core(self).upcalls.joints_came(self, at, at, 1, source);
}

/// Where joints are by what was integrated from speeds: the answers say so.
void set_integrated_joints(Self self, nb::handle joints, nb::handle at, nb::handle source) {
  say_joints(self, as_dict(joints, "joints"), at, nb::none(), source, nb::none(), true);
}

/// Samples that were stored before, however far ahead they are: nothing is derived from them.
void restore_joints(Self self, nb::handle joints, nb::handle at, nb::handle velocities, nb::handle source, bool is_integrated) {
  say_joints(self, as_dict(joints, "joints"), at, velocities, source, nb::none(), is_integrated);
}

void put_columns(const JointChannel& channel, const Doubles& values, std::size_t offset, std::vector<double>& rows) {
  const std::size_t k = channel.width(), width = channel.name.row_width();
  for (std::size_t row = 0; row < values.rows(); ++row)
    for (std::size_t i = 0; i < k; ++i) rows[row * width + offset + channel.columns[i]] = values.data()[row * k + i];
}

void set_joint_series(Self self, std::vector<nb::object> names, nb::object positions, nb::handle at, nb::object velocities,
                      nb::handle source, nb::object covariance, nb::handle unknown, nb::handle limits) {
  const Stamps stamps(at, "at");
  if (!is_text(unknown, "raise") || !is_text(limits, "ignore") ||
      std::ranges::any_of(names, [&](const nb::object& name) { return is_follower(core(self), name); }))
    std::tie(names, positions, velocities, covariance) =
        nb::cast<std::tuple<std::vector<nb::object>, nb::object, nb::object, nb::object>>(
            core(self).upcalls.admit_joint_series(self, names, positions, velocities, covariance, unknown, limits));
  const std::size_t given_names = names.size();
  if (core(self).has_loops && !stamps.span().empty())
    std::tie(names, positions, velocities) = nb::cast<std::tuple<std::vector<nb::object>, nb::object, nb::object>>(
        core(self).upcalls.complete_joint_series(self, names, positions, stamps.array(), velocities));
  const auto count = static_cast<Py_ssize_t>(stamps.span().size()), k = static_cast<Py_ssize_t>(names.size());
  const Doubles given(positions, "positions", {count, k});
  std::optional<Doubles> speeds;
  if (!velocities.is_none()) speeds.emplace(velocities, "velocities", std::initializer_list<Py_ssize_t>{count, k});
  if (count == 0 || k == 0) return;
  const auto newest = std::ranges::max_element(stamps.span());
  check_ahead(self, *newest, newest - stamps.span().begin());
  const nb::object who = source_of(self, source);
  RowForm form{.has_velocities = speeds.has_value(), .has_covariance = !covariance.is_none()};
  nb::object sure;
  std::optional<Doubles> spreads;
  if (form.has_covariance) {
    sure =
        core(self).upcalls.as_joint_covariances(covariance, count, given_names, form.has_velocities, names.size() - given_names);
    const auto side = nb::cast<Py_ssize_t>(sure.attr("shape")[nb::int_(-1)]);
    spreads.emplace(sure, "covariance", std::initializer_list<Py_ssize_t>{-1, side, side});
    form.has_velocity_covariance = side > k;
  }
  const auto channel = joint_channel(self, {names.begin(), names.end()}, names.size(), who, form);
  const std::size_t width = channel->name.row_width();
  std::vector<double> rows(stamps.span().size() * width);
  put_columns(*channel, given, 0, rows);
  if (speeds) put_columns(*channel, *speeds, channel->width(), rows);
  if (spreads) {
    const std::size_t n = form.covered(static_cast<std::uint32_t>(k)), each = spreads->rows() == 1 ? 0 : n * n;
    const std::size_t offset = (speeds ? 2 : 1) * channel->width();
    for (std::size_t row = 0; row < stamps.span().size(); ++row)
      put_covariance(*channel, spreads->data() + each * row, rows.data() + row * width + offset);
  }
  const Failure failure = without_gil([&] { return core(self).forest->set_joints(channel->id, stamps.span(), rows.data()); });
  if (failure) raise_joint_failure(self, failure, true);
  resolve_pending(self);
  if (core(self).has_loops) core(self).upcalls.joints_came(self, std::ranges::min(stamps.span()), *newest, count, source);
  warn_of_dropped(self, stamps.span(), core(self).forest->retention_of(kNone), "joint " + shown(names.front()));
}

nb::tuple joint(Self self, nb::handle name, nb::handle at, nb::handle outside, nb::handle hold_up_to_s) {
  const StoreCore& world = core(self);
  const VariablePtr variable = joint_of(self, name);
  const QueryContext context = as_context(world, outside, words().unique, nb::none(), hold_up_to_s);
  Result<JointAnswer> result =
      received(world, [&, when = as_when(at, "at")] { return world.forest->joint(*variable, when, context); });
  if (!result) raise_failure(world, result.failure, nb::none(), nb::none());
  const JointAnswer& answer = result.value;
  const bool has_position = variable->kind != VariableKind::velocity;
  return nb::make_tuple(has_position ? nb::object(nb::float_(answer.position)) : nb::none(),
                        answer.has_velocity ? nb::object(nb::float_(answer.velocity)) : nb::none(), answer.stamp.ns,
                        held_tuple(answer.held.get(), {}), answer.predicted, answer.integrated);
}

nb::tuple joints(Self self, const std::vector<nb::object>& names, nb::handle at, nb::handle outside, nb::handle hold_up_to_s) {
  const StoreCore& world = core(self);
  if (names.empty()) raise("InvalidArgument", "names is empty.", nb::none());
  std::vector<VariablePtr> variables;
  std::vector<const Variable*> read;
  for (const nb::object& name : names) read.push_back(variables.emplace_back(joint_of(self, name)).get());
  const QueryContext context = as_context(world, outside, words().unique, nb::none(), hold_up_to_s);
  Result<JointsAnswer> result = world.forest->joints(read, as_when(at, "at"), context);
  if (!result) raise_failure(world, result.failure, nb::none(), nb::none());
  const JointsAnswer& answer = result.value;
  const std::size_t n = names.size();
  const bool is_known = !answer.covariance.empty();
  return nb::make_tuple(read_only_array(answer.positions.data(), {n}),
                        is_known ? nb::object(read_only_array(answer.covariance.data(), {n, n})) : nb::object(nb::none()),
                        answer.stamp.ns, held_tuple(answer.held.get(), {}), answer.predicted);
}

nb::object stamp_array(const std::vector<std::int64_t>& values) {
  auto* memory = new std::int64_t[values.size() + 1];
  std::ranges::copy(values, memory);
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const std::int64_t>(memory, {values.size()}, owner));
}

nb::tuple joint_samples(Self self, nb::handle name, nb::handle start, nb::handle end, nb::handle source) {
  const Stamp from = start.is_none() ? Stamp::always() : Stamp{as_stamp(start, "start")};
  const Stamp to = end.is_none() ? Stamp::never() : Stamp{as_stamp(end, "end")};
  const VariableTable table = core(self).forest->joint_samples(*joint_of(self, name), text_of(source), from, to);
  const std::size_t count = table.stamps.size();
  return nb::make_tuple(stamp_array(table.stamps), read_only_array(table.positions.data(), {count}),
                        read_only_array(table.velocities.data(), {count}));
}

nb::object when_of(Stamp at) { return at == Stamp::always() || at == Stamp::never() ? nb::none() : nb::object(nb::int_(at.ns)); }

nb::list joint_preferences(Self self) {
  nb::list found;
  for (const auto& [name, step] : core(self).store->joint_preferences())
    found.append(nb::make_tuple(name, step.source, when_of(step.when.from), when_of(step.when.to)));
  return found;
}

nb::list driven_poses(Self self) {
  nb::list found;
  for (const DrivenInfo& info : core(self).forest->driven_poses())
    found.append(nb::make_tuple(core(self).store->frame_label(info.of), core(self).store->frame_label(info.in_frame), info.source,
                                stamp_or_none(info.from)));
  return found;
}

}  // namespace

void bind_world_variables(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face) {
  const auto define = [&](auto& world) {
    world
        .def(
            "set_joints", &set_joints, "joints"_a, nb::kw_only(), "at"_a, "velocities"_a = nb::none(), "source"_a = nb::none(),
            "covariance"_a = nb::none(), "unknown"_a = "raise", "limits"_a = "ignore",
            nb::sig(
                "def set_joints(self, joints: Mapping[str, float], *, at: int, velocities: Mapping[str, float] | None = None, "
                "source: str | None = None, covariance: ArrayLike | None = None, unknown: Literal['raise', 'skip'] = 'raise', "
                "limits: Literal['ignore', 'warn', 'raise'] = 'ignore') -> None"),
            "Say where joints are at one instant: all of them, or none.\n\n"
            "The poses that they drive are known with them, at every instant between two samples.\n\n"
            "A joint that follows another one (mimic) may be given as well: it must be where that one puts it, to 1 mm or\n"
            "0.01 rad. Given alone, it says where the other one is.\n\n"
            "Args:\n"
            "    joints: Names and positions [rad] or [m].\n"
            "    at: Instant [ns].\n"
            "    velocities: Names and velocities, of some or all of them; used for twists, not between positions.\n"
            "    source: Who asserts it; the world's own name if not given.\n"
            "    covariance: Variances of the positions, (k,), or (k, k), in the order of `joints`; unknown if not given. Where\n"
            "        velocities are given: of positions, then velocities, (2k,) or (2k, 2k).\n"
            "    unknown: What happens to names that no joint has: \"raise\", or \"skip\" them, with one warning for each name.\n"
            "    limits: What happens where a position is outside the limits of its joint: \"ignore\", \"warn\" or \"raise\".\n\n"
            "Raises:\n"
            "    UnknownVariable: A name that no joint has.\n"
            "    JointsDisagree: A joint is not where the one that it follows puts it.\n"
            "    JointLimitsExceeded: A position is outside its limits, and `limits` is \"raise\".\n"
            "    BeforeHistory: The sample is older than the history.")
        .def("set_joint_series", &set_joint_series, "names"_a, nb::kw_only(), "positions"_a, "at"_a, "velocities"_a = nb::none(),
             "source"_a = nb::none(), "covariance"_a = nb::none(), "unknown"_a = "raise", "limits"_a = "ignore",
             nb::sig("def set_joint_series(self, names: Sequence[str], *, positions: ArrayLike, at: ArrayLike, velocities: "
                     "ArrayLike | None = None, source: str | None = None, covariance: ArrayLike | None = None, "
                     "unknown: Literal['raise', 'skip'] = 'raise', limits: Literal['ignore', 'warn', 'raise'] = 'ignore') "
                     "-> None"),
             "Say where joints are at many instants: all of them are stored, or none.\n\n"
             "Args:\n"
             "    names: The joints, k of them.\n"
             "    positions: (N, k).\n"
             "    at: (N,) int64 [ns], in any order.\n"
             "    velocities: (N, k); NaN: not given.\n"
             "    source: Who asserts it; the world's own name if not given.\n"
             "    covariance: Of each instant alike: variances of the positions, (k,), or (k, k), in the order of `names`; or "
             "one\n"
             "        for each, (N, k, k); unknown if not given. Where velocities are given: of positions, then velocities,\n"
             "        (2k,), (2k, 2k) or (N, 2k, 2k).\n"
             "    unknown: What happens to names that no joint has, as for `set_joints`.\n"
             "    limits: What happens where a position is outside the limits of its joint, as for `set_joints`.");
  };
  define(store);
  define(face);
  store
      .def("set_integrated_joints", &set_integrated_joints, "joints"_a, "at"_a, "source"_a.none(),
           nb::sig("def set_integrated_joints(self, joints: Mapping[str, float], at: int, source: str | None) -> None"))
      .def("restore_joints", &restore_joints, "joints"_a, "at"_a, "velocities"_a, "source"_a, "is_integrated"_a,
           nb::sig("def restore_joints(self, joints: Mapping[str, float], at: int, velocities: Mapping[str, float], "
                   "source: str, is_integrated: bool) -> None"),
           "Store samples of joints as they were stored before, however far ahead of the clock.")
      .def(
          "leading_joint", [](Self self, nb::handle name) { return joint_of(self, name)->lead->name; }, "name"_a,
          nb::sig("def leading_joint(self, name: str) -> str"), "The first of the four parts of a rotation; else the joint.")
      .def("joint_preferences", &joint_preferences,
           nb::sig("def joint_preferences(self) -> list[tuple[str, str, int | None, int | None]]"),
           "Which source is preferred for which joint, from when until when; None: always.")
      .def("variables", &variables, nb::sig("def variables(self) -> list[tuple[str, str]]"))
      .def("joint_row", &joint, "name"_a, "at"_a, "outside"_a, "hold_up_to_s"_a = nb::none(),
           nb::sig("def joint_row(self, name: str, at: int | Latest, outside: str, hold_up_to_s: float | None = None) -> "
                   "tuple[float | None, float | None, int, tuple[HeldSample, ...], bool, bool]"))
      .def("joints_row", &joints, "names"_a, "at"_a, "outside"_a, "hold_up_to_s"_a = nb::none(),
           nb::sig("def joints_row(self, names: list[str], at: int | Latest, outside: str, hold_up_to_s: float | None = None) "
                   "-> tuple[NDArray[float64], NDArray[float64] | None, int, tuple[HeldSample, ...], bool]"),
           "Positions of several joints at one instant, with their covariance.")
      .def("joint_rows", &joint_samples, "name"_a, "start"_a.none(), "end"_a.none(), "source"_a,
           nb::sig("def joint_rows(self, name: str, start: int | None, end: int | None, source: str) -> "
                   "tuple[NDArray[int64], NDArray[float64], NDArray[float64]]"))
      .def(
          "joint_sources", [](Self self, nb::handle name) { return core(self).forest->sources_of(*joint_of(self, name)); },
          "name"_a, nb::sig("def joint_sources(self, name: str) -> list[str]"))
      .def_prop_rw(
          "has_dependent_joints", [](Self self) { return core(self).has_loops; },
          [](Self self, bool has_loops) { core(self).has_loops = has_loops; })
      .def(
          "set_followers",
          [](Self self, const std::vector<std::string>& names) {
            core(self).followers = std::unordered_set<std::string>(names.begin(), names.end());
          },
          "names"_a, nb::sig("def set_followers(self, names: Sequence[str]) -> None"),
          "Set the names of joints that follow others by a factor, and are no variables.")
      .def("driven_poses", &driven_poses, nb::sig("def driven_poses(self) -> list[tuple[str, str, str, int | None]]"));
}

}  // namespace armillary::python
