#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "armillary/math/pose_average.hpp"
#include "armillary/math/pose_filter.hpp"
#include "convert.hpp"
#include "gil.hpp"
#include "modules.hpp"
#include "numpy_array.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

template <std::size_t N>
nb::object array_of(std::span<const double> values, const std::array<std::size_t, N>& shape) {
  nb::object made = Numpy::get().empty(shape);
  ArrayView view;
  if (view.open(made, true)) std::ranges::copy(values, view.data());
  return made;
}

/// (relation, parent, number); the parent of twists is None.
MeasuredFrame::Source source_in(Self store, nb::handle row) {
  const nb::tuple given = nb::cast<nb::tuple>(row);
  return {.relation = nb::cast<RelationId>(given[0]),
          .parent = given[1].is_none() ? kNone : frame_id(store, given[1]),
          .number = nb::cast<std::uint32_t>(given[2])};
}

nb::list measure(PoseFilter& self, Self store, nb::handle in_frame, const nb::list& sources, std::int64_t start,
                 nb::handle interpolation) {
  const StoreCore& world = core(store);
  MeasuredFrame question{.in_frame = frame_id(store, in_frame), .from = Stamp{start}};
  question.context = as_context(world, words().raise, words().unique, interpolation, nb::none());
  for (nb::handle row : sources) question.sources.push_back(source_in(store, row));
  const std::vector<MeasuredCount> found = without_gil([&] { return world.forest->measure(question, self); });
  nb::list counts;
  for (const MeasuredCount& count : found) counts.append(nb::make_tuple(count.stored, count.taken));
  return counts;
}

nb::object answer(const PoseFilter& self, std::int64_t stamp_ns) {
  const std::size_t count = self.count_until(stamp_ns);
  if (!self.is_started(count)) return nb::none();
  const FilterEstimate found = self.estimate(count, stamp_ns);
  return nb::make_tuple(count, nb::cast(found.pose), array_of<1>(found.velocity, {6}), array_of<2>(found.covariance, {12, 12}));
}

nb::tuple summary(const PoseFilter& self, std::size_t count) {
  const FilterSummary found = self.summary(std::min(count, self.size()));
  nb::list rejected, restarted;
  for (const std::size_t k : found.rejected)
    rejected.append(nb::make_tuple(self.measurement(k).stamp_ns, self.measurement(k).source, std::sqrt(self.distance2(k))));
  for (const std::size_t k : found.restarted) restarted.append(self.measurement(k).stamp_ns);
  const double mean = found.judged > 0 ? found.distances2 / static_cast<double>(found.judged) : 0.0;
  return nb::make_tuple(found.used, found.last_used_ns, nb::cast(found.sources), rejected, restarted, found.judged, mean);
}

void make_filter(PoseFilter& self, const std::vector<double>& acceleration, const std::vector<double>& first_speed,
                 const std::vector<double>& gates, std::int64_t restart_ns, std::uint32_t restart_count) {
  FilterModel model{.restart_ns = restart_ns, .restart_count = restart_count};
  if (acceleration.size() != 6 || first_speed.size() != 6 || gates.size() != model.gates.size())
    raise("InvalidArgument", "A filter takes six variances, six variances and seven gates.");
  std::ranges::copy(acceleration, model.acceleration.begin());
  std::ranges::copy(first_speed, model.first_speed.begin());
  std::ranges::copy(gates, model.gates.begin());
  new (&self) PoseFilter(model);
}

// -- The mean of poses

/// Rows of seven numbers: x, y, z, then the unit quaternion w, x, y, z.
std::vector<Transform> poses_in(const ArrayView& rows) {
  std::vector<Transform> poses;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double* v = rows.data() + 7 * i;
    poses.push_back({Rotation{v[3], v[4], v[5], v[6]}, {v[0], v[1], v[2]}});
  }
  return poses;
}

nb::tuple average_rows(nb::handle given_poses, nb::handle given_covariances) {
  ArrayView rows, spreads;
  const bool has_covariances = !given_covariances.is_none();
  const bool are_rows = rows.open(given_poses) && rows.dimensions() == 2 && rows.columns() == 7 && rows.rows() > 0;
  if (!are_rows || (has_covariances && (!spreads.open(given_covariances) || spreads.rows() != rows.rows() ||
                                        spreads.dimensions() != 3 || spreads.columns() != 6)))
    raise("InvalidArgument", "Poses are averaged as float64 arrays (N, 7) in C order, with (N, 6, 6) covariances or None.",
          given_poses);
  const std::vector<Transform> poses = poses_in(rows);
  std::vector<Covariance> covariances(has_covariances ? poses.size() : 0);
  for (std::size_t i = 0; i < covariances.size(); ++i) std::copy_n(spreads.data() + 36 * i, 36, covariances[i].values.begin());
  const PoseAverage found = without_gil([&] { return average_poses(poses, covariances); });
  std::vector<double> distances, residuals, gains, are_used;
  for (const PoseAverage::Part& part : found.parts) {
    distances.push_back(part.distance);
    are_used.push_back(part.is_used ? 1.0 : 0.0);
    residuals.insert(residuals.end(), part.residual.begin(), part.residual.end());
    gains.insert(gains.end(), part.gain.begin(), part.gain.end());
  }
  const std::size_t count = poses.size();
  return nb::make_tuple(nb::cast(found.mean), array_of<2>(found.inverse_information, {6, 6}), array_of<1>(distances, {count}),
                        array_of<1>(are_used, {count}), array_of<2>(residuals, {count, 6}), array_of<3>(gains, {count, 6, 6}),
                        found.rounds);
}

}  // namespace

void bind_filter(nb::module_& m) {
  m.def("average_rows", &average_rows, "poses"_a, "covariances"_a.none(),
        nb::sig("def average_rows(poses: NDArray[float64], covariances: NDArray[float64] | None) -> tuple[Transform, "
                "NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64], int]"),
        "The mean of poses, (N, 7) x, y, z, w, x, y, z, with (N, 6, 6) covariances or None: the mean; the inverse of the "
        "information about it, (6, 6); for each pose its distance in standard deviations, (N,), 1 where it was used, (N,), how "
        "far the mean is from it, (N, 6), and how its error moves the mean, (N, 6, 6); and how many rounds it took.");
  nb::class_<PoseFilter>(m, "PoseFilter",
                         "An error-state filter of one frame with constant velocity, with the estimate after every "
                         "measurement.")
      .def("__init__", &make_filter, "acceleration"_a, "first_speed"_a, "gates"_a, "restart_ns"_a, "restart_count"_a,
           nb::sig("def __init__(self, acceleration: Sequence[float], first_speed: Sequence[float], gates: Sequence[float], "
                   "restart_ns: int, restart_count: int) -> None"))
      .def("__len__", &PoseFilter::size)
      .def("measure", &measure, "store"_a, "in_frame"_a, "sources"_a, "start"_a, "interpolation"_a.none(),
           nb::sig("def measure(self, store: StoreCore, in_frame: str | NodeId, sources: list[tuple[int, str | None, int]], "
                   "start: int, interpolation: str | None) -> list[tuple[int, int]]"),
           "Use the samples of a frame as measurements: from the first on that is not one of before.\n\n"
           "Args:\n"
           "    store: Where the samples are.\n"
           "    in_frame: The frame in which the pose is estimated.\n"
           "    sources: For each relation its number, the frame its poses are in, None for twists, and the number of its "
           "source.\n"
           "    start: What is older does not count [ns].\n"
           "    interpolation: As for `pose`.\n\n"
           "Returns:\n"
           "    For each of `sources` how many samples it has, and how many of them are used.")
      .def("answer", &answer, "stamp"_a,
           nb::sig("def answer(self, stamp: int) -> tuple[int, Transform, NDArray[float64], NDArray[float64]] | None"),
           "The estimate at an instant: the number of measurements used, the pose, the velocity, the covariance of both, "
           "(12, 12).\n\nNone before the first pose.")
      .def("summary", &summary, "count"_a,
           nb::sig("def summary(self, count: int) -> tuple[int, int, list[int], list[tuple[int, int, float]], list[int], int, "
                   "float]"),
           "What became of the first `count` measurements: how many were used, the stamp of the last of these, their sources; "
           "stamp, source and distance of those rejected; the stamps at which the filter began anew; how many poses were "
           "compared with a prediction and used, and the mean of their squared distances.");
}

}  // namespace armillary::python
