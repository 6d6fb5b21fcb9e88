#pragma once

#include <nanobind/nanobind.h>

namespace armillary::python {

void bind_rotation(nanobind::module_& m);
void bind_transform(nanobind::module_& m);
void bind_pose(nanobind::module_& m);
void bind_twist(nanobind::module_& m);
void bind_world(nanobind::module_& m);
void bind_node_id(nanobind::module_& m);
void bind_change(nanobind::module_& m);
void bind_change_request(nanobind::module_& m);
void bind_scene_view(nanobind::module_& m);
void bind_tape(nanobind::module_& m);
void bind_loaded_tape(nanobind::module_& m);
void bind_filter(nanobind::module_& m);
void bind_loop(nanobind::module_& m);
void bind_tape_function(nanobind::module_& m);
void bind_wire(nanobind::module_& m);
/// After all others: errors of calls whose arguments do not fit, and signatures for `inspect`.
void explain_refusals(nanobind::module_& m);
/// `tp_init` of values that are made by static methods: raises an error that names them.
int refuse_to_construct(PyObject* self, PyObject* arguments, PyObject* names);

}  // namespace armillary::python
