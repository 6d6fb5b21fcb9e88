// Reads changes from their wire form, by the tables of their fields. What is read may come from anybody.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "log/change_fields.hpp"

namespace armillary::log {

namespace {

constexpr std::size_t kLongestText = 65536;  // bytes of a name, a source or an origin
constexpr int kDeepestList = 8;              // of an attribute
constexpr std::int64_t kLatestWall = std::int64_t{1} << 62;
constexpr std::int64_t kHighestCount = std::int64_t{1} << 31;

std::string in(const char* field) { return "field '" + std::string(field) + "' "; }

/// The fields of an object; each is to be taken once, and none may be left.
class Reader {
 public:
  Reader(const Json& json, const char* what) : what_(what) {
    fields_ = json.get_if<Json::Object>();
    if (fields_ == nullptr) refuse(in(what) + "is no object");
    is_taken_.resize(fields_->size());
  }

  [[nodiscard]] const Json& take(const char* name) {
    const Json* found = find(name);
    if (found == nullptr) refuse(in(name) + "is missing");
    return *found;
  }

  [[nodiscard]] const Json* find(const char* name) {
    for (std::size_t i = 0; i < fields_->size(); ++i)
      if ((*fields_)[i].first == name) return is_taken_[i] = true, &(*fields_)[i].second;
    return nullptr;
  }

  void finish() const {
    const auto left = std::ranges::find(is_taken_, false);
    if (left == is_taken_.end()) return;
    refuse(in(what_) + "has a field that is not known: '" + (*fields_)[static_cast<std::size_t>(left - is_taken_.begin())].first +
           "'");
  }

 private:
  const char* what_;
  const Json::Object* fields_ = nullptr;
  std::vector<bool> is_taken_{};
};

const Json::Array& as_array(const Json& json, const char* field) {
  const auto* items = json.get_if<Json::Array>();
  if (items == nullptr) refuse(in(field) + "is no list");
  return *items;
}

const Json::Array& as_array(const Json& json, std::size_t length, const char* field) {
  const Json::Array& items = as_array(json, field);
  if (items.size() != length) refuse(in(field) + "has " + std::to_string(length) + " parts");
  return items;
}

std::int64_t as_integer(const Json& json, std::int64_t lowest, std::int64_t highest, const char* field) {
  const auto* number = json.get_if<std::int64_t>();
  if (number == nullptr || *number < lowest || *number > highest)
    refuse(in(field) + "is no whole number from " + std::to_string(lowest) + " to " + std::to_string(highest));
  return *number;
}

double as_number(const Json& json, const char* field) {
  if (const auto* whole = json.get_if<std::int64_t>()) return static_cast<double>(*whole);
  const auto* number = json.get_if<double>();
  if (number == nullptr || !std::isfinite(*number)) refuse(in(field) + "is no finite number");
  return *number;
}

const std::string& as_text(const Json& json, const char* field) {
  const auto* text = json.get_if<std::string>();
  if (text == nullptr) refuse(in(field) + "is no text");
  return *text;
}

std::vector<std::byte> as_bytes(const Json& json, const char* field) {
  const std::string& text = as_text(json, field);
  const auto digit = [&](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    refuse(in(field) + "is not written in hexadecimal digits");
  };
  if (text.size() % 2 != 0) refuse(in(field) + "is not written in hexadecimal digits");
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(16 * digit(text[i]) + digit(text[i + 1])));
  return bytes;
}

void decode(const Json& json, bool& out, const char* field) {
  const auto* truth = json.get_if<bool>();
  if (truth == nullptr) refuse(in(field) + "is neither true nor false");
  out = *truth;
}
void decode(const Json& json, std::uint8_t& out, const char* field) {
  out = static_cast<std::uint8_t>(as_integer(json, 0, 255, field));
}
void decode(const Json& json, std::uint64_t& out, const char* field) {
  out = static_cast<std::uint64_t>(as_integer(json, 0, std::numeric_limits<std::int64_t>::max(), field));
}
void decode(const Json& json, std::string& out, const char* field) {
  out = as_text(json, field);
  if (out.size() > kLongestText) refuse(in(field) + "is a text of more than 65536 bytes");
}
void decode(const Json& json, NodeId& out, const char* field) {
  const std::optional<NodeId> id = NodeId::parse(as_text(json, field));
  if (!id || *id == NodeId{} || id->text() != as_text(json, field)) refuse(in(field) + "is no node id");
  out = *id;
}
void decode(const Json& json, Stamp& out, const char* field) {
  if (json.is_null()) return;  // always or never, as the member says
  out = Stamp{as_integer(json, kEarliestSample.ns + 1, kLatestSample.ns - 1, field)};
}
std::uint64_t author_from(const Json& json, const char* field) {
  const std::string& text = as_text(json, field);
  std::uint64_t author = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), author, 16);
  if (error != std::errc{} || author_text(author) != text) refuse(in(field) + "names its author by 16 hexadecimal digits");
  return author;
}
Dot dot_from(const Json& author, const Json& sequence, const char* field) {
  Dot dot{author_from(author, field), 0};
  decode(sequence, dot.sequence, field);
  return dot;
}
HybridTimestamp time_from(const Json& wall, const Json& count, const char* field) {
  return {as_integer(wall, -kLatestWall, kLatestWall, field),
          static_cast<std::uint32_t>(as_integer(count, 0, kHighestCount, field))};
}
void decode(const Json& json, HybridTimestamp& out, const char* field) {
  const Json::Array& parts = as_array(json, 2, field);
  out = time_from(parts[0], parts[1], field);
}
void decode(const Json& json, Dot& out, const char* field) {
  const Json::Array& parts = as_array(json, 2, field);
  out = dot_from(parts[0], parts[1], field);
  if (out.sequence == 0) refuse(in(field) + "has a sequence that begins at one");
}
void decode(const Json& json, Signature& out, const char* field) {
  const Json::Array& parts = as_array(json, 5, field);
  decode(parts[2], out.authority, field);
  out = {time_from(parts[0], parts[1], field), out.authority, dot_from(parts[3], parts[4], field)};
}
void decode(const Json& json, AuthorPtr& out, const char* field) {
  if (json.is_null()) return;
  const Json::Array& parts = as_array(json, 2, field);
  Author author;
  decode(parts[0], author.name, field);
  author.bearer = author_from(parts[1], field);
  out = std::make_shared<const Author>(std::move(author));
}
template <Named T>
void decode(const Json& json, T& out, const char* field) {
  const std::span<const std::string_view> known = names_of(out);
  const auto found = std::ranges::find(known, as_text(json, field));
  if (found == known.end()) refuse(in(field) + "is '" + as_text(json, field) + "', which is none of its values");
  out = static_cast<T>(found - known.begin());
}
void decode(const Json& json, Track& out, const char* field) {
  const Json::Array& parts = as_array(json, 3, field);
  decode(parts[0], out.kind, field);
  decode(parts[1], out.of, field);
  decode(parts[2], out.source, field);
  check_name(out.of, field);
}
void decode(const Json& json, Subject& out, const char* field) {
  Reader reader(json, field);
  const Json* frame = reader.find("frame");
  out.kind = frame != nullptr ? Subject::Kind::frame : Subject::Kind::variable;
  decode(frame != nullptr ? *frame : reader.take("variable"), out.name, field);
  check_name(out.name, field);
  reader.finish();
}

AttributeValue attribute_from(const Json& json, int depth) {
  constexpr const char* kField = "settings";
  if (const auto* truth = json.get_if<bool>()) return *truth;
  if (const auto* number = json.get_if<std::int64_t>()) return *number;
  if (const auto* number = json.get_if<double>()) return *number;
  if (const auto* text = json.get_if<std::string>()) return *text;
  if (json.get_if<Json::Object>() != nullptr) {
    Reader reader(json, kField);
    const std::string& text = as_text(reader.take("float"), kField);
    reader.finish();
    if (text != "inf" && text != "-inf") refuse(in(kField) + "has a number that is none");
    return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  }
  if (depth >= kDeepestList) refuse(in(kField) + "has lists nested more than eight deep");
  AttributeValue::List list;
  for (const Json& item : as_array(json, kField)) list.push_back(attribute_from(item, depth + 1));
  return list;
}

void decode(const Json& json, Setting& out, const char* field) {
  const Json::Array& parts = as_array(json, 2, field);
  decode(parts[0], out.key, field);
  if (out.key.empty()) refuse(in(field) + "has a key that is empty");
  if (!parts[1].is_null()) out.value = attribute_from(parts[1], 0);
}
void decode(const Json& json, VariableSetting& out, const char* field) {
  const Json::Array& parts = as_array(json, 2, field);
  decode(parts[0], out.name, field);
  check_name(out.name, field);
  if (!parts[1].is_null()) decode(parts[1], out.kind.emplace(), field);
}
void decode(const Json& json, std::shared_ptr<const Content>& out, const char* field) {
  if (json.is_null()) return;
  const std::vector<std::byte> bytes = as_bytes(json, field);
  auto content = std::make_shared<Content>();
  if (bytes.size() != content->digest.size()) refuse(in(field) + "is no digest of 64 digits");
  std::ranges::transform(bytes, content->digest.begin(), [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
  out = std::move(content);
}
Tape tape_from(const Json& json, const char* field) {
  auto made = Tape::decode(as_bytes(json, field));
  if (const TapeFault* fault = std::get_if<TapeFault>(&made)) refuse(in(field) + "is no tape: " + fault->text());
  return std::get<Tape>(std::move(made));
}

template <std::size_t N>
std::array<double, N> numbers_from(const Json& json, const char* field) {
  const Json::Array& parts = as_array(json, N, field);
  std::array<double, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = as_number(parts[i], field);
  return out;
}

void decode(const Json& json, Transform& out, const char* field) {
  const auto [x, y, z, qw, qx, qy, qz] = numbers_from<7>(json, field);
  out = {{qw, qx, qy, qz}, {x, y, z}};
  if (!(std::abs(out.rotation.squared_norm() - 1.0) < 1e-6)) refuse(in(field) + "has a quaternion that is not of length one");
}

void decode_from(Reader& reader, FixedPose& out) {
  decode(reader.take("pose"), out.value, "pose");
  decode(reader.take("certainty"), out.certainty, "certainty");
  if (out.certainty != Certainty::known) return;
  out.covariance = Covariance::unpack(numbers_from<Covariance::kPacked>(reader.take("covariance"), "covariance"));
  if (!is_covariance(out.covariance)) refuse(in("covariance") + "is no covariance");
}

void decode_from(Reader& reader, FixedPosePtr& out) {
  FixedPose pose;
  decode_from(reader, pose);
  out = std::make_shared<const FixedPose>(pose);
}

Vector3 axis_from(const Json& json) {
  const auto [x, y, z] = numbers_from<3>(json, "axes");
  const Vector3 axis{x, y, z};
  if (!(std::abs(norm(axis) - 1.0) < 1e-9)) refuse(in("axes") + "has an axis that is not of length one");
  return axis;
}

JointMotion joint_from(const Json& json) {
  Reader reader(json, "joint");
  const std::optional<JointKind> kind = joint_kind_named(as_text(reader.take("kind"), "kind"));
  if (!kind || as_text(reader.take("kind"), "kind") != to_string(*kind)) refuse("no closed form moves like its joint");
  JointMotion motion{.kind = *kind};
  decode(reader.take("origin"), motion.origin, "origin");
  const Json::Array& axes = as_array(reader.take("axes"), 2, "axes");
  motion.axis = axis_from(axes[0]);
  motion.second_axis = axis_from(axes[1]);
  motion.multiplier = as_number(reader.take("multiplier"), "multiplier");
  motion.offset = as_number(reader.take("offset"), "offset");
  motion.pitch = as_number(reader.take("pitch"), "pitch");
  reader.finish();
  return motion;
}

void tapes_from(const Json& json, DrivenForm& form) {
  Reader reader(json, "tapes");
  form.value = tape_from(reader.take("value"), "value");
  form.jacobian = tape_from(reader.take("jacobian"), "jacobian");
  if (const Json* residual = reader.find("residual")) {
    Tape equations = tape_from(*residual, "residual"), slope = tape_from(reader.take("slope"), "slope");
    if (!Loop::fits(equations, slope)) refuse("the tapes of its loop do not fit together");
    form.loop = Loop(std::move(equations), std::move(slope));
  }
  reader.finish();
}

template <typename T>
void decode(const Json& json, std::vector<T>& out, const char* field) {
  for (const Json& item : as_array(json, field)) decode(item, out.emplace_back(), field);
}

void decode(const Json& json, std::shared_ptr<const DrivenForm>& out, const char* field) {
  Reader reader(json, field);
  DrivenForm form;
  if (const Json* joint = reader.find("joint"))
    form.motion = joint_from(*joint);
  else
    tapes_from(reader.take("tapes"), form);
  decode(reader.take("positions"), form.positions, "positions");
  decode(reader.take("velocities"), form.velocities, "velocities");
  reader.finish();
  for (const auto* all : {&form.positions, &form.velocities})
    for (const std::string& name : *all) check_name(name, field);
  if (!form.is_whole()) refuse("what drives the pose does not fit its variables");
  out = std::make_shared<const DrivenForm>(std::move(form));
}

void check_names(const std::string& name, const char* field) { check_name(name, field); }
void check_names(const std::vector<std::string>& all, const char* field) {
  for (const std::string& name : all) check_name(name, field);
}
void check_names(const std::optional<std::string>& name, const char* field) {
  if (name) check_name(*name, field);
}

template <typename T>
void decode(const Json& json, std::optional<T>& out, const char* field);
template <Tabled T>
void decode(const Json& json, T& out, const char* field);
void decode(const Json& json, FixedPose& out, const char* field);
void decode(const Json& json, FixedPosePtr& out, const char* field);
void decode(const Json& json, std::shared_ptr<const Placement>& out, const char* field);
void decode(const Json& json, AssertedValue& out, const char* field);

template <Tabled T>
void decode_from(Reader& reader, T& owner) {
  for_each_field(owner, [&](const auto& field, auto& value) {
    if constexpr (Inlined<std::remove_cvref_t<decltype(value)>>)
      if (*field.name == '\0') return decode_from(reader, value);
    decode(reader.take(field.name), value, field.name);
    if constexpr (requires { check_names(value, field.name); })
      if (field.text == Text::name) check_names(value, field.name);
  });
}

template <Tabled T>
void decode(const Json& json, T& out, const char* field) {
  Reader reader(json, field);
  decode_from(reader, out);
  reader.finish();
}

void decode(const Json& json, FixedPose& out, const char* field) {
  Reader reader(json, field);
  decode_from(reader, out);
  reader.finish();
}

void decode(const Json& json, FixedPosePtr& out, const char* field) {
  if (json.is_null()) return;
  Reader reader(json, field);
  decode_from(reader, out);
  reader.finish();
}

void decode(const Json& json, std::shared_ptr<const Placement>& out, const char* field) {
  if (json.is_null()) return;
  Placement placement;
  decode(json, placement, field);
  out = std::make_shared<const Placement>(std::move(placement));
}

template <typename T>
void decode(const Json& json, std::optional<T>& out, const char* field) {
  if (!json.is_null()) decode(json, out.emplace(), field);
}

/// Tries the alternatives of a variant by their type: f(alternative) for the one of that name.
template <typename Variant, std::size_t I = 0>
bool emplace_named(Variant& out, std::string_view type) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return false;
  } else {
    if (type != std::variant_alternative_t<I, Variant>::kType) return emplace_named<Variant, I + 1>(out, type);
    out.template emplace<I>();
    return true;
  }
}

void decode(const Json& json, AssertedValue& out, const char* field) {
  if (json.is_null()) return;
  const auto* tagged = json.get_if<Json::Object>();
  const bool is_known = tagged != nullptr && tagged->size() == 1 && emplace_named(out, tagged->front().first);
  if (!is_known) refuse(in(field) + "is neither empty, fixed, driven, sampled nor ended");
  std::visit([&](auto& one) { decode(tagged->front().second, one, field); }, out);
}

}  // namespace

Change change_from_json(const Json& json) {
  Reader reader(json, "change");
  Change change;
  decode_from(reader, change);
  (void)reader.find("batch");  // files of earlier versions have it; it had no meaning
  const std::string& type = as_text(reader.take("type"), "type");
  if (!emplace_named(change.payload, type)) refuse("there is no type '" + type + "'");
  std::visit([&](auto& payload) { decode_from(reader, payload); }, change.payload);
  reader.finish();
  check_change(change);
  make_canonical(change);
  return change;
}

}  // namespace armillary::log
