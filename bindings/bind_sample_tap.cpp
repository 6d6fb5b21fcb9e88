// Samples on their way out to others, and in from others: rows as the core stores them.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "armillary/graph/sample_tap.hpp"
#include "armillary/series/pose_row.hpp"
#include "convert.hpp"
#include "gil.hpp"
#include "joint_channels.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_store.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

const char* name_of(SampleKind kind) {
  switch (kind) {
    case SampleKind::pose:
      return "pose";
    case SampleKind::twist:
      return "twist";
    case SampleKind::joints:
      return "joints";
  }
  return "";
}

nb::object stamps_of(const SampleBatch& batch) {
  auto* memory = new std::int64_t[batch.stamps.size() + 1];
  std::ranges::copy(batch.stamps, memory);
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const std::int64_t>(memory, {batch.stamps.size()}, owner));
}

/// What rows of a relation or a channel are: the same for all batches with its number.
struct TappedSeries {
  SampleKind kind = SampleKind::pose;
  std::uint32_t id = 0;
  std::string of{}, in_frame{}, source{};
  std::vector<std::string> joints{};
  RowForm form{};
};

/// A batch as Python gets it.
struct TappedBatch {
  SampleBatch batch;
  TappedSeries series;
};

/// None where the relation has gone since.
std::optional<TappedSeries> series_of(const StoreCore& world, const SampleBatch& batch) {
  TappedSeries series{.kind = batch.kind, .id = batch.id};
  if (batch.kind == SampleKind::joints) {
    Forest::JointChannelInfo info = world.forest->channel_info(batch.id);
    series.source = std::move(info.source), series.joints = std::move(info.names), series.form = info.form;
    return series;
  }
  std::optional<Forest::Edge> edge = world.forest->edge_of(batch.id);
  if (!edge) return std::nullopt;
  series.of = std::move(edge->of), series.in_frame = std::move(edge->in_frame), series.source = std::move(edge->source);
  return series;
}

/// A tap together with its store.
struct StoreTap {
  std::shared_ptr<SampleTap> tap;
  nb::object store;
};

nb::list drain(const StoreTap& tap) {
  std::vector<SampleBatch> batches = without_gil([&] { return tap.tap->drain(); });
  const StoreCore& world = core(Self(tap.store));
  nb::list found;
  for (SampleBatch& batch : batches)
    if (std::optional<TappedSeries> series = series_of(world, batch))
      found.append(TappedBatch{std::move(batch), std::move(*series)});
  return found;
}

nb::list stored_batches(nb::handle self, const std::string& kind, std::uint32_t number, std::optional<std::int64_t> since) {
  const StoreCore& world = core(Self(self));
  const SampleKind wanted = kind == "pose" ? SampleKind::pose : kind == "twist" ? SampleKind::twist : SampleKind::joints;
  const Stamp from = since ? Stamp{*since} : Stamp::always();
  nb::list found;
  for (SampleBatch& batch : without_gil([&] { return world.forest->stored(wanted, number, from); }))
    if (std::optional<TappedSeries> series = series_of(world, batch))
      found.append(TappedBatch{std::move(batch), std::move(*series)});
  return found;
}

bool wait(const StoreTap& tap, double timeout_s) {
  return without_gil([&] { return tap.tap->wait(timeout_s); });
}

StoreTap tap_samples(nb::handle self, std::size_t max_bytes, bool with_others) {
  auto tap = std::make_shared<SampleTap>(max_bytes, with_others);
  core(Self(self)).forest->add_tap(tap);
  return {std::move(tap), nb::borrow(self)};
}

// -- Changes on their way out

std::shared_ptr<scene::RecordTap> tap_records(Self self, std::size_t max_count, bool with_others) {
  auto tap = std::make_shared<scene::RecordTap>(max_count, with_others);
  with_changes(self, [&](scene::Store& store) { store.add_tap(tap); });
  return tap;
}

struct TappedNodeSample {
  scene::NodeSample sample;
};

nb::tuple drain_records(scene::RecordTap& tap) {
  scene::RecordTap::Content content = without_gil([&] { return tap.drain(); });
  nb::list records, samples;
  for (const log::ChangePtr& record : content.records) records.append(change_object(record));
  for (scene::NodeSample& sample : content.samples) samples.append(TappedNodeSample{std::move(sample)});
  return nb::make_tuple(records, samples, content.has_gap);
}

nb::object covariance_of(const FixedPose& pose) {
  return pose.certainty == Certainty::known ? read_only_array(pose.covariance.values.data(), {6, 6}) : nb::none();
}

/// Marks what `work` stores as that of others, on this thread.
nb::object as_others(const nb::callable& work) {
  const OthersSamples marked;
  return work();
}

// -- In from others

[[noreturn]] void refuse_row(std::size_t row, const char* what) {
  raise("InvalidTransform", "Row " + std::to_string(row) + " is no " + what + ". Nothing was stored.");
}

std::optional<Covariance> covariance_in(const double* packed, std::size_t row) {
  const std::optional<Covariance> found =
      Covariance::unpack(std::span<const double, Covariance::kPacked>(packed, Covariance::kPacked));
  if (!is_covariance(*found)) refuse_row(row, "covariance: it must be finite, symmetric and positive semi-definite");
  return found;
}

/// How many numbers a row has: `plain`, or as many with a covariance behind.
std::size_t width_of(nb::handle rows, std::size_t plain) {
  const auto width = nb::cast<std::size_t>(rows.attr("shape")[nb::int_(1)]);
  if (width != plain && width != plain + Covariance::kPacked)
    raise("InvalidArgument", "Rows have " + std::to_string(plain) + " numbers, or " +
                                 std::to_string(plain + Covariance::kPacked) + " with a covariance, and not " +
                                 std::to_string(width) + ".");
  return width;
}

bool merge_pose_rows(Self self, const std::string& of, const std::string& in_frame, const std::string& source, nb::handle at,
                     nb::handle rows, std::optional<std::pair<std::int64_t, std::uint32_t>> base) {
  const Stamps stamps(at, "at");
  const std::size_t width = width_of(rows, kPoseWidth), count = stamps.span().size();
  const Doubles values(rows, "rows", {static_cast<Py_ssize_t>(count), static_cast<Py_ssize_t>(width)});
  scene::Store& store = *core(self).store;
  const std::string of_key = store.frame_key(of), in_key = store.frame_key(in_frame);
  std::optional<SampleBase> given_on;
  if (base) given_on = SampleBase{base->first, base->second};
  std::vector<double> poses(count * kPoseWidth), sides;
  if (width > kPoseWidth) sides.resize(count * Covariance::kPacked);
  for (std::size_t row = 0; row < count; ++row) {
    const double* v = values.data() + row * width;
    const Rotation q{v[0], v[1], v[2], v[3]};
    if (!std::isfinite(v[4] + v[5] + v[6]) || !(std::abs(q.squared_norm() - 1.0) <= 1e-6)) refuse_row(row, "pose");
    std::copy_n(v, kPoseWidth, poses.begin() + static_cast<std::ptrdiff_t>(row * kPoseWidth));
    if (sides.empty()) continue;
    (void)covariance_in(v + kPoseWidth, row);
    std::copy_n(v + kPoseWidth, Covariance::kPacked, sides.begin() + static_cast<std::ptrdiff_t>(row * Covariance::kPacked));
  }
  const auto from = [&](std::size_t row) {
    return PlaceSamples{.of = of_key,
                        .in_frame = in_key,
                        .source = source,
                        .stamps = stamps.span().subspan(row),
                        .rows = poses.data() + row * kPoseWidth,
                        .sides = sides.empty() ? nullptr : sides.data() + row * Covariance::kPacked};
  };
  const auto sample_at = [&](std::size_t row) {
    const double* v = poses.data() + row * kPoseWidth;
    PlaceSample sample{.of = of_key, .in_frame = in_key, .source = source, .at = {stamps.span()[row]}};
    sample.in_frame_T_of = {{v[0], v[1], v[2], v[3]}, {v[4], v[5], v[6]}};
    if (!sides.empty()) sample.covariance = covariance_in(values.data() + row * width + kPoseWidth, row);
    sample.base = given_on;
    sample.is_as_stored = true;
    return sample;
  };
  const bool is_known = without_gil([&] {
    const OthersSamples marked;
    std::size_t done = store.merge_in_place(from(0), given_on);
    if (done == count && count > 0) return true;
    // The first sample of a relation has to begin its run; those that follow may go into its series again.
    if (count - done > 1) {
      if (!store.merge_samples({sample_at(done)})) return false;
      ++done;
      done += store.merge_in_place(from(done), given_on);
      if (done == count) return true;
    }
    std::vector<PlaceSample> samples;
    samples.reserve(count - done);
    for (std::size_t row = done; row < count; ++row) samples.push_back(sample_at(row));
    return store.merge_samples(std::move(samples));
  });
  resolve_pending(self);
  return is_known;
}

bool merge_twist_rows(Self self, const std::string& of, const std::string& relative_to, const std::string& source, nb::handle at,
                      nb::handle rows, std::optional<std::pair<std::int64_t, std::uint32_t>> base) {
  constexpr std::size_t kTwistNumbers = 6;
  const Stamps stamps(at, "at");
  const std::size_t width = width_of(rows, kTwistNumbers), count = stamps.span().size();
  const Doubles values(rows, "rows", {static_cast<Py_ssize_t>(count), static_cast<Py_ssize_t>(width)});
  const scene::RelationName relation{core(self).store->frame_key(of), core(self).store->frame_key(relative_to), source};
  if (!with_changes(self, [&](scene::Store& store) { return store.knows_twist(relation); })) return false;
  std::vector<std::optional<Covariance>> covariances(count);
  for (std::size_t row = 0; row < count; ++row)
    if (width > kTwistNumbers) covariances[row] = covariance_in(values.data() + row * width + kTwistNumbers, row);
  const std::optional<SampleBase> given_on = base ? std::optional(SampleBase{base->first, base->second}) : std::nullopt;
  const OthersSamples marked;
  for (std::size_t row = 0; row < count; ++row) {
    const double* v = values.data() + row * width;
    const TwistSample sample{.at = {stamps.span()[row]},
                             .expressed_in = relation.of,
                             .velocity = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}},
                             .covariance = covariances[row] ? &*covariances[row] : nullptr,
                             .base = given_on ? &*given_on : nullptr};
    const Failure failure = core(self).forest->set_twist({relation.of, relation.in_frame, relation.source}, sample);
    if (failure && failure->kind != FailureKind::before_history)
      raise_failure(core(self), failure, nb::cast(of), nb::cast(relative_to), true);
  }
  resolve_pending(self);
  return true;
}

/// The upper triangle of `n` numbers, in another order.
void put_triangle(const double* from, std::size_t k, std::size_t n, std::span<const std::uint32_t> columns, double* to) {
  const auto place = [&](std::size_t i) { return i < k ? columns[i] : k + columns[i - k]; };
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      const std::size_t row = std::min(place(i), place(j)), column = std::max(place(i), place(j));
      to[row * (2 * n - row + 1) / 2 + column - row] = from[next++];
    }
}

bool merge_joint_rows(Self self, const std::vector<std::string>& joints, const std::string& source, nb::handle at,
                      nb::handle rows, bool has_velocities, bool has_covariance, bool has_velocity_covariance, bool is_computed) {
  const Stamps stamps(at, "at");
  for (const std::string& name : joints)
    if (core(self).forest->find_variable(name) == nullptr) return false;
  const RowForm form{has_velocities, has_covariance, has_velocity_covariance, is_computed};
  const auto k = static_cast<std::uint32_t>(joints.size());
  const std::size_t width = form.row_width(k), count = stamps.span().size();
  const Doubles values(rows, "rows", {static_cast<Py_ssize_t>(count), static_cast<Py_ssize_t>(width)});
  std::vector<nb::object> kept;
  for (const std::string& name : joints) kept.push_back(nb::cast(name));
  const auto channel = joint_channel(self, {kept.begin(), kept.end()}, 0, nb::cast(source), form);
  std::vector<double> arranged(count * width);
  const std::size_t blocks = has_velocities ? 2 : 1;
  for (std::size_t row = 0; row < count; ++row) {
    const double* from = values.data() + row * width;
    double* to = arranged.data() + row * width;
    for (std::size_t block = 0; block < blocks; ++block)
      for (std::size_t i = 0; i < k; ++i) to[block * k + channel->columns[i]] = from[block * k + i];
    put_triangle(from + blocks * k, k, form.covered(k), channel->columns, to + blocks * k);
  }
  const Failure failure = without_gil([&] {
    const OthersSamples marked;
    return core(self).forest->set_joints(channel->id, stamps.span(), arranged.data());
  });
  if (failure && failure->kind != FailureKind::before_history) raise_joint_failure(self, failure, true);
  resolve_pending(self);
  return true;
}

}  // namespace

void bind_sample_tap(nb::module_& m, nb::class_<StoreCore>& store) {
  nb::class_<TappedBatch>(m, "SampleBatch", "Samples of one relation, or of joints that are given together, as they were stored.")
      .def_prop_ro(
          "kind", [](const TappedBatch& batch) { return name_of(batch.series.kind); }, "'pose', 'twist' or 'joints'.")
      .def_prop_ro(
          "number", [](const TappedBatch& batch) { return batch.series.id; },
          "Of the relation, or of the joints: the same in all batches of its kind.")
      .def_prop_ro("of", [](const TappedBatch& batch) { return batch.series.of; })
      .def_prop_ro(
          "in_frame", [](const TappedBatch& batch) { return batch.series.in_frame; }, "Of a twist: what it is relative to.")
      .def_prop_ro("source", [](const TappedBatch& batch) { return batch.series.source; })
      .def_prop_ro("joints", [](const TappedBatch& batch) { return batch.series.joints; })
      .def_prop_ro("has_velocities", [](const TappedBatch& batch) { return batch.series.form.has_velocities; })
      .def_prop_ro("has_covariance", [](const TappedBatch& batch) { return batch.series.form.has_covariance; })
      .def_prop_ro("has_velocity_covariance", [](const TappedBatch& batch) { return batch.series.form.has_velocity_covariance; })
      .def_prop_ro("is_integrated", [](const TappedBatch& batch) { return batch.series.form.is_computed; })
      .def_prop_ro(
          "stamps", [](const TappedBatch& batch) { return stamps_of(batch.batch); },
          nb::sig("def stamps(self) -> NDArray[int64]"), "int64, in the order in which they were stored.")
      .def_prop_ro(
          "rows",
          [](const TappedBatch& batch) {
            return read_only_array(batch.batch.rows.data(), {batch.batch.stamps.size(), batch.batch.width});
          },
          nb::sig("def rows(self) -> NDArray[float64]"),
          "Of poses w x y z, then x y z; of twists linear, then angular, along the axes of `of`; of joints positions, then\n"
          "velocities. Where there is a covariance, its upper triangle follows row by row.")
      .def_prop_ro(
          "base", [](const TappedBatch& batch) { return nb::make_tuple(batch.batch.base.wall_ns, batch.batch.base.count); },
          nb::sig("def base(self) -> tuple[int, int]"),
          "What `sample_base()` was when they were given: who merges them says it, so that all decide alike which sample of an\n"
          "instant counts, and what was taken back since.")
      .def("__len__", [](const TappedBatch& batch) { return batch.batch.stamps.size(); });
  store.def("stored_batches", &stored_batches, "kind"_a, "number"_a, "since"_a.none() = nb::none(),
            nb::sig("def stored_batches(self, kind: str, number: int, since: int | None = None) -> list[SampleBatch]"),
            "The samples of a relation, or of joints that are given together, from an instant on, by stamp: those without a\n"
            "covariance, then those with one.");
  nb::class_<StoreTap>(m, "SampleTap", "Copies of samples as a store keeps them, for who records or forwards them.")
      .def("drain", &drain, nb::sig("def drain(self) -> list[SampleBatch]"), "Take out what came since the last call.")
      .def("wait", &wait, "timeout_s"_a, nb::sig("def wait(self, timeout_s: float) -> bool"),
           "Block until there is something to take out, or the time is over; a negative time waits for ever.")
      .def(
          "close", [](const StoreTap& tap) { tap.tap->close(); }, "End it: nothing is added any more, and nobody waits.")
      .def_prop_ro(
          "dropped", [](const StoreTap& tap) { return tap.tap->dropped(); },
          "How many samples did not fit since the beginning, because nobody took out what was there.");
  nb::class_<TappedNodeSample>(m, "NodeSample", "Where a Transform of the scene is at one instant.")
      .def_prop_ro("node", [](const TappedNodeSample& one) { return one.sample.node; })
      .def_prop_ro("at", [](const TappedNodeSample& one) { return one.sample.at.ns; })
      .def_prop_ro("transform", [](const TappedNodeSample& one) { return one.sample.pose.value; })
      .def_prop_ro(
          "covariance", [](const TappedNodeSample& one) { return covariance_of(one.sample.pose); },
          nb::sig("def covariance(self) -> NDArray[float64] | None"));
  nb::class_<scene::RecordTap>(m, "RecordTap", "Change records as a store takes them, for who replicates or records a world.")
      .def("drain", &drain_records, nb::sig("def drain(self) -> tuple[list[ChangeRecord], list[NodeSample], bool]"),
           "Take out what came since the last call: records, samples of nodes, and whether there is a gap behind them.")
      .def(
          "wait", [](scene::RecordTap& tap, double timeout_s) { return without_gil([&] { return tap.wait(timeout_s); }); },
          "timeout_s"_a, "Block until there is something to take out, or the time is over; a negative time waits for ever.")
      .def("close", [](scene::RecordTap& tap) { tap.close(); }, "End it: nothing is added any more, and nobody waits.");
  store
      .def("tap_records", &tap_records, nb::kw_only(), "max_count"_a = 100'000, "with_others"_a = false,
           nb::sig("def tap_records(self, *, max_count: int = 100000, with_others: bool = False) -> RecordTap"),
           "From now on copy change records, and samples of nodes, as they are taken.\n\n"
           "`with_others`: also those that come within `as_others`.")
      .def_static("as_others", &as_others, "work"_a, nb::sig("def as_others(work: Callable[[], object]) -> object"),
                  "Call a function; what it stores is marked as that of others, so that taps without others leave it out.")
      .def("tap_samples", &tap_samples, nb::kw_only(), "max_bytes"_a = 64'000'000, "with_others"_a = false,
           nb::sig("def tap_samples(self, *, max_bytes: int = 64000000, with_others: bool = False) -> SampleTap"),
           "From now on copy samples as they are stored: poses, twists and joints, but not the samples of nodes.\n\n"
           "`with_others`: also those that came by `merge_pose_rows`, `merge_twist_rows` and `merge_joint_rows`.")
      .def("merge_pose_rows", &merge_pose_rows, nb::kw_only(), "of"_a, "in_frame"_a, "source"_a, "at"_a, "rows"_a,
           "base"_a.none() = nb::none(),
           nb::sig("def merge_pose_rows(self, *, of: str, in_frame: str, source: str, at: ArrayLike, rows: ArrayLike, base: "
                   "tuple[int, int] | None = None) -> bool"),
           "Store poses of another replica, as `SampleBatch.rows` has them; as `merge_poses` otherwise.")
      .def("merge_twist_rows", &merge_twist_rows, nb::kw_only(), "of"_a, "relative_to"_a, "source"_a, "at"_a, "rows"_a,
           "base"_a.none() = nb::none(),
           nb::sig("def merge_twist_rows(self, *, of: str, relative_to: str, source: str, at: ArrayLike, rows: ArrayLike, base: "
                   "tuple[int, int] | None = None) -> bool"),
           "Store twists of another replica; those older than the history are left out. False: the relation is not known.")
      .def(
          "merge_joint_rows", &merge_joint_rows, nb::kw_only(), "joints"_a, "source"_a, "at"_a, "rows"_a, "has_velocities"_a,
          "has_covariance"_a, "has_velocity_covariance"_a, "is_integrated"_a,
          nb::sig("def merge_joint_rows(self, *, joints: list[str], source: str, at: ArrayLike, rows: ArrayLike, has_velocities: "
                  "bool, has_covariance: bool, has_velocity_covariance: bool, is_integrated: bool) -> bool"),
          "Store joint samples of another replica; those older than the history are left out. False: a joint is not known.");
}

}  // namespace armillary::python
