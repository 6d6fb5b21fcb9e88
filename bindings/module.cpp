#include <nanobind/nanobind.h>

#include "gil.hpp"
#include "modules.hpp"

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // a dispatcher thread may hold a world when the interpreter ends
  // What is no exception of C++ is the end of the thread, see GilGivenAway: the last place where it can be met.
  nanobind::register_exception_translator([](const std::exception_ptr& exception, void*) {
    if (!exception) armillary::python::stay_for_ever();
    std::rethrow_exception(exception);
  });
  m.doc() = "The native core of Armillary.";
  armillary::python::bind_rotation(m);
  armillary::python::bind_transform(m);
  armillary::python::bind_pose(m);
  armillary::python::bind_twist(m);
  armillary::python::bind_world(m);
  armillary::python::bind_node_id(m);
  armillary::python::bind_change(m);
  armillary::python::bind_change_request(m);
  armillary::python::bind_scene_view(m);
  armillary::python::bind_tape(m);
  armillary::python::bind_loaded_tape(m);
  armillary::python::bind_filter(m);
  armillary::python::bind_loop(m);
  armillary::python::bind_tape_function(m);
  armillary::python::bind_wire(m);
  armillary::python::explain_refusals(m);
}
