#pragma once

// What the tests of frames that end share: assertions about a cup at single instants, and all answers about it.

#include <sstream>
#include <utility>

#include "portrait.hpp"

namespace tests {

/// Along x at one metre a nanosecond.
class Slider : public DrivenProvider {
 public:
  [[nodiscard]] Coverage coverage() const override { return {{0}, {100}}; }
  [[nodiscard]] FailureKind evaluate(Stamp at, const QueryContext&, Evaluation& out) const override {
    out.value = at_x(static_cast<double>(at.ns));
    return FailureKind::none;
  }
};

inline Failure close(World& world, std::string of, std::int64_t at, std::string source = "") {
  const FrameEdit edit = CloseFrame{std::move(of), std::move(source), {at}};
  return world.forest.transact({&edit, 1});
}

/// An assertion about one instant: a sample under one of two parents, a fixed pose, or an end.
inline void give(World& world, std::int64_t at, unsigned what) {
  if (what == 0) (void)close(world, "cup", at, "");
  if (what == 1) (void)world.put("cup", "map", {at});
  if (what == 2) (void)world.put("cup", "hand", {at});
  if (what == 3) (void)world.fix("cup", "map", at_x(0.5), {at});
}

inline std::string answers(const World& world) {
  std::ostringstream out;
  for (std::int64_t at = 0; at < 25; ++at)
    for (const QueryContext& context : {QueryContext{}, holding()}) {
      const auto answer = world.pose("cup", "map", at, context);
      out << at << ": " << (answer ? std::to_string(answer.value.transform.translation.x) : to_string(answer.failure.kind()));
    }
  return out.str();
}

}  // namespace tests
