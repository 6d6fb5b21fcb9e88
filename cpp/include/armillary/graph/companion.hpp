#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace armillary {

/// What is published together with the frames, so that readers see both through one version. Immutable once given.
///
/// Destroyed by whoever writes next, under the forest's writer lock, some time after the last reader left: it must not
/// call the forest, nor anything that waits for who might.
struct Companion {
  Companion() = default;
  virtual ~Companion() = default;
  Companion(const Companion&) = default;
  Companion& operator=(const Companion&) = default;

  /// The frame that goes by another name than its own; empty where none does.
  [[nodiscard]] virtual std::string frame_called(std::string_view /*name*/) const { return {}; }
};

using CompanionPtr = std::shared_ptr<const Companion>;

}  // namespace armillary
