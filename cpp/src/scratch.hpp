#pragma once

#include <vector>

#include "armillary/path.hpp"

namespace armillary {

/// Working memory of one reading thread, so that asking allocates nothing.
struct Scratch {
  PathFinder finder;
  Path path, second;
  std::vector<Series::Probe> probes;
  std::vector<Evaluation> values;  // per edge: `up` then `down`

  static Scratch& of_this_thread() {
    thread_local Scratch scratch;
    return scratch;
  }
};

}  // namespace armillary
