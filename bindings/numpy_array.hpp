#pragma once

// Arrays of numpy, looked at without its C headers or a call: asking for a buffer costs more than a small tape.

#include <nanobind/nanobind.h>

#include <cstddef>
#include <functional>
#include <span>

namespace nb = nanobind;

namespace armillary::python {

/// What is used of numpy, found once.
class Numpy {
 public:
  [[nodiscard]] static const Numpy& get();

  [[nodiscard]] nb::object empty(std::span<const std::size_t> shape) const;
  /// A `numpy.float64`.
  [[nodiscard]] nb::object number(double value) const;
  /// A float64 array in C order; null, and no error set, where there is none.
  [[nodiscard]] nb::object converted(nb::handle value) const;

 private:
  friend class ArrayView;
  Numpy();

  nb::object empty_, asarray_, float64_, c_order_, ndarray_;
  nb::object dtype_;  // the one object that every array of native float64 has
  bool is_laid_out_as_documented_ = false;
};

/// The memory of a float64 array in C order, for as long as this lives.
class ArrayView {
 public:
  ArrayView() = default;
  ~ArrayView() { close(); }
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;

  /// False: `array` is not of that kind, or may not be written to.
  [[nodiscard]] bool open(nb::handle array, bool to_write = false);

  [[nodiscard]] double* data() const { return data_; }
  [[nodiscard]] int dimensions() const { return dimensions_; }
  [[nodiscard]] std::span<const Py_ssize_t> sizes() const { return {shape_, static_cast<std::size_t>(dimensions_)}; }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(shape_[0]); }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(shape_[dimensions_ - 1]); }
  [[nodiscard]] bool overlaps(const ArrayView& other) const {
    const std::less<const double*> before;
    return before(data_, other.end()) && before(other.data_, end());
  }

 private:
  [[nodiscard]] bool look(nb::handle array, bool to_write);
  [[nodiscard]] bool ask(nb::handle array, bool to_write);
  [[nodiscard]] const double* end() const;
  void close() {
    if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  }

  double* data_ = nullptr;
  int dimensions_ = 0;
  const Py_ssize_t* shape_ = nullptr;
  Py_buffer buffer_{};
};

}  // namespace armillary::python
