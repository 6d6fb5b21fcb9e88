#pragma once

#include <vector>

#include "armillary/graph/path.hpp"
#include "graph/twist_uncertainty.hpp"

namespace armillary {

/// A body that a search has reached, and how.
struct BodyVisit {
  BodyId body = kNone;
  std::uint32_t link = 0;     // over which
  std::uint32_t from = 0;     // index of the visit before
  bool is_reference = false;  // it is the link's reference, not its moving body
  bool is_contested = false;  // another source gives the same motion, and nothing decides
};

/// The value of one edge, and where its covariance can be read.
struct EdgeValue {
  Transform value;
  Certainty certainty = Certainty::unknown;
  Bracket rows{};  // of a sample, or between two: set where the covariance is that of rows
  double u = 0.0;  // between the two; only `before` counts where it is zero
};

/// Working memory of one reading thread, so that asking allocates nothing.
struct Scratch {
  PathFinder finder;
  Path path, second;
  Path mount;  // between two frames of one body
  std::vector<Series::Probe> probes;
  std::vector<EdgeValue> values;      // per edge: `up` then `down`; as long as all of them have a covariance
  std::vector<Motion> motions;        // pose and motion per edge, for questions about motion
  std::vector<EdgeTwist> readings;    // the measured twists of them; empty where they are not wanted
  std::vector<BodyVisit> visits;      // bodies reached on a search for measured motions
  std::vector<std::uint32_t> rivals;  // links of which one is to be chosen
  TwistUncertainty uncertainty;
  ErrorList predicted;  // the errors of one edge that is predicted
  Path turning;         // between a frame and the axes that a twist of it was given along
  HeldSamples held;     // by the question at hand

  static Scratch& of_this_thread() {
    thread_local Scratch scratch;
    return scratch;
  }
};

}  // namespace armillary
