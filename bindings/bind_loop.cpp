#include "armillary/expr/loop_rows.hpp"
#include "convert.hpp"
#include "gil.hpp"
#include "modules.hpp"
#include "numpy_array.hpp"
#include "raise.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

std::size_t close_loop_rows(const Tape& closure, nb::handle equations, nb::handle rows) {
  const std::size_t zeros = as_count(equations, "equations");
  const bool fits = zeros > 0 && closure.outputs() % zeros == 0 && closure.outputs() / zeros > 1 &&
                    closure.outputs() / zeros - 1 <= std::min(zeros, closure.inputs());
  if (!fits)
    raise("InvalidArgument", "The tape gives what must be zero and its derivatives along at most as many positions, got " +
                                 std::to_string(closure.outputs()) + " outputs for " + std::to_string(zeros) + " equations.");
  ArrayView view;
  if (!view.open(rows, true) || view.dimensions() != 2 || view.columns() != closure.inputs())
    raise(
        "InvalidArgument",
        "rows must be a float64 array of shape (N, " + std::to_string(closure.inputs()) + ") in C order that can be written to.",
        rows);
  return without_gil([&] { return close_rows(closure, zeros, view.rows(), view.data()); });
}

}  // namespace

void bind_loop(nb::module_& m) {
  m.def("close_loop_rows", &close_loop_rows, "closure"_a, "equations"_a, "rows"_a,
        nb::sig("def close_loop_rows(closure: Tape, equations: int, rows: NDArray[float64]) -> int"),
        "Close a loop for many values of its drivers, in place, each search from where the one before ended.\n\n"
        "Args:\n"
        "    closure: From all positions, the dependents last, to what must be zero and its slopes along the dependents.\n"
        "    equations: How many numbers must be zero.\n"
        "    rows: (N, positions); the dependents of the first row are where the search begins.\n\n"
        "Returns:\n"
        "    How many rows are closed, from the first on; the next one wants a more careful search.");
}

}  // namespace armillary::python
