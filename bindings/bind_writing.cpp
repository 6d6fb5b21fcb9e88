// Poses on their way in.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "armillary/series/pose_row.hpp"
#include "convert.hpp"
#include "frame_changes.hpp"
#include "gil.hpp"
#include "message_fields.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

void check_ahead(Self self, std::int64_t stamp_ns, std::ptrdiff_t row) {
  const StoreCore& world = core(self);
  if (world.max_ahead_ns < 0) return;
  const auto now = nb::cast<std::int64_t>(now_of(self));
  if (stamp_ns - now <= world.max_ahead_ns) return;
  char text[200];
  std::snprintf(text, sizeof text,
                "The stamp is %.6g s ahead of the world's clock, and max_ahead_s is %.6g. Check the sender's clock.",
                1e-9 * static_cast<double>(stamp_ns - now), 1e-9 * static_cast<double>(world.max_ahead_ns));
  raise("InvalidStamp", row < 0 ? std::string(text) : std::string(text) + (" (row " + std::to_string(row) + " of the batch)"),
        nb::int_(stamp_ns));
}

void warn_of_dropped(Self self, std::span<const std::int64_t> stamps_ns, const Retention& kept, const std::string& what) {
  if (stamps_ns.empty()) return;
  const Stamp oldest = earlier({std::ranges::max(stamps_ns)}, kept.history);
  auto dropped = static_cast<std::size_t>(std::ranges::count_if(stamps_ns, [&](std::int64_t ns) { return Stamp{ns} < oldest; }));
  if (kept.max_samples > 0 && stamps_ns.size() > kept.max_samples)
    dropped = std::max(dropped, stamps_ns.size() - kept.max_samples);
  if (dropped > 0) core(self).upcalls.warn_of_dropped(self, what, dropped, stamps_ns.size());
}

EdgeName Edge::name() const { return {text_of(of), text_of(in_frame), text_of(source)}; }

scene::RelationName Edge::relation() const {
  return {std::string(text_of(of)), std::string(text_of(in_frame)), std::string(text_of(source))};
}

namespace {

/// The limit of sources of one frame, and rules of bodies that a new relation may break, from its first instant on.
void check_one_path(Self self, const nb::object& of, const nb::object& in_frame, const nb::object& source, Stamp from) {
  const Forest& forest = *core(self).forest;
  const FrameId of_id = forest.find_frame(text_of(of));
  if (of_id != kNone && !forest.has_room_for(of_id, text_of(source)))
    raise_object(error_class("LimitReached")(
        "sources that place '" + core(self).store->frame_label(std::string(text_of(of))) + "'", forest.options().max_sources,
        "Remove those that are over with world.remove_relation(...), or give World(max_sources=) a larger number."));
  if (!forest.has_bodies()) return;
  const FrameId in_id = forest.find_frame(text_of(in_frame));
  const bool is_new = of_id == kNone || in_id == kNone || forest.find_relation(of_id, in_id, text_of(source)) == kNone;
  if (is_new) core(self).upcalls.check_new_pose(self, of, in_frame, source, stamp_or_none(from));
}

}  // namespace

Edge admitted_edge(Self self, nb::handle of, nb::handle in_frame, nb::handle source, Stamp from) {
  check_own_frame(self, of);
  Edge edge{nb::object(), nb::object(), source_of(self, source)};
  edge.of = admitted(self, of);
  edge.in_frame = admitted(self, in_frame);
  if (edge.of.equal(edge.in_frame))
    raise("InvalidArgument", "Frame " + shown(of) + " cannot be placed in itself. Name two different frames.", of);
  check_one_path(self, edge.of, edge.in_frame, edge.source, from);
  return edge;
}

void finish(Self self, const Edge& edge, const Failure& failure) {
  StoreCore& world = core(self);
  if (failure)
    raise_failure(world, failure, nb::cast(frame_label(world, edge.of)), nb::cast(frame_label(world, edge.in_frame)), true);
  for (const nb::object& name : {edge.of, edge.in_frame})
    if (known_id(world, name) == nullptr) remember(world, name);
  sync_catalog(world);
  resolve_pending(self);
}

namespace {

PlaceSample sample_of(const Edge& edge, Stamp at, const Transform& transform, const std::optional<Covariance>& covariance) {
  const scene::RelationName relation = edge.relation();
  PlaceSample sample{.of = relation.of, .in_frame = relation.in_frame, .source = relation.source, .at = at};
  sample.in_frame_T_of = transform, sample.covariance = covariance;
  return sample;
}

/// Names may be new, the relation may be new.
void set_pose_by_name(Self self, nb::handle of, nb::handle in_frame, const Transform& transform, Stamp at, nb::handle source,
                      const std::optional<Covariance>& covariance) {
  const Edge edge = admitted_edge(self, of, in_frame, source, at);
  const auto write = [&] { return core(self).forest->set_pose(edge.name(), at, transform, covariance ? &*covariance : nullptr); };
  finish(self, edge, add_samples(self, edge.relation(), at, write, [&] { return sample_of(edge, at, transform, covariance); }));
}

/// Poses come in any coordinates that numbers can be read from, and are stored as a transform.
Transform given_transform(Self self, nb::handle value) {
  const bool may_be_array = Py_TYPE(value.ptr())->tp_as_buffer != nullptr || value_of<Transform>(value) != nullptr;
  if (!may_be_array)  // asking for an array costs more than reading a message
    if (const std::optional<Transform> read = transform_in_message(value)) return *read;
  if (const std::optional<Transform> known = transform_in(value)) return *known;
  return as_transform(nb::object(core(self).upcalls.as_transform(value)));
}

void add_relation(Self self, nb::handle of, nb::handle in_frame, nb::handle source, nb::handle at, nb::handle interpolation) {
  const Stamp since{as_stamp(at, "at")};
  const SampleInterpolation chosen = as_sample_interpolation(interpolation);
  const Edge edge = admitted_edge(self, of, in_frame, source, since);
  finish(self, edge, choose_interpolation(self, edge.relation(), since, chosen, true));
}

void set_pose(Self self, nb::handle of, nb::handle in_frame, nb::handle transform, nb::handle at, nb::handle source,
              nb::handle covariance, nb::handle interpolation) {
  StoreCore& world = core(self);
  const Transform value = given_transform(self, transform);
  if (at.is_none())
    raise("InvalidStamp",
          "set_pose needs the instant of the pose, at=: an integer of nanoseconds, such as seconds(1.5) or world.now(). What "
          "never moves is given once and for always with fix().",
          at);
  const Stamp stamp{as_stamp(at, "at")};
  check_ahead(self, stamp.ns);
  std::optional<Covariance> given;
  if (!covariance.is_none()) given = as_covariance(covariance, "covariance");
  const Covariance* uncertainty = given ? &*given : nullptr;
  if (!interpolation.is_none()) {
    const SampleInterpolation chosen = as_sample_interpolation(interpolation);
    const Edge edge = admitted_edge(self, of, in_frame, source, stamp);
    if (!has_interpolation(self, edge.relation(), chosen))
      return finish(self, edge, add_interpolated(self, edge.relation(), chosen, stamp, sample_of(edge, stamp, value, given)));
  }
  check_own_frame(self, of);
  PyObject *of_id = known_id(world, of), *in_id = known_id(world, in_frame);
  if (of_id != nullptr && in_id != nullptr) {
    const SourceId who = world.forest->find_source(text_of(source_of(self, source)));
    const std::optional<Failure> outcome =
        world.forest->try_insert(static_cast<FrameId>(PyLong_AsUnsignedLong(of_id)),
                                 static_cast<FrameId>(PyLong_AsUnsignedLong(in_id)), who, stamp, value, uncertainty);
    if (outcome && *outcome) raise_failure(world, *outcome, of, in_frame, true);
    if (outcome) {
      note_moves(self);
      return resolve_pending(self);
    }
  }
  set_pose_by_name(self, of, in_frame, value, stamp, source, given);
}

constexpr std::size_t kManyRows = 1000;  // so long others should not wait for the GIL

/// `count` xyz_wxyz rows as the core stores them: quaternion first, unit. The number of the first bad row, or `count`.
std::size_t read_rows(const double* from, std::size_t count, std::vector<double>& rows) {
  rows.resize(count * kPoseWidth);
  for (std::size_t i = 0; i < count; ++i, from += 7) {
    const Rotation q{from[3], from[4], from[5], from[6]};
    const double n2 = q.squared_norm();
    if (!std::isfinite(from[0] + from[1] + from[2]) || !(std::abs(n2 - 1.0) <= 0.01)) return i;
    const Rotation unit = n2 == 1.0 ? q : q.normalized();
    double* to = rows.data() + kPoseWidth * i;
    to[0] = unit.w, to[1] = unit.x, to[2] = unit.y, to[3] = unit.z;
    to[4] = from[0], to[5] = from[1], to[6] = from[2];
  }
  return count;
}

/// Refuses the first bad row.
std::vector<double> rows_of_vectors(nb::handle transforms) {
  const Doubles values(transforms, "transforms", {-1, 7});
  std::vector<double> rows;
  const auto read = [&] { return read_rows(values.data(), values.rows(), rows); };
  const std::size_t bad = values.rows() < kManyRows ? read() : without_gil(read);
  if (bad == values.rows()) return rows;
  raise("InvalidTransform", "transforms[" + std::to_string(bad) +
                                "] is not a pose: x y z must be finite and w x y z a unit quaternion. "
                                "The order is x, y, z, w, x, y, z. Nothing was stored.");
}

std::vector<double> rows_of_matrices(nb::handle transforms) {
  const Doubles values(transforms, "transforms", {-1, 4, 4});
  std::vector<double> rows;
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const Transform pose = checked_matrix(values.data() + 16 * i, "transforms[" + std::to_string(i) + "] is not a pose: ");
    std::ranges::copy(values_of(pose), std::back_inserter(rows));
  }
  return rows;
}

/// Seven values a row, from (N, 7) or from matrices, (N, 4, 4).
std::vector<double> checked_rows(nb::handle given) {
  const nb::object transforms = matrices_in(given);
  return dimensions_of(transforms, "transforms") == 3 ? rows_of_matrices(transforms) : rows_of_vectors(transforms);
}

}  // namespace

std::vector<double> checked_sides(nb::handle covariances, std::size_t count) {
  std::vector<double> sides;
  if (covariances.is_none()) return sides;
  const auto rows = static_cast<Py_ssize_t>(count);
  const bool are_variances = dimensions_of(covariances, "covariances") == 2;
  const Doubles all(covariances, "covariances",
                    are_variances ? std::initializer_list<Py_ssize_t>{rows, 6} : std::initializer_list<Py_ssize_t>{rows, 6, 6});
  sides.resize(count * Covariance::kPacked);
  for (std::size_t i = 0; i < count; ++i) {
    Covariance one;
    const double* given = all.data() + (are_variances ? 6 : 36) * i;
    if (are_variances) {
      for (std::size_t k = 0; k < 6; ++k) one.values[7 * k] = given[k];
    } else {
      std::memcpy(one.values.data(), given, sizeof(one.values));
    }
    if (std::all_of(given, given + (are_variances ? 6 : 36), [](double value) { return std::isnan(value); })) {
      std::fill_n(sides.begin() + static_cast<std::ptrdiff_t>(i * Covariance::kPacked), Covariance::kPacked, std::nan(""));
      continue;
    }
    if (!is_covariance(one))
      raise("InvalidArgument", "covariances[" + std::to_string(i) + "] must be finite, symmetric and positive semi-definite.");
    one.pack(std::span<double, Covariance::kPacked>(sides.data() + i * Covariance::kPacked, Covariance::kPacked));
  }
  return sides;
}

namespace {

/// One row, one stamp and, where they are given, one covariance for each instant.
struct GivenPoses {
  GivenPoses(nb::handle transforms, nb::handle at, nb::handle covariances) : rows(checked_rows(transforms)), at(at, "at") {
    if (stamps().size() != rows.size() / kPoseWidth)
      raise("InvalidArgument", "transforms has " + std::to_string(rows.size() / kPoseWidth) + " rows and at has " +
                                   std::to_string(stamps().size()) + " stamps; they must match.");
    sides = checked_sides(covariances, stamps().size());
  }

  [[nodiscard]] std::span<const std::int64_t> stamps() const { return at.span(); }

  [[nodiscard]] PlaceSample sample(std::size_t row) const {
    const double* v = &rows[row * kPoseWidth];
    PlaceSample sample{.at = {stamps()[row]}, .in_frame_T_of = {{v[0], v[1], v[2], v[3]}, {v[4], v[5], v[6]}}};
    const std::size_t side = row * Covariance::kPacked;
    if (!sides.empty() && !std::isnan(sides[side]))
      sample.covariance = Covariance::unpack(std::span(sides).subspan(side).first<Covariance::kPacked>());
    return sample;
  }

  /// All of them; the arrays are still those of this.
  [[nodiscard]] PlaceSamples all(const scene::RelationName& relation) const {
    return {.of = relation.of,
            .in_frame = relation.in_frame,
            .source = relation.source,
            .stamps = stamps(),
            .rows = rows.data(),
            .sides = sides.empty() ? nullptr : sides.data()};
  }

  std::vector<double> rows;
  Stamps at;
  std::vector<double> sides;
};

void set_poses(Self self, nb::handle of, nb::handle in_frame, nb::handle transforms, nb::handle at, nb::handle source,
               nb::handle covariances, nb::handle interpolation) {
  const GivenPoses given(transforms, at, covariances);
  const std::span<const std::int64_t> stamps = given.stamps();
  const auto latest_row = std::ranges::max_element(stamps);
  if (!stamps.empty()) check_ahead(self, *latest_row, latest_row - stamps.begin());
  const Stamp first = stamps.empty() ? Stamp::always() : Stamp{std::ranges::min(stamps)};
  const Edge edge = admitted_edge(self, of, in_frame, source, first);
  const EdgeName name = edge.name();
  const PlaceSamples all = given.all(edge.relation());
  Forest& forest = *core(self).forest;
  const auto write = [&] { return forest.set_poses(name, all.stamps, all.rows, all.sides); };
  const auto add = [&]() -> Failure {
    if (stamps.empty()) return {};
    if (interpolation.is_none() || has_interpolation(self, edge.relation(), as_sample_interpolation(interpolation)))
      return add_samples(self, edge.relation(), first, write, [&] { return all; }, Gil::released);
    return add_interpolated(self, edge.relation(), as_sample_interpolation(interpolation), first, all, Gil::released);
  };
  const Failure failure = add();
  if (failure)
    raise_batch_failure(self, failure, nb::cast(frame_label(core(self), edge.of)),
                        nb::cast(frame_label(core(self), edge.in_frame)), true);
  finish(self, edge, {});
  const RelationId relation = forest.find_relation(forest.find_frame(name.of), forest.find_frame(name.in_frame), name.source);
  warn_of_dropped(
      self, stamps, forest.retention_of(relation),
      shown(nb::cast(frame_label(core(self), edge.of))) + " in " + shown(nb::cast(frame_label(core(self), edge.in_frame))));
}

bool merge_poses(Self self, const std::string& of, const std::string& in_frame, nb::handle transforms, nb::handle at,
                 const std::string& source, nb::handle covariances, std::optional<std::pair<std::int64_t, std::uint32_t>> base) {
  const GivenPoses given(transforms, at, covariances);
  std::vector<PlaceSample> samples;
  scene::Store& store = *core(self).store;
  for (std::size_t row = 0; row < given.stamps().size(); ++row) {
    PlaceSample& sample = samples.emplace_back(given.sample(row));
    sample.of = store.frame_key(of), sample.in_frame = store.frame_key(in_frame), sample.source = source;
    if (base) sample.base = SampleBase{base->first, base->second};
  }
  const bool is_known = without_gil([&] { return store.merge_samples(std::move(samples)); });
  resolve_pending(self);
  return is_known;
}

void fix(Self self, nb::handle of, nb::handle in_frame, nb::handle transform, nb::handle at, nb::handle covariance,
         nb::handle source, bool recalibrate) {
  FixedPose pose{.value = given_transform(self, transform)};
  if (!covariance.is_none()) {
    pose.covariance = as_covariance(covariance, "covariance");
    pose.certainty = Certainty::known;
  }
  const Stamp from = at.is_none() ? Stamp::always() : Stamp{as_stamp(at, "at")};
  const Edge edge = admitted_edge(self, of, in_frame, source, from);
  ++core(self).edits;
  finish(self, edge, change_frames(self, request_for(fixed_assertion(edge.relation(), from, pose, recalibrate))));
}

void attach(Self self, nb::handle of, nb::handle to, nb::handle at, nb::handle source, nb::handle outside,
            nb::handle hold_up_to_s, nb::handle rank) {
  StoreCore& world = core(self);
  check_own_frame(self, of);
  const FrameId of_id = frame_id(self, of), to_id = frame_id(self, to);
  const nb::object of_stored = nb::cast(world.forest->frame_name(of_id)), to_stored = nb::cast(world.forest->frame_name(to_id));
  if (of_id == to_id)
    raise("InvalidArgument", "Frame " + shown(of) + " cannot be attached to itself. Name two different frames.", of);
  const nb::object from = at.is_none() ? now_of(self) : nb::borrow(at);
  const nb::object who = source.is_none() ? world.own_name : source_of(self, source);
  const Stamp stamp{as_stamp(from, "at")};
  check_one_path(self, of_stored, to_stored, who, stamp);
  const scene::RelationName relation{std::string(text_of(of_stored)), std::string(text_of(to_stored)), std::string(text_of(who))};
  const Question seen{.of = of_id,
                      .in_frame = to_id,
                      .at = at.is_none() ? When::newest() : When::exactly(stamp),
                      .context = as_context(world, outside, words().unique, nb::none(), hold_up_to_s)};
  const Rank given_rank = rank_from(rank);
  const Failure failure = change_frames(self, [&]() -> Result<scene::ChangeRequest> {
    Result<PoseAnswer> answer = world.forest->pose(seen);
    if (!answer) return {{}, std::move(answer.failure)};
    FixedPose pose{.value = answer.value.transform, .certainty = answer.value.certainty};
    if (answer.value.covariance) pose.covariance = *answer.value.covariance;
    log::Assert payload = fixed_assertion(relation, stamp, pose);
    payload.rank = given_rank;
    return {request_for(std::move(payload)), {}};
  });
  if (failure) raise_failure(world, failure, of, to);
  sync_catalog(world);
  resolve_pending(self);
}

void check_new_relation(Self self, nb::object of, nb::object in_frame, nb::object source, nb::handle start) {
  check_one_path(self, of, in_frame, source, start.is_none() ? Stamp::always() : Stamp{as_stamp(start, "at")});
}

}  // namespace

void bind_world_writing(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face) {
  const auto define = [&](auto& world) {
    world
        .def("set_pose", &set_pose, nb::kw_only(), "of"_a, "in_frame"_a, "transform"_a, "at"_a.none() = nb::none(),
             "source"_a = nb::none(), "covariance"_a = nb::none(), "interpolation"_a = nb::none(),
             nb::sig("def set_pose(self, *, of: str | NodeId, in_frame: str | NodeId, transform: Transform | PoseCoordinates | "
                     "TransformMessage | PoseMessage | ArrayLike, at: int, "
                     "source: str | None = None, "
                     "covariance: ArrayLike | None = None, interpolation: str | None = None) -> None"),
             "Say where a frame is at one instant.\n\n"
             "A sample with the same stamp is replaced; late samples are welcome within the history. The same source\n"
             "naming a new parent moves the frame there from `at` on; another source is a rival (see `prefer`).\n\n"
             "Args:\n"
             "    of: Frame that is placed; made if it is new.\n"
             "    in_frame: Its parent; made if it is new.\n"
             "    transform: `in_frame_T_of`: a Transform, a (4, 4) matrix, a transform or rotation of another library (scipy,\n"
             "        pinocchio, jaxlie ...), a Transform or Pose message of ROS, or any pose coordinates of numbers; stored as\n"
             "        a translation and a quaternion.\n"
             "    at: Instant [ns].\n"
             "    source: Who asserts it; the world's own name if not given.\n"
             "    covariance: (6, 6), translation then rotation, in the tangent of `of`, or six variances; unknown if not "
             "given.\n"
             "    interpolation: As for `add_relation`; the relation keeps the one that it has if not given.\n\n"
             "Raises:\n"
             "    BeforeHistory: The sample is older than the history.\n"
             "    FrameLoop: The frame would be its own ancestor at that instant.\n"
             "    InvalidName, InvalidStamp, InvalidArgument: The input is refused; nothing is stored.")
        .def("set_poses", &set_poses, nb::kw_only(), "of"_a, "in_frame"_a, "transforms"_a, "at"_a, "source"_a = nb::none(),
             "covariances"_a = nb::none(), "interpolation"_a = nb::none(),
             nb::sig("def set_poses(self, *, of: str | NodeId, in_frame: str | NodeId, transforms: ArrayLike, at: ArrayLike, "
                     "source: str | None = "
                     "None, covariances: ArrayLike | None = None, interpolation: str | None = None) -> None"),
             "Say where a frame is at many instants: all of them are stored, or none.\n\n"
             "Args:\n"
             "    of: Frame that is placed.\n"
             "    in_frame: Its parent.\n"
             "    transforms: (N, 7): x, y, z, then the quaternion w, x, y, z; or matrices, (N, 4, 4); or a list of Transforms.\n"
             "    at: (N,) int64 [ns], in any order.\n"
             "    source: Who asserts it; the world's own name if not given.\n"
             "    covariances: (N, 6, 6), or variances, (N, 6); rows of NaN are unknown.\n"
             "    interpolation: As for `add_relation`; the relation keeps the one that it has if not given.")
        .def("fix", &fix, nb::kw_only(), "of"_a, "in_frame"_a, "transform"_a, "at"_a = nb::none(), "covariance"_a = nb::none(),
             "source"_a = nb::none(), "recalibrate"_a = false,
             nb::sig("def fix(self, *, of: str | NodeId, in_frame: str | NodeId, transform: Transform | PoseCoordinates | "
                     "TransformMessage | PoseMessage | ArrayLike, at: int | None "
                     "= None, covariance: ArrayLike "
                     "| None = None, source: str | None = None, recalibrate: bool = False) -> None"),
             "Fix the pose of a frame.\n\n"
             "With `at=None` it holds always, and all earlier assertions of this source about it are removed. With a stamp it\n"
             "holds from then on, until the next assertion of this source. Within a declared body a pose is fixed once;\n"
             "`recalibrate=True` corrects it.");
  };
  define(store);
  define(face);
  store
      .def("merge_poses", &merge_poses, nb::kw_only(), "of"_a, "in_frame"_a, "transforms"_a, "at"_a, "source"_a,
           "covariances"_a = nb::none(), "base"_a.none() = nb::none(),
           nb::sig("def merge_poses(self, *, of: str | NodeId, in_frame: str | NodeId, transforms: ArrayLike, at: ArrayLike, "
                   "source: str, "
                   "covariances: ArrayLike | None = None, base: tuple[int, int] | None = None) -> bool"),
           "Samples that another replica accepted: neither loops nor bodies refuse them here.\n\n"
           "`base` is what `sample_base()` of that replica was then: what was taken back since does not count, and of two\n"
           "samples of one instant the one with the newer base does. Without it they count as given now. False: that there is "
           "such a relation is not known here yet, and nothing was stored.")
      .def(
          "sample_base",
          [](Self self) {
            const SampleBase base = with_changes(self, [](scene::Store& store) { return store.sample_base(); });
            return nb::make_tuple(base.wall_ns, base.count);
          },
          nb::sig("def sample_base(self) -> tuple[int, int]"),
          "The newest change that is held, by its hybrid timestamp: samples that are given now are on top of it.")
      .def(
          "set_machine_time",
          [](Self self, std::optional<std::int64_t> ns) {
            with_changes(self, [&](scene::Store& store) { store.set_machine_time(ns); });
          },
          "ns"_a.none(), "Let changes be ordered by this time in place of the machine's clock [ns]; None: by the clock again.")
      .def("declare_relation", &add_relation, nb::kw_only(), "of"_a, "in_frame"_a, "source"_a.none(), "at"_a,
           "interpolation"_a.none(),
           nb::sig("def declare_relation(self, *, of: str | NodeId, in_frame: str | NodeId, source: str | None, at: int, "
                   "interpolation: str) -> None"))
      .def("check_own_frame", &check_own_frame, "of"_a.none(), nb::sig("def check_own_frame(self, of: object) -> None"))
      .def("check_new_relation", &check_new_relation, "of"_a, "in_frame"_a, "source"_a, "start"_a.none(),
           nb::sig(
               "def check_new_relation(self, of: str | NodeId, in_frame: str | NodeId, source: str, start: int | None) -> None"))
      .def("attach", &attach, nb::kw_only(), "of"_a, "to"_a, "at"_a = nb::none(), "source"_a = nb::none(), "outside"_a = "raise",
           "hold_up_to_s"_a = nb::none(), "rank"_a = "statement",
           nb::sig("def attach(self, *, of: str | NodeId, to: str | NodeId, at: int | None = None, source: str | None = None, "
                   "outside: str = 'raise', hold_up_to_s: float | None = None, rank: str = 'statement') -> None"),
           "Give a frame another parent from `at` on, keeping where it is: the grasped cup.\n\n"
           "`at=None`: from world.now() on, where it was last seen; with a stamp, where it is at that stamp. A 'statement' is\n"
           "preferred while it is open; a 'fallback' counts where nothing else is open.");
}

}  // namespace armillary::python
