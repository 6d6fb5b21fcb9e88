#pragma once

#include <memory>

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
};

using CompanionPtr = std::shared_ptr<const Companion>;

}  // namespace armillary
