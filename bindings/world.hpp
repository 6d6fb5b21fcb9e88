#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "armillary/forest.hpp"
#include "raise.hpp"

namespace nb = nanobind;

namespace armillary::python {

/// The answer to a question about a pose, with its names.
///
/// The names that are not set take their value from `of` and `in_frame`: a plain pose is of the origin of `of`,
/// from the origin of `in_frame`, in the axes of `in_frame`.
struct Pose {
  PoseAnswer answer;
  nb::object of, in_frame;
  nb::object point, reference_point, expressed_in, body, reference_body;
  nb::object catalog;  // list: relation id -> (of, in_frame, source); null for a pose made by hand
};

/// The native part of a World: a Forest and the Python objects that name its parts.
struct WorldCore {
  std::shared_ptr<Forest> forest;
  nb::dict ids;      // name -> frame id: what has been asked for before
  nb::list catalog;  // relation id -> (of, in_frame, source)

  nb::object own_name;  // the source of what is said without a source
  QueryContext defaults;
  std::int64_t max_ahead_ns = -1;  // negative: no limit

  WorldCore() = default;
};

using Self = nb::handle_t<WorldCore>;

[[nodiscard]] inline WorldCore& core(Self self) {
  if (!nb::inst_ready(self)) raise("InvalidArgument", "This World was not initialised: call super().__init__() first.");
  return *nb::inst_ptr<WorldCore>(self);
}

/// The frame's number, or UnknownFrame / InvalidName.
/// `spelt` is set where the name is stored in another spelling.
[[nodiscard]] FrameId frame_id(Self self, nb::handle name, nb::object* spelt = nullptr);

/// Turns a failure into the Python error that carries its evidence.
[[nodiscard]] nb::object error_of(const WorldCore& world, const Failure& failure, nb::handle of, nb::handle in_frame,
                                  bool inserting);
[[noreturn]] void raise_failure(const WorldCore& world, const Failure& failure, nb::handle of, nb::handle in_frame,
                                bool inserting = false);

[[nodiscard]] QueryContext as_context(const WorldCore& world, nb::handle outside, nb::handle policy, nb::handle interpolation);
[[nodiscard]] Pose make_pose(const WorldCore& world, PoseAnswer answer, nb::handle of, nb::handle in_frame);

/// Brings the catalog up to date after relations were made.
void sync_catalog(WorldCore& world);

void bind_world_queries(nb::module_& m, nb::class_<WorldCore>& world);
void bind_world_waits(nb::module_& m, nb::class_<WorldCore>& world);

}  // namespace armillary::python
