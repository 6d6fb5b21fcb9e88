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

nb::tuple follow_loop_rows(const Tape& closure, nb::handle equations, nb::handle rows) {
  const std::size_t zeros = as_count(equations, "equations");
  const bool fits = zeros > 0 && closure.outputs() % zeros == 0 && closure.outputs() / zeros > 1 &&
                    closure.outputs() / zeros - 1 <= std::min(zeros, closure.inputs());
  if (!fits)
    raise("InvalidArgument", "The tape gives what must be zero and its derivatives along at most as many positions, got " +
                                 std::to_string(closure.outputs()) + " outputs for " + std::to_string(zeros) + " equations.");
  ArrayView view;
  if (!view.open(rows, true) || view.dimensions() != 2 || view.columns() != closure.inputs() || view.rows() == 0)
    raise(
        "InvalidArgument",
        "rows must be a float64 array of shape (N, " + std::to_string(closure.inputs()) + ") in C order that can be written to.",
        rows);
  std::vector<std::uint8_t> uncertain(view.rows());
  const auto follow = [&] { return follow_rows(closure, zeros, view.rows(), view.data(), uncertain.data()); };
  const FollowedRows followed = view.rows() > 2 ? without_gil(follow) : follow();
  nb::list marked;
  for (std::size_t row = 0; row < uncertain.size(); ++row)
    if (uncertain[row] != 0) marked.append(row);
  return nb::make_tuple(followed.rows, followed.reached, marked);
}

}  // namespace

void bind_loop(nb::module_& m) {
  m.def("follow_loop_rows", &follow_loop_rows, "closure"_a, "equations"_a, "rows"_a,
        nb::sig("def follow_loop_rows(closure: Tape, equations: int, rows: NDArray[float64]) -> tuple[int, float, list[int]]"),
        "Close a loop for many values of its drivers, in place, each on the branch of the row before.\n\n"
        "Args:\n"
        "    closure: From all positions, the dependents last, to what must be zero and its slopes along the dependents.\n"
        "    equations: How many numbers must be zero.\n"
        "    rows: (N, positions); the first row is closed, the dependents of the others are found.\n\n"
        "Returns:\n"
        "    How many rows are closed; how much of the way to the next one could be followed; the rows on the way to which\n"
        "    branches meet, so that which one they are on cannot be told.");
}

}  // namespace armillary::python
