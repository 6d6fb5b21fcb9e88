#pragma once

// How the calls of a world change frames: each makes a change record, or fails and changes nothing.

#include <functional>

#include "world.hpp"

namespace armillary::python {

using Act = std::function<Failure(log::Payload&)>;

/// Whether the GIL is given away for as long as `act` takes: long ones wait for nobody who has it.
enum class Gil { kept, released };

/// Does `act`, records what it did, and notifies the observers of the scene; where it fails nothing has happened.
/// `act` may complete the payload, and must not touch Python.
Failure change_frames(Self self, log::Payload payload, bool for_undo, const Act& act, Gil gil = Gil::kept);

/// Writes samples of a relation that begins at `since`: where nobody has named the relation yet, it is recorded first.
Failure add_samples(Self self, const scene::RelationName& relation, Stamp since, const std::function<Failure()>& write,
                    Gil gil = Gil::kept);

/// Whether that was chosen for the samples of a relation.
[[nodiscard]] bool has_interpolation(Self self, const scene::RelationName& relation, SampleInterpolation interpolation);
/// Writes samples, the oldest first, of a relation that gets another interpolation with them, or begins with them: all or
/// nothing.
Failure add_interpolated(Self self, const scene::RelationName& relation, SampleInterpolation interpolation,
                         const std::vector<PlaceSample>& samples, Gil gil = Gil::kept);
/// Lets the samples of a relation follow one another in this way, those of the past included; where nobody has named the
/// relation yet, it begins at `since`.
Failure choose_interpolation(Self self, const scene::RelationName& relation, Stamp since, SampleInterpolation interpolation,
                             bool for_undo);
/// From its name, or InvalidArgument.
[[nodiscard]] SampleInterpolation as_sample_interpolation(nb::handle name);
/// Lets `undo` take back what samples moved, if they did.
void note_moves(Self self);

/// An assertion of a fixed pose as it is recorded: with a canonical quaternion.
[[nodiscard]] log::Assert fixed_assertion(const scene::RelationName& relation, Stamp since, const FixedPose& pose,
                                          bool recalibrate = false);

}  // namespace armillary::python
