// Bodies that peers declared together though none of them did alone: a frame on two of them, or one that moves within.
//
// Which frames are on which bodies is a function of the set of changes. All that concerns bodies counts in the order of
// strength, but for what contradicts that which counts already: a frame is on one body, and within a body nothing moves.
// Loops do not matter here.

#include <algorithm>
#include <array>

#include "armillary/scene/assertion_log.hpp"

namespace armillary::scene {

namespace {

constexpr double kSameM = 1e-9, kSameRad = 1e-9;

bool is_same(const FixedPose& a, const FixedPose& b) {
  return norm(a.value.translation - b.value.translation) <= kSameM && a.value.rotation.angle_to(b.value.rotation) <= kSameRad;
}

/// One assertion that concerns bodies.
struct RigidAssertion {
  enum class Kind : std::uint8_t { body, pose, twist };
  Signature signature{};
  Kind kind = Kind::body;
  std::string of{}, other{}, source{};  // a frame, and its parent or body
  Stamp since{};
  std::shared_ptr<const FixedPose> pose{};
  bool recalibrate = false;

  /// Of one change a body comes before its frames.
  [[nodiscard]] auto order() const { return std::tuple(log::strength(signature), std::string_view(of), std::string_view(other)); }
};

class BodyResolver {
 public:
  [[nodiscard]] Rigid resolve(std::vector<RigidAssertion> all) {
    std::ranges::sort(all, {}, &RigidAssertion::order);
    for (const RigidAssertion& asserted : all) take(asserted);
    return std::move(rigid_);
  }

 private:
  void take(const RigidAssertion& asserted) {
    if (asserted.kind == RigidAssertion::Kind::body) return asserted.of.empty() ? declare(asserted) : claim(asserted);
    return asserted.pose ? fix(asserted) : move(asserted);
  }

  void declare(const RigidAssertion& asserted) {
    const auto [there, is_free] = rigid_.on.emplace(asserted.other, asserted.other);
    if (!is_free) return leave_out(asserted, InactiveAssertion::Reason::on_other_body, there->second);
    rigid_.bodies.insert(asserted.other);
  }

  void claim(const RigidAssertion& asserted) {
    const std::string present = body_of(asserted.of);
    if (present == asserted.other) return;
    if (!present.empty()) return leave_out(asserted, InactiveAssertion::Reason::on_other_body, present);
    if (!rigid_.bodies.contains(asserted.other))
      return leave_out(asserted, InactiveAssertion::Reason::on_other_body, body_of(asserted.other));
    rigid_.on[asserted.of] = asserted.other;
    if (!moves_within(asserted.other)) return;
    rigid_.on.erase(asserted.of);
    leave_out(asserted, InactiveAssertion::Reason::moves_in_body, asserted.other);
  }

  void fix(const RigidAssertion& asserted) {
    const auto contradicts = [&](const RigidAssertion& other) {
      return other.of == asserted.of && other.pose && is_within(other, body_of(asserted.of)) &&
             (other.other != asserted.other || !is_same(*other.pose, *asserted.pose));
    };
    if (!asserted.recalibrate && is_within_one(asserted) && std::ranges::any_of(taken_, contradicts))
      return leave_out(asserted, InactiveAssertion::Reason::constant_in_body, body_of(asserted.of));
    taken_.push_back(asserted);
  }

  void move(const RigidAssertion& asserted) {
    if (is_within_one(asserted)) return leave_out(asserted, InactiveAssertion::Reason::constant_in_body, body_of(asserted.of));
    taken_.push_back(asserted);
  }

  [[nodiscard]] std::string body_of(const std::string& frame) const {
    const auto found = rigid_.on.find(frame);
    return found == rigid_.on.end() ? std::string{} : found->second;
  }

  [[nodiscard]] bool is_within(const RigidAssertion& asserted, const std::string& body) const {
    return body_of(asserted.of) == body && body_of(asserted.other) == body;
  }

  [[nodiscard]] bool is_within_one(const RigidAssertion& asserted) const {
    return !body_of(asserted.of).empty() && is_within(asserted, body_of(asserted.of));
  }

  /// Whether something that counts moves on a body.
  [[nodiscard]] bool moves_within(const std::string& body) const {
    std::map<std::pair<std::string, std::string>, const FixedPose*> fixed;  // by frame and source
    for (const RigidAssertion& asserted : taken_) {
      if (!is_within(asserted, body)) continue;
      if (!asserted.pose) return true;
      const auto [other, is_first] = fixed.emplace(std::pair(asserted.of, asserted.source), asserted.pose.get());
      if (!is_first && !is_same(*other->second, *asserted.pose)) return true;
    }
    return false;
  }

  void leave_out(const RigidAssertion& asserted, InactiveAssertion::Reason reason, const std::string& body) {
    InactiveAssertion inactive{.reason = reason, .body = body};
    if (asserted.kind == RigidAssertion::Kind::body) {
      log::SetBody claim{.body = asserted.other};
      if (!asserted.of.empty()) claim.frames = {asserted.of};
      inactive.payload = std::move(claim);
    } else {
      const bool is_twist = asserted.kind == RigidAssertion::Kind::twist;
      log::Assert relation{.track = {is_twist ? log::TrackKind::twist : log::TrackKind::pose, asserted.of, asserted.source},
                           .since = asserted.since,
                           .value = log::Sampled{asserted.other},
                           .recalibrate = asserted.recalibrate};
      if (asserted.pose) relation.value = log::Fixed{asserted.other, asserted.pose};
      inactive.payload = std::move(relation);
    }
    rigid_.inactive.push_back(std::move(inactive));
  }

  Rigid rigid_;
  std::vector<RigidAssertion> taken_;  // poses and twists that count
};

}  // namespace

void AssertionLog::resolve_bodies() {
  std::vector<RigidAssertion> all;
  std::set<std::string> claimed;
  for (BodyClaim& claim : body_claims()) {
    claimed.insert({claim.frame, claim.body});
    all.push_back({claim.signature, RigidAssertion::Kind::body, std::move(claim.frame), std::move(claim.body)});
  }
  for (const std::string& name : claimed) {
    const Frame* frame = find(name);
    if (frame == nullptr) continue;
    for (const auto& [source, track] : frame->tracks)
      for (PoseAssertion& asserted : pose_assertions(*frame, track))
        if (!asserted.is_closed && claimed.contains(asserted.in_frame))
          all.push_back({asserted.signature, RigidAssertion::Kind::pose, name,
                         std::move(asserted.in_frame), source, asserted.since, std::move(asserted.pose), asserted.recalibrate});
    for (const auto& [twist, signature] : frame->twists)
      if (claimed.contains(twist.first) && counts(*frame, twist.first, signature))
        all.push_back({signature, RigidAssertion::Kind::twist, name, twist.first, twist.second});
  }
  rigid_ = BodyResolver().resolve(std::move(all));
}

}  // namespace armillary::scene
