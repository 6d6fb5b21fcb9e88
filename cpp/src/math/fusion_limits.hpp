#pragma once

// When the iterations of a fusion end, whichever way it is solved.

namespace armillary::fusion {

inline constexpr int kMostRounds = 20;
inline constexpr double kLargestTurn = 0.7;           ///< [rad] of one round
inline constexpr double kConvergedDeviations = 1e-7;  ///< of a step, in deviations of the estimate
inline constexpr double kConverged = 1e-12;           ///< [m, rad] of a step
inline constexpr double kHalfTurn = 3.0;              ///< [rad]: beyond, the logarithm is ambiguous

}  // namespace armillary::fusion
