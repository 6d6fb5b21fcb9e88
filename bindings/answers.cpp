#include "answers.hpp"

#include "convert.hpp"
#include "raise.hpp"

namespace armillary::python {

using namespace nb::literals;

bool Pose::is_frame_form() const {
  const auto is = [](const nb::object& name, const nb::object& frame) { return !name.is_valid() || same_name(name, frame); };
  return is(point, of) && is(reference_point, in_frame) && is(expressed_in, in_frame);
}

AnswerTypes& answer_types() {
  static auto* only = new AnswerTypes{nb::borrow(nb::type<Pose>()), nb::borrow(nb::type<Twist>())};
  return *only;
}

nb::object plain_text(nb::handle text) {
  return PyUnicode_CheckExact(text.ptr()) ? nb::borrow(text) : nb::steal(PyUnicode_FromObject(text.ptr()));
}

namespace {

bool has_control_character(nb::handle text) {
  for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text.ptr()); ++i) {
    const Py_UCS4 letter = PyUnicode_READ_CHAR(text.ptr(), i);
    if (letter < 0x20 || (letter >= 0x7f && letter < 0xa0) || (letter >= 0xd800 && letter < 0xe000)) return true;
  }
  return false;
}

}  // namespace

nb::object checked_name(nb::handle value, const char* name) {
  if (!PyUnicode_Check(value.ptr()))
    raise("InvalidName", std::string(name) + " must be a frame name (str), got " + shown(value) + ".", value);
  if (PyUnicode_GET_LENGTH(value.ptr()) == 0)
    raise("InvalidName", std::string(name) + " cannot be empty. Name the frame.", value);
  if (PyUnicode_READ_CHAR(value.ptr(), 0) == '/')
    raise("InvalidName", std::string(name) + " = " + shown(value) + " begins with '/'. Drop it.", value);
  if (has_control_character(value))
    raise("InvalidName", std::string(name) + " = " + shown(value) + " has a control character.", value);
  return plain_text(value);
}

nb::object optional_name(nb::handle value, const char* name) {
  return value.is_none() ? nb::object() : checked_name(value, name);
}

bool same_name(const nb::object& a, const nb::object& b) { return a.is(b) || a.equal(b); }

template <typename Answer>
nb::object covariance_array(const Answer& answer) {
  switch (answer.certainty) {
    case Certainty::unknown:
      return nb::none();
    case Certainty::exact:
      return read_only_array(Covariance{}.values.data(), {6, 6});
    case Certainty::known:
      return read_only_array(answer.covariance->values.data(), {6, 6});
  }
  return nb::none();
}
template nb::object covariance_array(const PoseAnswer&);
template nb::object covariance_array(const TwistAnswer&);

template <typename Answer>
void set_covariance(Answer& answer, nb::handle covariance) {
  answer.certainty = Certainty::unknown;
  if (covariance.is_none()) return;
  answer.covariance = std::make_unique<Covariance>(as_covariance(covariance, "covariance"));
  answer.certainty = Certainty::known;
}
template void set_covariance(PoseAnswer&, nb::handle);
template void set_covariance(TwistAnswer&, nb::handle);

nb::object edge_in(const nb::object& catalog, RelationId id) {
  nb::object edge = nb::steal(PyObject_GetItem(catalog.ptr(), nb::int_(id).ptr()));
  if (edge.is_valid()) return edge;
  PyErr_Clear();  // removed while it was asked for
  return nb::none();
}

namespace {

nb::object held_class() { return nb::module_::import_("armillary.transforms").attr("HeldSample"); }

}  // namespace

nb::tuple held_tuple(const HeldSamples* held, const nb::object& catalog) {
  if (held == nullptr) return nb::make_tuple();
  const nb::object make = held_class();
  nb::list samples;
  for (const HeldSample& sample : *held) {
    const bool has_relation = catalog.is_valid() && sample.relation != kNone;
    samples.append(make("relation"_a = has_relation ? edge_in(catalog, sample.relation) : nb::none(),
                        "age_s"_a = static_cast<double>(sample.age.ns) / 1e9,
                        "joint"_a = sample.joint.empty() ? nb::none() : nb::object(nb::str(sample.joint.c_str()))));
  }
  return nb::tuple(samples);
}

nb::object checked_held(nb::handle given) {
  if (given.is_none() || given.ptr() == Py_False) return {};
  const nb::object kind = held_class();
  const bool is_list = PyTuple_Check(given.ptr()) || PyList_Check(given.ptr());
  const nb::tuple held = is_list ? nb::steal<nb::tuple>(PySequence_Tuple(given.ptr())) : nb::make_tuple(given);
  for (nb::handle sample : held)
    if (!nb::isinstance(sample, kind))
      raise("InvalidArgument", "held is a tuple of HeldSample, empty where nothing was held, got " + shown(given) + ".", given);
  return nb::len(held) == 0 ? nb::object() : nb::object(held);
}

std::string held_text(const nb::tuple& held) {
  std::string text;
  for (nb::handle sample : held) text += (text.empty() ? "" : "; ") + printed(sample);
  return text;
}

nb::tuple relation_names(const RelationList& relations, const nb::object& catalog) {
  nb::list names;
  if (catalog.is_valid())
    for (const RelationId id : relations.ids()) names.append(edge_in(catalog, id));
  return nb::tuple(names);
}

nb::object own_catalog(nb::handle names, RelationList& relations) {
  const nb::list catalog = nb::steal<nb::list>(PySequence_List(names.ptr()));
  if (!catalog.is_valid()) throw nb::python_error();
  for (RelationId id = 0; id < nb::len(catalog); ++id) relations.push_back(id);
  return catalog;
}

}  // namespace armillary::python
