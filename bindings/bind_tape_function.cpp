#include <functional>
#include <numeric>
#include <vector>

#include "armillary/expr/loaded_tape.hpp"
#include "armillary/expr/tape.hpp"
#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "running.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// A tape whose answers have a shape. Keeps what it runs, and what it ran before: a call may still be running it.
struct TapeFunction {
  nb::object tape;
  Running running;
  nb::object before;
};

Running running_of(nb::handle tape) {
  if (value_of<Tape>(tape) != nullptr) return running_tape(tape);
  if (value_of<LoadedTape>(tape) != nullptr) return running_loaded_tape(tape);
  raise("InvalidArgument", "A function is made of a Tape or a LoadedTape, got " + shown(tape) + ".", tape);
}

AnswerShape as_shape(nb::handle shape, std::size_t outputs) {
  std::vector<std::size_t> sizes;
  for (nb::handle size : shape) sizes.push_back(as_count(size, "shape"));
  const std::size_t numbers = std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>());
  if (sizes.size() > 2 || numbers != outputs)
    raise("InvalidArgument",
          "shape must have at most two sizes, for " + std::to_string(outputs) + " outputs, got " + shown(shape) + ".", shape);
  AnswerShape answer{.dimensions = sizes.size()};
  std::ranges::copy(sizes, answer.sizes.begin());
  return answer;
}

void init_tape_function(TapeFunction* self, nb::handle tape, nb::handle shape) {
  Running running = running_of(tape);
  running.shape = as_shape(shape, running.shape.sizes[0]);
  new (self) TapeFunction{nb::borrow(tape), running, nb::none()};
}

void switch_tape_function(TapeFunction& self, nb::handle tape) {
  Running running = running_of(tape);
  if (!self.before.is_none() || running.inputs != self.running.inputs ||
      running.shape.sizes[0] != std::accumulate(self.running.shape.sizes.begin(),
                                                self.running.shape.sizes.begin() + self.running.shape.dimensions, std::size_t{1},
                                                std::multiplies<>()))
    raise("InvalidArgument", "switch_to takes the same function in another form, once, got " + shown(tape) + ".", tape);
  running.shape = self.running.shape;
  self.before = std::move(self.tape);
  self.tape = nb::borrow(tape);
  self.running = running;
}

Running running(nb::handle self) { return checked<TapeFunction>(self).running; }

}  // namespace

void bind_tape_function(nb::module_& m) {
  auto function = nb::class_<TapeFunction>(
      m, "TapeFunction", "A tape, interpreted or compiled, whose answers are numbers, rows or matrices. Frozen.");
  function.def("__init__", &init_tape_function, "tape"_a.none(), "shape"_a.none(),
               nb::sig("def __init__(self, tape: Tape | LoadedTape, shape: tuple[int, ...]) -> None"));
  function.def("switch_to", &switch_tape_function, "tape"_a.none(),
               nb::sig("def switch_to(self, tape: Tape | LoadedTape) -> None"),
               "Run this from now on: the same function in another form, once. Calls that are running end with what they ran.");
  define_run<&running>(function, "__call__");
}

}  // namespace armillary::python
