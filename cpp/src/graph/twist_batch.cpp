// Questions about motion at many instants.

#include <algorithm>

#include "graph/forest_state.hpp"

namespace armillary {

Failure Forest::twists(const TwistQuestion& question, std::span<const std::int64_t> stamps, double* out) const {
  TwistQuestion asked = question;
  asked.context.want_covariance = false;
  for (std::size_t row = 0; row < stamps.size(); ++row) {
    asked.at = When::exactly({stamps[row]});
    Result<TwistAnswer> answer = twist(asked);
    if (!answer) {
      answer.failure->row = row;
      return std::move(answer.failure);
    }
    std::ranges::copy(values_of(answer.value.velocity), out + row * kTwistWidth);
  }
  return {};
}

}  // namespace armillary
