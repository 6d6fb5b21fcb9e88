#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "armillary/graph/forest.hpp"
#include "numpy_array.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// Float64 numbers in C order, whatever they were made from; checked against `shape` (-1: any length).
///
/// The numbers of a float64 array are not copied, and few numbers in a tuple or list are read without numpy.
class Doubles {
 public:
  Doubles(nb::handle value, const char* name, std::initializer_list<Py_ssize_t> shape);
  [[nodiscard]] const double* data() const { return few_ > 0 ? numbers_.data() : view_.data(); }
  [[nodiscard]] std::size_t rows() const { return few_ > 0 ? few_ : view_.rows(); }
  Doubles(const Doubles&) = delete;
  Doubles& operator=(const Doubles&) = delete;

 private:
  [[nodiscard]] bool read_few(nb::handle value, std::initializer_list<Py_ssize_t> shape);

  nb::object array_;
  ArrayView view_;
  std::size_t few_ = 0;  // so many are in `numbers_`; 0: they are in the array
  std::array<double, 7> numbers_{};
};

/// Reads a tuple or list of so many plain numbers, without numpy; false for anything else.
[[nodiscard]] bool read_numbers(nb::handle value, std::span<double> numbers);

/// An int64 array of stamps, from whatever armillary.stamps takes; floats are refused with the hint.
class Stamps {
 public:
  Stamps(nb::handle value, const char* name);
  [[nodiscard]] const nb::object& array() const { return array_; }
  [[nodiscard]] std::span<const std::int64_t> span() const {
    return {static_cast<const std::int64_t*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(std::int64_t)};
  }
  ~Stamps() { PyBuffer_Release(&view_); }
  Stamps(const Stamps&) = delete;
  Stamps& operator=(const Stamps&) = delete;

 private:
  nb::object array_;
  Py_buffer view_{};
};

/// numpy.asarray(value), or InvalidArgument.
[[nodiscard]] nb::object any_array(nb::handle value, const char* name);

/// One stamp: an int, or whatever else armillary.stamps takes for an instant; never a float or a bool.
[[nodiscard]] std::int64_t as_stamp(nb::handle value, const char* name);
/// One stamp as a Python integer, for what is computed in Python.
[[nodiscard]] nb::object stamp_object(nb::handle value, const char* name);
/// A stamp, or LATEST.
[[nodiscard]] When as_when(nb::handle value, const char* name);
[[nodiscard]] nb::object stamp_or_none(Stamp stamp);
/// The duration of a central difference; None is zero, and means the derivative of the interpolated pose.
[[nodiscard]] Duration as_window(nb::handle value);
/// How many there are of something: an int that is not below zero.
[[nodiscard]] std::size_t as_count(nb::handle value, const char* name);
[[nodiscard]] bool as_flag(nb::handle value, const char* name);

/// The text of a Python string, which must outlive the result.
[[nodiscard]] std::string_view text_of(nb::handle string);

/// A new read-only numpy array that owns a copy of `values`.
[[nodiscard]] nb::object read_only_array(const double* values, std::initializer_list<std::size_t> shape);
/// Stamps, values and covariances; None where no row has one.
[[nodiscard]] nb::tuple arrays_of(SampleTable table);
/// A new array of numpy, whose numbers `out` points to.
[[nodiscard]] nb::object new_array(double** out, std::initializer_list<std::size_t> shape);

/// A (6, 6) covariance, or six variances.
[[nodiscard]] Covariance as_covariance(nb::handle value, const char* name);
/// How many dimensions an array has; InvalidArgument for what is none.
[[nodiscard]] int dimensions_of(nb::handle value, const char* name);
/// Packed covariances of many samples, NaN where one is unknown; empty where none are given.
[[nodiscard]] std::vector<double> checked_sides(nb::handle covariances, std::size_t count);

/// The one object armillary.stamps.LATEST.
[[nodiscard]] nb::handle latest();

/// 'fallback', 'plain' or 'statement'.
Rank rank_from(nb::handle rank);

}  // namespace armillary::python
