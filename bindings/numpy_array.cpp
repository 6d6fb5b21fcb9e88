#include "numpy_array.hpp"

#include <array>
#include <cstdint>

namespace armillary::python {

namespace {

/// `PyArrayObject_fields`, as numpy's C API documents it; the same in numpy 1 and 2.
struct NumpyArray {
  PyObject head;
  char* data;
  int dimensions;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
};

constexpr int kInCOrder = 0x0001, kAligned = 0x0100, kWritable = 0x0400;

const NumpyArray& fields(nb::handle array) { return *reinterpret_cast<const NumpyArray*>(array.ptr()); }

bool is_as_documented(nb::handle array, nb::handle dtype) {
  const NumpyArray& a = fields(array);
  const auto address = nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data"));
  return reinterpret_cast<std::uintptr_t>(a.data) == address && a.dimensions == 2 && a.shape[0] == 3 && a.shape[1] == 5 &&
         a.strides[0] == 40 && a.base == nullptr && a.dtype == dtype.ptr() && (a.flags & kInCOrder) != 0 &&
         (a.flags & kAligned) != 0 && (a.flags & kWritable) != 0;
}

nb::object call(const nb::object& function, PyObject* const* args, std::size_t count) {
  return nb::steal(PyObject_Vectorcall(function.ptr(), args, count, nullptr));
}

}  // namespace

Numpy::Numpy() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  empty_ = numpy.attr("empty");
  asarray_ = numpy.attr("asarray");
  float64_ = numpy.attr("float64");
  ndarray_ = numpy.attr("ndarray");
  c_order_ = nb::str("C");
  dtype_ = numpy.attr("dtype")(float64_);
  is_laid_out_as_documented_ = is_as_documented(empty(std::array<std::size_t, 2>{3, 5}), dtype_);
}

const Numpy& Numpy::get() {
  static const Numpy* const only = new Numpy;
  return *only;
}

nb::object Numpy::empty(std::span<const std::size_t> shape) const {
  const nb::object sizes = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!sizes.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(sizes.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSize_t(shape[i]));
  PyObject* const args[] = {sizes.ptr()};
  nb::object array = call(empty_, args, 1);
  if (!array.is_valid()) throw nb::python_error();
  return array;
}

nb::object Numpy::number(double value) const { return float64_(value); }

nb::object Numpy::converted(nb::handle value) const {
  PyObject* const args[] = {value.ptr(), float64_.ptr(), c_order_.ptr()};
  nb::object array = call(asarray_, args, 3);
  if (!array.is_valid()) PyErr_Clear();
  return array;
}

bool ArrayView::look(nb::handle array, bool to_write) {
  const Numpy& numpy = Numpy::get();
  if (!numpy.is_laid_out_as_documented_ || reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) != numpy.ndarray_.ptr())
    return false;
  const NumpyArray& a = fields(array);
  const int needed = kInCOrder | kAligned | (to_write ? kWritable : 0);
  if (a.dtype != numpy.dtype_.ptr() || (a.flags & needed) != needed) return false;
  data_ = reinterpret_cast<double*>(a.data);
  dimensions_ = a.dimensions;
  shape_ = a.shape;
  return true;
}

bool ArrayView::ask(nb::handle array, bool to_write) {
  close();
  const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (to_write ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(array.ptr(), &buffer_, flags) != 0) {
    PyErr_Clear();
    return false;
  }
  data_ = static_cast<double*>(buffer_.buf);
  dimensions_ = buffer_.ndim;
  shape_ = buffer_.shape;
  return buffer_.format[0] == 'd' && buffer_.format[1] == '\0';
}

bool ArrayView::open(nb::handle array, bool to_write) { return look(array, to_write) || ask(array, to_write); }

const double* ArrayView::end() const {
  Py_ssize_t count = 1;
  for (int i = 0; i < dimensions_; ++i) count *= shape_[i];
  return data_ + count;
}

}  // namespace armillary::python
