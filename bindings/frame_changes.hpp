#pragma once

// How single calls of a world change frames: each is a request that the store applies, or fails and changes nothing.

#include <functional>

#include "world.hpp"

namespace armillary::python {

/// Whether the GIL is given away for as long as the change takes: long ones wait for nobody who has it.
enum class Gil { kept, released };

/// Applies one request, and notifies the observers of the scene. A failure is what the frames of the world do not allow; what is
/// refused for another reason raises.
Failure change_frames(Self self, scene::ChangeRequest request, bool for_undo = true, Gil gil = Gil::kept);
/// Applies the request that `make` makes while nobody else changes the store; `make` must not touch Python.
Failure change_frames(Self self, const std::function<Result<scene::ChangeRequest>()>& make);

/// A request for a change of frames.
[[nodiscard]] scene::ChangeRequest request_for(log::Payload payload);

/// Writes samples of a relation that begins at `since`: by `write`, or where nobody has named the relation yet, by the change
/// that names it, as `first`.
Failure add_samples(Self self, const scene::RelationName& relation, Stamp since, const std::function<Failure()>& write,
                    const std::function<FrameEdit()>& first, Gil gil = Gil::kept);

/// Whether that was chosen for the samples of a relation.
[[nodiscard]] bool has_interpolation(Self self, const scene::RelationName& relation, SampleInterpolation interpolation);
/// Writes samples, of which the first is at `since`, of a relation that gets another interpolation with them, or begins with
/// them: all or nothing.
Failure add_interpolated(Self self, const scene::RelationName& relation, SampleInterpolation interpolation, Stamp since,
                         FrameEdit samples, Gil gil = Gil::kept);
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
