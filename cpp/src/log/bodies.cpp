// Which frames are on which bodies. Within a body nothing moves.

#include "armillary/log/bodies.hpp"

#include <algorithm>
#include <list>
#include <tuple>

#include "armillary/graph/body_rule.hpp"

namespace armillary::log {

namespace {

constexpr const char* kReasons[] = {"cycle", "on_other_body", "no_body", "moves_in_body", "constant_in_body"};

PlaceInBody<std::string> place_of(const Slot& slot) {
  const auto* fixed = std::get_if<Fixed>(&slot.payload->value);
  return {slot.parent(), fixed == nullptr ? nullptr : &fixed->pose->value};
}

/// A body that is declared, a frame that is claimed for one, or a relation between two such frames.
struct Candidate {
  enum class Kind : std::uint8_t { body, claim, relation };
  ChangePtr record{};
  Kind kind = Kind::body;
  std::string body{}, frame{};
  const Slot* slot = nullptr;
  Signature strength = record->signature();

  /// Stronger first; of one record a body before its frames.
  [[nodiscard]] bool operator<(const Candidate& other) const {
    if (strength != other.strength) return stronger(strength, other.strength);
    return std::tie(kind, body, frame) < std::tie(other.kind, other.body, other.frame);
  }
};

/// A record that puts frames on a body declares the body, too: a later declaration does not weaken it.
Signature strength_of(const Candidate& body, const std::vector<Candidate>& all) {
  Signature strongest = body.strength;
  for (const Candidate& other : all)
    if (other.body == body.body && stronger(other.record->signature(), strongest)) strongest = other.record->signature();
  return strongest;
}

/// Takes candidates, the strongest first, but for what contradicts those already taken.
class BodyRules {
 public:
  explicit BodyRules(ResolvedBodies& out) : out_(out) {}

  void take(const Candidate& candidate) {
    switch (candidate.kind) {
      case Candidate::Kind::body:
        return declare(candidate);
      case Candidate::Kind::claim:
        return claim(candidate);
      case Candidate::Kind::relation:
        return relate(candidate);
    }
  }

 private:
  void refuse(const Candidate& candidate, Reason reason, const std::string& body) {
    if (candidate.slot != nullptr) out_.breaks.insert(candidate.record->id);
    out_.inactive.push_back({.id = candidate.record->id, .reason = reason, .frame = candidate.frame, .body = body});
  }

  void declare(const Candidate& candidate) {
    const auto [there, is_free] = out_.on.emplace(candidate.body, candidate.body);
    if (!is_free && there->second != candidate.body) return refuse(candidate, Reason::on_other_body, there->second);
    out_.bodies.insert(candidate.body);
  }

  void claim(const Candidate& candidate) {
    const std::string present = body_of(candidate.frame), body_is_on = body_of(candidate.body);
    if (!present.empty() && present != candidate.body) return refuse(candidate, Reason::on_other_body, present);
    if (!out_.bodies.contains(candidate.body))
      return refuse(candidate, body_is_on.empty() ? Reason::no_body : Reason::on_other_body, body_is_on);
    if (moves_within(candidate.body, candidate.frame)) return refuse(candidate, Reason::moves_in_body, candidate.body);
    out_.on.emplace(candidate.frame, candidate.body);
  }

  void relate(const Candidate& candidate) {
    const Slot& slot = *candidate.slot;
    const std::string body = body_of(slot.payload->track.of);
    const bool is_within = !body.empty() && body_of(slot.parent()) == body;
    if (is_within && (!slot.is<Fixed>() || contradicts_taken(slot, body)))
      return refuse(candidate, Reason::constant_in_body, body);
    taken_.push_back(&slot);
  }

  /// Whether another pose of the same frame in the body is taken. A recalibration corrects it.
  [[nodiscard]] bool contradicts_taken(const Slot& slot, const std::string& body) const {
    return !slot.payload->recalibrate && std::ranges::any_of(taken_, [&](const Slot* other) {
      const Track &own = slot.payload->track, &theirs = other->payload->track;
      return other->is<Fixed>() && theirs.of == own.of && theirs.kind == own.kind && body_of(other->parent()) == body &&
             contradict(place_of(*other), place_of(slot));
    });
  }

  /// Whether a relation that is taken would move within the body with one more frame on it: it is sampled or driven, or has
  /// two values. Recalibrated ones count as constant.
  [[nodiscard]] bool moves_within(const std::string& body, const std::string& more) const {
    const auto is_on = [&](const std::string& frame) { return frame == more || body_of(frame) == body; };
    std::map<std::pair<Track, std::string>, const Slot*> first_of;
    for (const Slot* slot : taken_) {
      if (!is_on(slot->payload->track.of) || !is_on(slot->parent())) continue;
      if (slot->is<Fixed>() && slot->payload->recalibrate) continue;
      const Slot& first = *first_of.emplace(std::pair(slot->payload->track, slot->parent()), slot).first->second;
      if (contradict(place_of(first), place_of(*slot))) return true;
    }
    return false;
  }

  [[nodiscard]] std::string body_of(const std::string& frame) const {
    const auto found = out_.on.find(frame);
    return found == out_.on.end() ? std::string{} : found->second;
  }

  ResolvedBodies& out_;
  std::vector<const Slot*> taken_{};
};

}  // namespace

const char* name_of(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

const std::string& ResolvedBodies::of(const std::string& frame) const {
  const auto found = on.find(frame);
  return found == on.end() ? frame : found->second;
}

ResolvedBodies resolve_bodies(const ChangeLog& log) {
  ResolvedBodies out;
  std::vector<Candidate> candidates;
  std::set<std::string> claimed;
  for (const auto& [body, record] : log.bodies())
    if (is_declared_body(log, body)) candidates.push_back({record, Candidate::Kind::body, body});
  for (const auto& [name, frame] : log.frames())
    for (const auto& [body, record] : frame.claims)
      if (std::get<SetBody>(record->payload).present) candidates.push_back({record, Candidate::Kind::claim, body, name});
  if (candidates.empty()) return out;
  for (const Candidate& candidate : candidates) claimed.insert({candidate.body, candidate.frame});
  for (Candidate& body : candidates)
    if (body.kind == Candidate::Kind::body) body.strength = strength_of(body, candidates);
  std::list<std::vector<Slot>> slots;  // candidates point into it
  for (const std::string& name : claimed)
    if (const FrameEntry* frame = log.find_frame(name))
      for (const auto& [key, track] : frame->tracks)
        for (const Slot& slot : slots.emplace_back(slots_of(log, track).slots))
          if (!slot.is<Ended>() && claimed.contains(slot.parent()))
            candidates.push_back({slot.record, Candidate::Kind::relation, {}, {}, &slot});
  std::ranges::sort(candidates, std::less<>());
  BodyRules rules(out);
  for (const Candidate& candidate : candidates) rules.take(candidate);
  return out;
}

}  // namespace armillary::log
