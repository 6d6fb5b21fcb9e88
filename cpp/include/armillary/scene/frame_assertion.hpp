#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "armillary/graph/driven_form.hpp"
#include "armillary/graph/provider.hpp"
#include "armillary/graph/variables.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary::scene {

/// What a change asserts of frames, beside the nodes of the scene.
struct FrameAssertion {
  std::string of{};        ///< the frame that it is about; of `add_body` the body
  std::string in_frame{};  ///< its parent; of a twist the body that it moves relative to, or a frame on it
  std::string source{};    ///< its source
  Stamp since = Stamp::always();
  std::shared_ptr<const FixedPose> pose{};                     ///< of `fix`
  std::shared_ptr<const DrivenForm> form{};                    ///< of `drive`
  std::vector<std::pair<std::string, VariableKind>> joints{};  ///< of `add_joints` and `remove_joints`
  bool recalibrate = false;
  bool has_source = true;             ///< of `prefer`: false removes the preference
  std::vector<std::string> frames{};  ///< those that it names: they are made where they are new, or removed
  bool takes_back = false;            ///< of `remove_frame`: they were made by what is undone. It is not sent
  std::optional<Stamp> clock{};       ///< of `reset_time`: where the clock goes on
};

}  // namespace armillary::scene
