#pragma once

// How the calls of a world change frames: each makes a change record, or fails and changes nothing.

#include <functional>

#include "world.hpp"

namespace armillary::python {

using Act = std::function<Failure(scene::FrameAssertion&)>;

/// Whether the GIL is given away for as long as `act` takes: long ones wait for nobody who has it.
enum class Gil { kept, released };

/// Does `act`, records what it did, and tells the observers of the scene; where it fails nothing has happened.
/// `act` may complete what is said of it, and must not touch Python.
Failure change_frames(Self self, scene::ChangeKind kind, scene::FrameAssertion assertion, bool for_undo, const Act& act,
                      Gil gil = Gil::kept);

/// Samples of a relation: where nobody has spoken of that yet, the relation is said first.
Failure add_samples(Self self, scene::FrameAssertion relation, const Act& act, Gil gil = Gil::kept);

/// A fact in plain values, and back. What comes from elsewhere is checked as what is said here.
[[nodiscard]] nb::object assertion_tuple(const scene::FrameAssertion* assertion);
[[nodiscard]] std::shared_ptr<const scene::FrameAssertion> assertion_from(scene::ChangeKind kind, nb::handle value);

/// As it is kept: with a unit quaternion.
[[nodiscard]] std::shared_ptr<const FixedPose> fixed_pose(const FixedPose& pose);

}  // namespace armillary::python
