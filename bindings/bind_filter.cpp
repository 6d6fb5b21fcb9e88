#include <nanobind/stl/vector.h>

#include <cstring>

#include "armillary/math/pose_filter.hpp"
#include "convert.hpp"
#include "gil.hpp"
#include "modules.hpp"
#include "numpy_array.hpp"
#include "raise.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

constexpr std::size_t kRow = 43;  // a pose as x y z w x y z or a velocity and nothing, then a covariance

template <std::size_t N>
nb::object array_of(std::span<const double> values, const std::array<std::size_t, N>& shape) {
  nb::object made = Numpy::get().empty(shape);
  ArrayView view;
  if (view.open(made, true)) std::ranges::copy(values, view.data());
  return made;
}

FilterMeasurement measurement_in(std::span<const double> row) {
  FilterMeasurement made;
  made.is_velocity = std::isnan(row[6]);  // a quaternion has no NaN
  if (made.is_velocity)
    std::copy_n(row.begin(), made.velocity.size(), made.velocity.begin());
  else
    made.pose = {Rotation{row[3], row[4], row[5], row[6]}, {row[0], row[1], row[2]}};
  std::copy_n(row.begin() + 7, made.covariance.size(), made.covariance.begin());
  return made;
}

void refill(PoseFilter& self, std::size_t keep, const nb::bytes& stamps, const nb::bytes& sources, nb::handle rows) {
  ArrayView view;
  if (!view.open(rows) || view.dimensions() != 2 || view.columns() != kRow || stamps.size() != 8 * view.rows() ||
      sources.size() != 4 * view.rows())
    raise("InvalidArgument", "rows must be a float64 array of shape (N, 43) in C order, with N stamps and sources.", rows);
  const char* const instants = stamps.c_str();
  const char* const origins = sources.c_str();
  without_gil([&] {
    self.keep(keep);
    for (std::size_t k = 0; k < view.rows(); ++k) {
      FilterMeasurement measurement = measurement_in({view.data() + kRow * k, kRow});
      std::memcpy(&measurement.stamp_ns, instants + 8 * k, 8);
      std::memcpy(&measurement.source, origins + 4 * k, 4);
      self.add(measurement);
    }
    return 0;
  });
}

nb::object answer(const PoseFilter& self, std::int64_t stamp_ns) {
  const std::size_t count = self.count_until(stamp_ns);
  if (!self.is_started(count)) return nb::none();
  const FilterEstimate found = self.estimate(count, stamp_ns);
  return nb::make_tuple(count, nb::cast(found.pose), array_of<1>(found.velocity, {6}), array_of<2>(found.covariance, {12, 12}));
}

std::vector<int> outcomes(const PoseFilter& self) {
  std::vector<int> found;
  for (std::size_t k = 0; k < self.size(); ++k) found.push_back(static_cast<int>(self.outcome(k)));
  return found;
}

std::vector<double> distances(const PoseFilter& self) {
  std::vector<double> found;
  for (std::size_t k = 0; k < self.size(); ++k) found.push_back(self.distance2(k));
  return found;
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

}  // namespace

void bind_filter(nb::module_& m) {
  nb::class_<PoseFilter>(m, "PoseFilter",
                         "An error-state filter of one frame with constant velocity, with the estimate after every "
                         "measurement.")
      .def("__init__", &make_filter, "acceleration"_a, "first_speed"_a, "gates"_a, "restart_ns"_a, "restart_count"_a,
           nb::sig("def __init__(self, acceleration: Sequence[float], first_speed: Sequence[float], gates: Sequence[float], "
                   "restart_ns: int, restart_count: int) -> None"))
      .def("__len__", &PoseFilter::size)
      .def("refill", &refill, "keep"_a, "stamps"_a, "sources"_a, "rows"_a,
           nb::sig("def refill(self, keep: int, stamps: bytes, sources: bytes, rows: NDArray[float64]) -> None"),
           "Forget all but the first `keep` measurements, and take these after them.\n\n"
           "Args:\n"
           "    keep: How many of the measurements before stay.\n"
           "    stamps: Their instants, int64.\n"
           "    sources: Their sources as numbers, uint32.\n"
           "    rows: (N, 43): x, y, z, w, x, y, z of a pose, or six values of a velocity, NaN where not measured, and NaN; "
           "then the\n        covariance, 36 numbers.")
      .def("answer", &answer, "stamp"_a,
           nb::sig("def answer(self, stamp: int) -> tuple[int, Transform, NDArray[float64], NDArray[float64]] | None"),
           "The estimate at an instant: the number of measurements used, the pose, the velocity, the covariance of both, "
           "(12, 12).\n\nNone before the first pose.")
      .def("outcomes", &outcomes, nb::sig("def outcomes(self) -> list[int]"),
           "What became of each measurement: 0 skipped, 1 started, 2 used, 3 rejected, 4 restarted.")
      .def("distances", &distances, nb::sig("def distances(self) -> list[float]"),
           "The squared distance of each measurement from what was predicted, in standard deviations.");
}

}  // namespace armillary::python
