// The wire form of a change, derived from the tables of its fields.

#include <algorithm>
#include <array>
#include <cmath>

#include "log/change_fields.hpp"

namespace armillary::log {

namespace {

Json encode(const AttributeValue& value);
Json encode(const FixedPose& pose);
Json encode(const FixedPosePtr& pose);
Json encode(const std::shared_ptr<const Placement>& placement);
Json encode(const AssertedValue& value);
template <Tabled T>
Json encode(const T& owner);
template <typename T>
Json encode(const std::optional<T>& value);
template <typename T>
Json encode(const std::vector<T>& values);

Json::Array numbers(std::span<const double> values) { return Json::Array(values.begin(), values.end()); }

Json encode(bool truth) { return truth; }
Json encode(std::uint8_t number) { return std::int64_t{number}; }
Json encode(std::uint64_t number) { return static_cast<std::int64_t>(number); }
Json encode(const std::string& text) { return text; }
Json encode(const NodeId& id) { return id.text(); }
Json encode(const Stamp& stamp) {
  return stamp == Stamp::always() || stamp == Stamp::never() ? Json() : Json(std::int64_t{stamp.ns});
}
Json encode(const HybridTimestamp& time) { return Json::Array{time.wall_ns, std::int64_t{time.count}}; }
Json encode(const Dot& dot) { return Json::Array{author_text(dot.author), encode(dot.sequence)}; }
Json encode(const Signature& signature) {
  return Json::Array{signature.time.wall_ns, std::int64_t{signature.time.count}, std::int64_t{signature.authority},
                     author_text(signature.id.author), encode(signature.id.sequence)};
}
Json encode(const AuthorPtr& author) { return author ? Json(Json::Array{author->name, author_text(author->bearer)}) : Json(); }
Json encode(const Track& track) { return Json::Array{std::string(name_of(track.kind)), track.of, track.source}; }
Json encode(const Subject& subject) {
  return Json::Object{{subject.kind == Subject::Kind::frame ? "frame" : "variable", subject.name}};
}
template <Named T>
Json encode(T value) {
  return std::string(name_of(value));
}

Json encode_attribute(bool truth) { return truth; }
Json encode_attribute(std::int64_t number) { return number; }
Json encode_attribute(double number) {
  if (std::isfinite(number)) return number;
  return Json::Object{{"float", std::string(number > 0 ? "inf" : "-inf")}};
}
Json encode_attribute(const std::string& text) { return text; }
Json encode_attribute(const AttributeValue::List& list) {
  Json::Array items;
  for (const AttributeValue& item : list) items.push_back(encode(item));
  return items;
}
Json encode(const AttributeValue& value) {
  return std::visit([](const auto& stored) { return encode_attribute(stored); }, value.storage());
}

Json encode(const Setting& setting) { return Json::Array{setting.key, setting.value ? encode(*setting.value) : Json()}; }
Json encode(const VariableSetting& setting) { return Json::Array{setting.name, setting.kind ? encode(*setting.kind) : Json()}; }
Json encode(const std::shared_ptr<const Content>& content) {
  return content ? Json(hex_text(std::as_bytes(std::span(content->digest)))) : Json();
}
Json encode(const Tape& tape) { return hex_text(tape.encode()); }

Json encode(const Transform& pose) {
  const Rotation& q = pose.rotation;
  const Vector3& p = pose.translation;
  return numbers(std::array{p.x, p.y, p.z, q.w, q.x, q.y, q.z});
}

void encode_into(const FixedPose& pose, Json::Object& out) {
  out.emplace_back("pose", encode(pose.value));
  out.emplace_back("certainty", encode(pose.certainty));
  if (pose.certainty != Certainty::known) return;
  std::array<double, Covariance::kPacked> packed;
  pose.covariance.pack(packed);
  out.emplace_back("covariance", numbers(packed));
}

void encode_into(const FixedPosePtr& pose, Json::Object& out) { encode_into(*pose, out); }

template <typename T>
Json encode(const std::vector<T>& values) {
  Json::Array items;
  for (const T& value : values) items.push_back(encode(value));
  return items;
}

Json encode(const JointMotion& motion) {
  const auto axis = [](const Vector3& v) { return numbers(std::array{v.x, v.y, v.z}); };
  return Json::Object{{"kind", std::string(to_string(motion.kind))},
                      {"origin", encode(motion.origin)},
                      {"axes", Json::Array{axis(motion.axis), axis(motion.second_axis)}},
                      {"multiplier", motion.multiplier},
                      {"offset", motion.offset},
                      {"pitch", motion.pitch}};
}

Json encode(const std::shared_ptr<const DrivenForm>& form) {
  Json::Object out;
  if (form->motion) {
    out.emplace_back("joint", encode(*form->motion));
  } else {
    Json::Object tapes{{"value", encode(*form->value)}, {"jacobian", encode(*form->jacobian)}};
    if (form->loop) {
      tapes.emplace_back("residual", encode(form->loop->residual()));
      tapes.emplace_back("slope", encode(form->loop->slope()));
    }
    out.emplace_back("tapes", std::move(tapes));
  }
  out.emplace_back("positions", encode(form->positions));
  out.emplace_back("velocities", encode(form->velocities));
  return out;
}

template <Tabled T>
void encode_into(const T& owner, Json::Object& out) {
  for_each_field(owner, [&](const auto& field, const auto& value) {
    if constexpr (Inlined<std::remove_cvref_t<decltype(value)>>)
      if (*field.name == '\0') return encode_into(value, out);
    out.emplace_back(field.name, encode(value));
  });
}

template <Tabled T>
Json encode(const T& owner) {
  Json::Object out;
  encode_into(owner, out);
  return out;
}

Json encode(const FixedPose& pose) {
  Json::Object out;
  encode_into(pose, out);
  return out;
}

Json encode(const FixedPosePtr& pose) { return pose ? encode(*pose) : Json(); }
Json encode(const std::shared_ptr<const Placement>& placement) { return placement ? encode(*placement) : Json(); }

template <typename T>
Json encode(const std::optional<T>& value) {
  return value ? encode(*value) : Json();
}

Json encode(const AssertedValue& value) {
  if (const Empty* empty = std::get_if<Empty>(&value); empty != nullptr && empty->sampled_in.empty()) return {};
  return std::visit([](const auto& one) { return Json(Json::Object{{one.kType, encode(one)}}); }, value);
}

}  // namespace

Json to_json(const Change& change) {
  Json::Object out;
  encode_into(change, out);
  out.emplace_back("type", std::string(change.type()));
  std::visit([&](const auto& payload) { encode_into(payload, out); }, change.payload);
  return out;
}

namespace {

/// Calls f(name, value) for each field by its name in JSON, those of inlined members too.
template <typename Owner, typename F>
void for_each_named(const Owner& owner, const F& f) {
  for_each_field(owner, [&](const auto& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (Tabled<Value>)
      if (*field.name == '\0') return for_each_named(value, f);
    f(field.name, value);
  });
}

template <std::size_t I = 0>
void add_names(std::vector<std::string>& names) {
  if constexpr (I < std::variant_size_v<Payload>) {
    for_each_named(std::variant_alternative_t<I, Payload>{}, [&](const char* name, const auto&) {
      if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    });
    add_names<I + 1>(names);
  }
}

}  // namespace

std::optional<Json> field_of(const Change& change, std::string_view name) {
  std::optional<Json> found;
  const auto look = [&](const char* field, const auto& value) {
    if (name == field) found = encode(value);
  };
  for_each_named(change, look);
  if (!found) std::visit([&](const auto& payload) { for_each_named(payload, look); }, change.payload);
  return found;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for_each_named(Change{}, [&](const char* name, const auto&) { names.emplace_back(name); });
  add_names(names);
  return names;
}

}  // namespace armillary::log
