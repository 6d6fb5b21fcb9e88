#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "answers.hpp"
#include "armillary/graph/candidates.hpp"
#include "armillary/graph/forest.hpp"
#include "armillary/scene/store.hpp"
#include "gil.hpp"
#include "raise.hpp"

namespace nb = nanobind;

namespace armillary::python {

struct JointChannel;

/// A Python function that the bindings call.
class Upcall : nb::object {
 public:
  Upcall() = default;
  explicit Upcall(nb::object function) : nb::object(std::move(function)) {}
  template <typename... Arguments>
  nb::object operator()(Arguments&&... arguments) const {
    return call_python([&] { return nb::object::operator()(std::forward<Arguments>(arguments)...); });
  }
  /// Of two objects; null, and the Python error set, where it raises.
  [[nodiscard]] nb::object or_null(nb::handle first, nb::handle second) const {
    PyObject* const arguments[] = {first.ptr(), second.ptr()};
    return call_python([&] { return nb::steal(PyObject_Vectorcall(ptr(), arguments, 2, nullptr)); });
  }
};

/// The Python functions that the bindings call, taken from `armillary.store.upcalls.Upcalls` when a store is made, so that a
/// missing one is found there. Each takes the store first, but for those that are about a value alone.
struct Upcalls {
  Upcall admit_name, declare_name, recall_name, knows_name, recall_joint;     // what a name may be, and whether it is known
  Upcall check_new_pose, read_twist, store_twist, resolve_pending;            // rules of bodies; twists that wait for poses
  Upcall complete_joints, complete_joint_series, joints_came, wheels_turned;  // joints that follow from others
  Upcall admit_joints, admit_joint_series;                                    // names that are no variables; limits
  Upcall pose_between_points, by_policy, with_velocities;                     // questions that Python puts together
  Upcall notify;                                                              // observers, in the order of the changes
  Upcall warn_of_dropped;                                                     // samples of a batch that are not kept
  Upcall as_transform, as_joint_covariance, as_joint_covariances, with_row;   // values: no store

  Upcalls() = default;
  explicit Upcalls(nb::handle given);
};

/// The frame of a node that was asked for by its id.
struct KnownNode {
  nb::object id, key, label;
};

/// The native base of `armillary.store.Store`: a Forest, the change log, and the Python objects that name their parts.
struct StoreCore {
  std::shared_ptr<Forest> forest;
  std::shared_ptr<scene::Store> store;  // all changes of structure go through it
  nb::dict ids;                         // name -> frame id: what has been asked for before
  nb::dict keys;                        // of those, what the forest and the log know the frame by, where that is another name
  nb::dict labels;                      // of those, what people know the frame by, where that is another name
  std::unordered_map<NodeId, KnownNode> nodes;  // the same for nodes that were asked for by their ids
  nb::dict catalog;                             // relation id -> (of, in_frame, source); replaced where many of them are gone
  RelationId catalogued = 0;                    // lower ids are in it
  nb::list bodies;                              // names of declared bodies, in the order of their numbers

  nb::dict joint_places;  // name -> place in `joints`: what has been named before
  std::vector<VariablePtr> joints;
  std::vector<std::shared_ptr<JointChannel>> joint_channels;  // those written last

  Upcalls upcalls;

  nb::object own_name;  // the source of assertions that are made without a source
  QueryContext defaults;
  std::int64_t max_ahead_ns = -1;             // negative: no limit
  bool has_pending = false;                   // twists wait for poses
  bool has_loops = false;                     // joints that follow from others are computed when those are set
  bool is_observed = false;                   // an observer is attached
  std::unordered_set<std::string> followers;  // names of joints that follow others by a factor, and are no variables
  std::uint64_t edits = 0;                    // how often structure or a fixed pose was changed beside the scene
  std::uint64_t relabelled = 0;               // as the store counted it when the catalog was made

  StoreCore() = default;
};

/// The native base of World: it forwards the calls that a robot program makes most to its store, without a step in Python.
struct WorldFace {
  nb::object store;
  StoreCore* core = nullptr;  // of the store
};

/// A store, as a binding gets it: the store itself, or a World that has it.
class Self : public nb::handle {
 public:
  Self() = default;
  /// Accepts a Store or a World; anything else is not valid. Raises InvalidArgument for one that was not initialised.
  explicit Self(nb::handle given);
  [[nodiscard]] StoreCore& core() const { return *core_; }

 private:
  StoreCore* core_ = nullptr;
};

/// One path, as a policy that native calls take.
struct PathChoice {
  ChosenSources sources;
};

[[nodiscard]] inline StoreCore& core(Self self) { return self.core(); }

/// Does `work(scene::Store&)` while no other thread changes the store. It must not touch Python.
///
/// The GIL is given away while another thread has the store, since who changes much does so without the GIL.
template <typename Work>
auto with_changes(Self self, Work work) {
  const std::shared_ptr<scene::Store> store = core(self).store;
  for (;;) {
    if (const scene::Store::Hold hold(*store, std::try_to_lock); hold) return work(*store);
    without_gil([&] { const scene::Store::Hold until_free(*store); });
  }
}

[[nodiscard]] inline std::uint64_t demand_of(const Failure& failure) {
  return failure.kind() == FailureKind::not_received ? failure->demand : 0;
}
template <typename T>
[[nodiscard]] std::uint64_t demand_of(const Result<T>& result) {
  return demand_of(result.failure);
}
[[nodiscard]] inline std::uint64_t demand_of(const Sweep& sweep) {
  std::uint64_t number = 0;
  for (const Sweep::Missing& one : sweep.missing) number = std::max(number, demand_of(one.failure));
  return number;
}

/// Waits, without the GIL, until what was demanded was seen to; whether to ask again.
[[nodiscard]] bool is_served(const StoreCore& world, std::uint64_t demand, double& left_s);

/// What `ask` returns; where samples are not received that it needs, they are demanded, and it is asked again.
template <typename Ask>
auto received(const StoreCore& world, Ask ask) {
  auto found = ask();
  if (demand_of(found) == 0) [[likely]]
    return found;
  double left_s = world.forest->demands().timeout_s();
  while (demand_of(found) != 0 && is_served(world, demand_of(found), left_s)) found = ask();
  return found;
}

/// The frame's number, or UnknownFrame / InvalidName.
/// `spelt` is set where people know the frame by another name: a NodeId was given, or another spelling.
[[nodiscard]] FrameId frame_id(Self self, nb::handle name, nb::object* spelt = nullptr);

/// Whether a frame has this name; else UnknownFrame or InvalidName is set as the Python error.
[[nodiscard]] bool recalls(Self self, nb::handle name);

/// What the clock of the world tells.
[[nodiscard]] inline nb::object now_of(Self self) {
  return call_python([&] { return nb::object(self.attr("now")()); });
}

/// Answers a question by a policy that C++ does not know: `arguments` are those of the question.
template <typename... Arguments>
nb::object by_policy(Self self, const char* question, Arguments&&... arguments) {
  return core(self).upcalls.by_policy(self, question, std::forward<Arguments>(arguments)...);
}

/// Tries the twists that wait for poses. To be called after whatever may have made a pose known.
inline void resolve_pending(Self self) {
  if (core(self).has_pending) core(self).upcalls.resolve_pending(self);
}

/// Turns a failure into the Python error that carries its evidence.
[[nodiscard]] nb::object error_of(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame,
                                  bool inserting);
[[noreturn]] void raise_failure(const StoreCore& world, const Failure& failure, nb::handle of, nb::handle in_frame,
                                bool inserting = false);

/// Whether C++ answers by itself; every other policy, which is a callable, is answered in Python.
[[nodiscard]] bool is_native_policy(nb::handle policy);
/// Whether it is 'unique', or one path.
[[nodiscard]] bool is_unique_policy(nb::handle policy);
[[nodiscard]] QueryContext as_context(const StoreCore& world, nb::handle outside, nb::handle policy, nb::handle interpolation,
                                      nb::handle hold_up_to_s);
/// The names as they are stored, where that differs from what was asked.
struct Spelling {
  nb::object of, in_frame;
};
[[nodiscard]] Question as_question(Self self, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at,
                                   nb::handle fixed_frame, const QueryContext& context, Spelling& spelling);
[[nodiscard]] Pose make_pose(const StoreCore& world, PoseAnswer answer, nb::handle of, nb::handle in_frame);
/// With the paths that the policy was given.
[[nodiscard]] Pose make_policy_pose(const StoreCore& world, PolicyAnswer answer, nb::handle of, nb::handle in_frame);
/// The class of the answers of policies.
[[nodiscard]] nb::handle policy_pose_type(Self self);
[[nodiscard]] Twist make_twist(const StoreCore& world, TwistAnswer answer, nb::handle of, nb::handle relative_to,
                               nb::handle expressed_in, nb::handle point);

/// A body alone has no axes to express a motion along.
[[noreturn]] void raise_without_axes(nb::handle body);

/// The frame's number where the name has been asked for before; null otherwise.
[[nodiscard]] PyObject* known_id(const StoreCore& world, nb::handle name);
/// The name as it will be stored: an old one, or a new one that is allowed.
[[nodiscard]] nb::object admitted(Self self, nb::handle name);
/// Refuses to place a node that has no frame of its own: that would place what it is in.
void check_own_frame(Self self, nb::handle of);
/// The name in its one stored form, known or not; InvalidName where no frame can have it.
[[nodiscard]] nb::object stored_name(nb::handle name);
/// What the forest and the log know a frame by, which is given by name or by NodeId.
[[nodiscard]] std::string frame_key(const StoreCore& world, nb::handle name);
/// What people know a frame by, which is given by name or by NodeId.
[[nodiscard]] std::string frame_label(const StoreCore& world, nb::handle name);
[[nodiscard]] std::vector<std::string> frame_labels(const StoreCore& world, std::vector<std::string> keys);
/// What people call the sources of one frame; a parent that is called like another of them keeps its id.
[[nodiscard]] std::vector<std::string> source_labels(const StoreCore& world, std::vector<std::string> sources);
/// The source of a frame that people call so, which may be a parent: by its name, or by its id.
[[nodiscard]] std::string source_key(const StoreCore& world, FrameId of, nb::handle source);
/// Forgets which names were asked for: frames or their names may have changed.
void forget_names(StoreCore& world);
/// Follows names that passed from one frame to another.
void sync_labels(StoreCore& world);
/// Who speaks: the one given, or the world itself.
[[nodiscard]] nb::object source_of(Self self, nb::handle source);
void remember(StoreCore& world, nb::handle name);
void check_ahead(Self self, std::int64_t stamp_ns, std::ptrdiff_t row = -1);
/// Warns, once for each `what`, that samples of a batch are older than what is kept beside its newest.
void warn_of_dropped(Self self, std::span<const std::int64_t> stamps_ns, const Retention& kept, const std::string& what);

/// A relation on its way in.
struct Edge {
  nb::object of, in_frame, source;

  [[nodiscard]] EdgeName name() const;
  [[nodiscard]] scene::RelationName relation() const;
};
/// Names that may be made by use, and rules of bodies that a relation may break from its first instant on.
[[nodiscard]] Edge admitted_edge(Self self, nb::handle of, nb::handle in_frame, nb::handle source, Stamp from);
/// What is left to do when a relation was written, or could not be.
void finish(Self self, const Edge& edge, const Failure& failure);

/// The default values of keyword arguments, so that the usual case is one comparison of pointers.
struct Words {
  nb::object raise = nb::steal(PyUnicode_InternFromString("raise"));
  nb::object unique = nb::steal(PyUnicode_InternFromString("unique"));
};
[[nodiscard]] const Words& words();
/// A signature for the stub file: `head`, then the arguments of every question, then what it answers.
[[nodiscard]] std::string signature(const char* head, const char* answer);
/// Names the row of the batch at fault.
[[noreturn]] void raise_batch_failure(Self self, const Failure& failure, nb::handle of, nb::handle in_frame,
                                      bool inserting = false);

/// Brings the catalog up to date after relations were made. Answers keep the one that they were made with.
void sync_catalog(StoreCore& world);
/// The catalog, with these relations in it.
[[nodiscard]] const nb::dict& catalog_with(const StoreCore& world, std::span<const RelationId> relations);
/// The same for the names of bodies.
void sync_bodies(StoreCore& world);

void bind_world_writing(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face);
void bind_world_twists(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face);
void bind_world_twist_writing(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face);
void bind_world_queries(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face);
void bind_world_variables(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face);
void bind_world_reports(nb::module_& m, nb::class_<StoreCore>& world);
void bind_world_candidates(nb::module_& m, nb::class_<StoreCore>& world);
void bind_judgement(nb::class_<Pose>& pose);
void bind_world_waits(nb::module_& m, nb::class_<StoreCore>& world);
void bind_world_changes(nb::class_<StoreCore>& world);
void bind_sample_tap(nb::module_& m, nb::class_<StoreCore>& store);
void bind_demands(nb::module_& m, nb::class_<StoreCore>& store);

/// Raises why the store refused a change.
[[noreturn]] void raise_refusal(Self self, const scene::Refusal& refusal);

}  // namespace armillary::python

/// Functions that take a store are bound on Store and World alike: either is accepted for it.
template <>
struct nanobind::detail::type_caster<armillary::python::Self> {
  NB_TYPE_CASTER(armillary::python::Self, const_name("StoreCore"))
  bool from_python(handle source, uint8_t, cleanup_list*) {
    value = armillary::python::Self(source);
    return value.is_valid();
  }
  static handle from_cpp(const armillary::python::Self& store, rv_policy, cleanup_list*) noexcept { return store.inc_ref(); }
};
