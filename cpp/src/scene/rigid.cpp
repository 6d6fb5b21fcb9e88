// Bodies that peers declared together though none of them did alone: a frame on two of them, or one that moves within.
//
// Which frames are on which bodies is a function of the set of changes. All that concerns bodies counts in the order of
// precedence, but for what contradicts that which counts already: a frame is on one body, and within a body nothing moves.
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

/// One thing that was said.
struct Said {
  Mark mark{};
  ChangeKind kind = ChangeKind::add_body;
  std::string of{}, other{}, source{};  // a frame, and its parent or body
  Stamp since{};
  std::shared_ptr<const FixedPose> pose{};
  bool recalibrate = false;

  /// Of one change a body comes before its frames.
  [[nodiscard]] auto order() const { return std::tuple(precedence(mark), std::string_view(of), std::string_view(other)); }
};

class Settler {
 public:
  [[nodiscard]] Rigid settle(std::vector<Said> all) {
    std::ranges::sort(all, {}, &Said::order);
    for (const Said& said : all) take(said);
    return std::move(rigid_);
  }

 private:
  void take(const Said& said) {
    switch (said.kind) {
      case ChangeKind::add_body:
        return said.of.empty() ? declare(said) : claim(said);
      case ChangeKind::fix:
        return fix(said);
      default:
        return move(said);
    }
  }

  void declare(const Said& said) {
    const auto [there, is_free] = rigid_.on.emplace(said.other, said.other);
    if (!is_free) return leave_out(said, Idle::Reason::on_other_body, there->second);
    rigid_.bodies.insert(said.other);
  }

  void claim(const Said& said) {
    const std::string present = body_of(said.of);
    if (present == said.other) return;
    if (!present.empty()) return leave_out(said, Idle::Reason::on_other_body, present);
    if (!rigid_.bodies.contains(said.other)) return leave_out(said, Idle::Reason::on_other_body, body_of(said.other));
    rigid_.on[said.of] = said.other;
    if (!moves_within(said.other)) return;
    rigid_.on.erase(said.of);
    leave_out(said, Idle::Reason::moves_in_body, said.other);
  }

  void fix(const Said& said) {
    const auto contradicts = [&](const Said& other) {
      return other.of == said.of && other.pose && is_within(other, body_of(said.of)) &&
             (other.other != said.other || !is_same(*other.pose, *said.pose));
    };
    if (!said.recalibrate && is_within_one(said) && std::ranges::any_of(taken_, contradicts))
      return leave_out(said, Idle::Reason::constant_in_body, body_of(said.of));
    taken_.push_back(said);
  }

  void move(const Said& said) {
    if (is_within_one(said)) return leave_out(said, Idle::Reason::constant_in_body, body_of(said.of));
    taken_.push_back(said);
  }

  [[nodiscard]] std::string body_of(const std::string& frame) const {
    const auto found = rigid_.on.find(frame);
    return found == rigid_.on.end() ? std::string{} : found->second;
  }

  [[nodiscard]] bool is_within(const Said& said, const std::string& body) const {
    return body_of(said.of) == body && body_of(said.other) == body;
  }

  [[nodiscard]] bool is_within_one(const Said& said) const {
    return !body_of(said.of).empty() && is_within(said, body_of(said.of));
  }

  /// Whether something that counts moves on a body.
  [[nodiscard]] bool moves_within(const std::string& body) const {
    std::map<std::pair<std::string, std::string>, const FixedPose*> fixed;  // by frame and source
    for (const Said& said : taken_) {
      if (!is_within(said, body)) continue;
      if (!said.pose) return true;
      const auto [other, is_first] = fixed.emplace(std::pair(said.of, said.source), said.pose.get());
      if (!is_first && !is_same(*other->second, *said.pose)) return true;
    }
    return false;
  }

  void leave_out(const Said& said, Idle::Reason reason, const std::string& body) {
    Idle idle{.kind = said.kind, .reason = reason, .body = body};
    const bool is_claim = said.kind == ChangeKind::add_body;
    idle.fact = {.of = is_claim ? said.other : said.of,
                 .in_frame = is_claim ? std::string{} : said.other,
                 .source = said.source,
                 .since = said.since,
                 .pose = said.pose,
                 .recalibrate = said.recalibrate};
    if (is_claim && !said.of.empty()) idle.fact.frames = {said.of};
    rigid_.idle.push_back(std::move(idle));
  }

  Rigid rigid_;
  std::vector<Said> taken_;  // poses and twists that count
};

}  // namespace

void Facts::settle_bodies() {
  std::vector<Said> all;
  std::set<std::string> claimed;
  for (BodyClaim& claim : body_claims()) {
    claimed.insert({claim.frame, claim.body});
    all.push_back({claim.mark, ChangeKind::add_body, std::move(claim.frame), std::move(claim.body)});
  }
  for (const std::string& name : claimed) {
    const Frame* frame = find(name);
    if (frame == nullptr) continue;
    for (const auto& [source, track] : frame->tracks)
      for (Word& word : words(*frame, track))
        if (!word.is_closed && claimed.contains(word.in_frame))
          all.push_back({word.mark, word.pose ? ChangeKind::fix : ChangeKind::add_relation, name, std::move(word.in_frame),
                         source, word.since, std::move(word.pose), word.recalibrate});
    for (const auto& [twist, mark] : frame->twists)
      if (claimed.contains(twist.first) && counts(*frame, twist.first, mark))
        all.push_back({mark, ChangeKind::add_twist_relation, name, twist.first, twist.second});
  }
  rigid_ = Settler().settle(std::move(all));
}

}  // namespace armillary::scene
