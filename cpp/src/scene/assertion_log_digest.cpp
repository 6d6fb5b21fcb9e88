// The digest of an assertion log: a line for each assertion that holds.

#include <algorithm>
#include <array>

#include "armillary/scene/assertion_log.hpp"

namespace armillary::scene {

namespace {

std::string quoted(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

std::string bytes_of(const FixedPose& pose) {
  const auto text = [](const auto& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  };
  const Rotation& q = pose.value.rotation;
  const Vector3& p = pose.value.translation;
  std::string all = text(std::array{q.w, q.x, q.y, q.z, p.x, p.y, p.z});
  if (pose.certainty == Certainty::known) all += text(pose.covariance.values);
  return all + (pose.certainty == Certainty::unknown ? "unsure" : "");
}

std::string what_of(const PoseAssertion& asserted) { return asserted.pose ? "fixed " : asserted.form ? "driven " : "closed "; }

}  // namespace

void AssertionLog::describe(const std::string& name, const Frame& frame, std::vector<std::string>& lines) const {
  if (frame.named > frame.removed) lines.push_back("frame " + quoted(name));
  for (const auto& [source, track] : frame.tracks) {
    for (const PoseAssertion& asserted : pose_assertions(frame, track)) {
      if (!asserted.is_closed) lines.push_back("pose " + quoted(name) + quoted(asserted.in_frame) + quoted(source));
      if (asserted.is_samples()) continue;
      lines.push_back(what_of(asserted) + quoted(name) + quoted(asserted.in_frame) + quoted(source) +
                      std::to_string(asserted.since.ns) +
                      (asserted.pose   ? bytes_of(*asserted.pose)
                       : asserted.form ? asserted.form->description()
                                       : ""));
    }
  }
  for (const auto& [twist, signature] : frame.twists)
    if (counts(frame, twist.first, signature))
      lines.push_back("twist " + quoted(name) + quoted(twist.first) + quoted(twist.second));
  for (const auto& [body, claims] : frame.bodies)
    if (claims.upper_bound(frame.removed) != claims.end()) lines.push_back("on " + quoted(name) + quoted(body));
  if (const std::optional<std::string> source = preferred(name)) lines.push_back("prefer " + quoted(name) + quoted(*source));
}

std::vector<std::string> AssertionLog::lines() const {
  std::vector<std::string> all;
  for (const auto& [name, frame] : frames_) describe(name, frame, all);
  for (const auto& [name, signature] : bodies_) all.push_back("body " + quoted(name));
  for (const auto& [name, joint] : joints_)
    if (joint.kind) all.push_back("joint " + quoted(name) + std::to_string(static_cast<int>(*joint.kind)));
  all.push_back("epoch " + std::to_string(resets_));
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Digest AssertionLog::digest() const {
  Sha256 hash;
  for (const std::string& line : lines()) hash.add(quoted(line));
  return hash.finish();
}

}  // namespace armillary::scene
