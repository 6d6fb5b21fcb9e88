#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "armillary/detail/sha256.hpp"
#include "armillary/graph/driven_form.hpp"
#include "armillary/graph/provider.hpp"
#include "armillary/graph/variables.hpp"
#include "armillary/log/attribute_value.hpp"
#include "armillary/log/json.hpp"
#include "armillary/log/node_id.hpp"
#include "armillary/log/node_kind.hpp"
#include "armillary/log/timestamp.hpp"
#include "armillary/series/stamp.hpp"

// The change record: the one form in which structure is written, stored, sent and read back.
//
// Each struct below lists its fields once, in `fields()`. The JSON encoder and decoder, the Python class and the stub
// follow from these lists. A stamp that is not given (`null`) has the value that the member has by default.

namespace armillary::log {

/// One field of a struct: its name in JSON and Python, and what a text in it must be. Without a name the fields of the
/// member stand among those of the struct.
enum class Text : std::uint8_t { any, name };

template <typename Owner, typename Value>
struct Field {
  const char* name;
  Value Owner::* member;
  Text text = Text::any;
};
template <typename Owner, typename Value>
Field(const char*, Value Owner::*, Text = Text::any) -> Field<Owner, Value>;

// -- Parts of payloads

/// Who signs changes. The key in the id of a change is made of both.
struct Author {
  std::string name{};
  std::uint64_t bearer = 0;  ///< tells the processes and copies of one name apart
};
using AuthorPtr = std::shared_ptr<const Author>;

using FixedPosePtr = std::shared_ptr<const FixedPose>;

/// How a relation stands among rivals: `fallback` never contests, `statement` is preferred by itself while it is open.
using armillary::Rank;

using armillary::SampleInterpolation;

enum class TrackKind : std::uint8_t { pose, twist };

/// What one source says of one frame, over all time: of its pose, or of its motion.
struct Track {
  TrackKind kind = TrackKind::pose;
  std::string of{}, source{};
  friend auto operator<=>(const Track&, const Track&) = default;
};

/// What a node carries, opaque to the log: a shape, the ends of a connection. The digest tells contents apart.
struct Content {
  Digest digest{};
  std::shared_ptr<const void> object{};
};

/// Where a Transform is in its parent when it is made.
struct Placement {
  FixedPose pose{};
  bool is_fixed = false;  ///< always there; otherwise the first sample of its history
  std::string source{};

  static constexpr auto fields() {
    return std::tuple(Field{"", &Placement::pose}, Field{"is_fixed", &Placement::is_fixed}, Field{"source", &Placement::source});
  }
};

/// A containment edge; its identity is the id of the record that adds it.
struct Edge {
  NodeId parent{};
  Incarnation parent_incarnation{};
  FixedPosePtr pose{};  ///< of the node in this parent, where it is another than before
  Rank rank = Rank::plain;

  static constexpr auto fields() {
    return std::tuple(Field{"parent", &Edge::parent}, Field{"parent_incarnation", &Edge::parent_incarnation},
                      Field{"pose", &Edge::pose}, Field{"rank", &Edge::rank});
  }
};

/// A key with its new value; none erases it.
struct Setting {
  std::string key{};
  std::optional<AttributeValue> value{};
};

struct VariableSetting {
  std::string name{};
  std::optional<VariableKind> kind{};  ///< none: taken back
};

/// What a preference is about.
struct Subject {
  enum class Kind : std::uint8_t { frame, variable };
  Kind kind = Kind::frame;
  std::string name{};
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

// -- Values of an assertion

/// The slot is taken back. Nothing resurfaces below it. That samples come under one parent is a slot of its own: see
/// `sampled_in`.
struct Empty {
  static constexpr const char* kType = "empty";
  std::string sampled_in{};  ///< the parent under which samples were announced; empty: what was given beside samples

  static constexpr auto fields() { return std::tuple(Field{"sampled_in", &Empty::sampled_in, Text::name}); }
};

struct Fixed {
  static constexpr const char* kType = "fixed";
  std::string in_frame{};
  FixedPosePtr pose{};

  static constexpr auto fields() { return std::tuple(Field{"in_frame", &Fixed::in_frame, Text::name}, Field{"", &Fixed::pose}); }
};

struct Driven {
  static constexpr const char* kType = "driven";
  std::string in_frame{};
  std::shared_ptr<const DrivenForm> form{};

  static constexpr auto fields() {
    return std::tuple(Field{"in_frame", &Driven::in_frame, Text::name}, Field{"form", &Driven::form});
  }
};

/// Samples come, under this parent; of a twist track, relative to this frame or body.
struct Sampled {
  static constexpr const char* kType = "sampled";
  std::string in_frame{};
  SampleInterpolation interpolation = SampleInterpolation::linear;

  static constexpr auto fields() {
    return std::tuple(Field{"in_frame", &Sampled::in_frame, Text::name}, Field{"interpolation", &Sampled::interpolation});
  }
};

/// The source says nothing of the frame from here on.
struct Ended {
  static constexpr const char* kType = "ended";
  static constexpr auto fields() { return std::tuple(); }
};

using AssertedValue = std::variant<Empty, Fixed, Driven, Sampled, Ended>;

/// The parent that a value names; empty where it names none.
[[nodiscard]] const std::string& parent_of(const AssertedValue& value);
/// The parent under which samples are announced by a value, or were by what it takes back; empty where it is about none.
[[nodiscard]] const std::string& sampled_in(const AssertedValue& value);

// -- The payloads, and the slots that they write

/// Begins an incarnation of a node, with its first parent and its first attributes.
struct AddNode {
  static constexpr const char* kType = "add_node";
  NodeId node{};
  Incarnation incarnation{};
  NodeKind kind = NodeKind::group;
  std::shared_ptr<const Content> content{};      ///< of a Geometry or a Connection
  std::shared_ptr<const Placement> placement{};  ///< of a Transform
  std::string frame_name{};                      ///< of its own frame, or of the frame that it stands for; empty: named by its id
  std::vector<Setting> settings{};
  Edge edge{};

  static constexpr auto fields() {
    return std::tuple(Field{"node", &AddNode::node}, Field{"incarnation", &AddNode::incarnation}, Field{"kind", &AddNode::kind},
                      Field{"content", &AddNode::content}, Field{"placement", &AddNode::placement},
                      Field{"frame_name", &AddNode::frame_name}, Field{"settings", &AddNode::settings},
                      Field{"edge", &AddNode::edge});
  }
};

/// Adds one containment edge. Edges are an add-wins set.
struct AddEdge {
  static constexpr const char* kType = "add_edge";
  NodeId node{};
  Incarnation incarnation{};
  Edge edge{};
  bool restores = false;  ///< the node was removed before, as far as its author knew; no meaning for resolve

  static constexpr auto fields() {
    return std::tuple(Field{"node", &AddEdge::node}, Field{"incarnation", &AddEdge::incarnation}, Field{"", &AddEdge::edge},
                      Field{"restores", &AddEdge::restores});
  }
};

/// Tombstones for the edges that its author saw: they end at `at`.
struct RemoveEdges {
  static constexpr const char* kType = "remove_edges";
  NodeId node{};
  Incarnation incarnation{};
  std::vector<Dot> dots{};
  std::optional<NodeId> parent{};  ///< all edges to this parent, or to all of them, were meant; no meaning for resolve

  static constexpr auto fields() {
    return std::tuple(Field{"node", &RemoveEdges::node}, Field{"incarnation", &RemoveEdges::incarnation},
                      Field{"dots", &RemoveEdges::dots}, Field{"parent", &RemoveEdges::parent});
  }
};

/// One step of each of these attributes, from `at` on.
struct SetAttributes {
  static constexpr const char* kType = "set_attributes";
  NodeId node{};
  Incarnation incarnation{};
  std::vector<Setting> settings{};

  static constexpr auto fields() {
    return std::tuple(Field{"node", &SetAttributes::node}, Field{"incarnation", &SetAttributes::incarnation},
                      Field{"settings", &SetAttributes::settings});
  }
};

/// Declares frames, or takes the declaration back.
struct SetFrames {
  static constexpr const char* kType = "set_frames";
  std::vector<std::string> names{};
  bool present = true;

  static constexpr auto fields() {
    return std::tuple(Field{"names", &SetFrames::names, Text::name}, Field{"present", &SetFrames::present});
  }
};

/// A barrier: what was asserted of these frames before it is void, and with it their stand-ins.
struct RemoveFrames {
  static constexpr const char* kType = "remove_frames";
  std::vector<std::string> names{};

  static constexpr auto fields() { return std::tuple(Field{"names", &RemoveFrames::names, Text::name}); }
};

/// What a source says of a frame from `since` on. At `since` = always it voids the earlier writes of its track.
struct Assert {
  static constexpr const char* kType = "assert";
  Track track{};
  Stamp since = Stamp::always();
  AssertedValue value{};
  Rank rank = Rank::plain;
  bool recalibrate = false;  ///< another pose within a body is a correction

  static constexpr auto fields() {
    return std::tuple(Field{"track", &Assert::track}, Field{"since", &Assert::since}, Field{"value", &Assert::value},
                      Field{"rank", &Assert::rank}, Field{"recalibrate", &Assert::recalibrate});
  }
};

/// Declares a body with frames on it. `present` = false takes the frames off it, or without frames the body back.
struct SetBody {
  static constexpr const char* kType = "set_body";
  std::string body{};
  std::vector<std::string> frames{};
  bool present = true;

  static constexpr auto fields() {
    return std::tuple(Field{"body", &SetBody::body, Text::name}, Field{"frames", &SetBody::frames, Text::name},
                      Field{"present", &SetBody::present});
  }
};

/// Prefers a source from `start` until `end`; none: no preference then.
struct Prefer {
  static constexpr const char* kType = "prefer";
  Subject subject{};
  std::optional<std::string> source{};
  Stamp start = Stamp::always(), end = Stamp::never();

  [[nodiscard]] bool is_of_joint() const { return subject.kind == Subject::Kind::variable; }
  static constexpr auto fields() {
    return std::tuple(Field{"subject", &Prefer::subject}, Field{"source", &Prefer::source}, Field{"start", &Prefer::start},
                      Field{"end", &Prefer::end});
  }
};

struct SetVariables {
  static constexpr const char* kType = "set_variables";
  std::vector<VariableSetting> variables{};

  static constexpr auto fields() { return std::tuple(Field{"variables", &SetVariables::variables}); }
};

/// Samples with stamps from `start` until `end` that were made before it do not count: of poses, of motion, or of both.
struct Forget {
  static constexpr const char* kType = "forget";
  std::string of{};
  std::optional<TrackKind> kind{};                  ///< none: both
  std::optional<std::string> in_frame{}, source{};  ///< none: all
  Stamp start = Stamp::always(), end = Stamp::never();

  static constexpr auto fields() {
    return std::tuple(Field{"of", &Forget::of, Text::name}, Field{"track_kind", &Forget::kind},
                      Field{"in_frame", &Forget::in_frame, Text::name}, Field{"source", &Forget::source},
                      Field{"start", &Forget::start}, Field{"end", &Forget::end});
  }
  /// Whether it is about samples of this track under this parent.
  [[nodiscard]] bool concerns(TrackKind of_kind, const std::string& parent, const std::string& of_source) const {
    return (!kind || *kind == of_kind) && (!in_frame || *in_frame == parent) && (!source || *source == of_source);
  }
};

/// Begins a new time epoch. What held last holds since always.
struct ResetTime {
  static constexpr const char* kType = "reset_time";
  std::optional<Stamp> clock{};  ///< where the clock goes on

  static constexpr auto fields() { return std::tuple(Field{"clock", &ResetTime::clock}); }
};

using Payload = std::variant<AddNode, AddEdge, RemoveEdges, SetAttributes, SetFrames, RemoveFrames, Assert, SetBody, Prefer,
                             SetVariables, Forget, ResetTime>;

// -- The record

/// One accepted change of structure: signed, ordered, immutable.
struct Change {
  Dot id{};
  HybridTimestamp time{};
  std::uint8_t authority = 0;
  Stamp at = Stamp::always();        ///< valid time, on the time axis of `epoch`
  std::optional<Signature> epoch{};  ///< of the newest ResetTime that its author held
  AuthorPtr author{};                ///< whose key is in the id; none: not known by name
  std::string origin{};              ///< "" or what made it, as "mount:<id>"; no meaning for resolve
  Payload payload{};

  static constexpr auto fields() {
    return std::tuple(Field{"id", &Change::id}, Field{"time", &Change::time}, Field{"authority", &Change::authority},
                      Field{"at", &Change::at}, Field{"epoch", &Change::epoch}, Field{"author", &Change::author},
                      Field{"origin", &Change::origin});
  }

  [[nodiscard]] Signature signature() const { return {time, authority, id}; }
  [[nodiscard]] const char* type() const;
};

using ChangePtr = std::shared_ptr<const Change>;

/// Calls f(name, value) for each field of a struct that has a table; fields of unnamed members stand among them.
template <typename Owner, typename F>
void for_each_field(Owner& owner, F f) {
  std::apply([&](const auto&... field) { (f(field, owner.*field.member), ...); }, std::remove_const_t<Owner>::fields());
}

/// Makes quaternions canonical and sorts attributes by name, so that a change has the same bits wherever it is written and
/// read. Done when it is signed, and when it is read.
void make_canonical(Change& change);

/// The wire form of one record.
[[nodiscard]] Json to_json(const Change& change);
/// Reads what `to_json` gave. Whatever else is there, or missing, or out of bounds, is refused: throws InvalidChange.
/// Contents come without their objects.
[[nodiscard]] Change change_from_json(const Json& json);

/// One field of a record by its name in JSON; none where a change of this type has no such field.
[[nodiscard]] std::optional<Json> field_of(const Change& change, std::string_view name);
/// The names of all fields of all types of changes.
[[nodiscard]] std::vector<std::string> field_names();

/// Names of enumerators in JSON and Python.
[[nodiscard]] const char* name_of(NodeKind kind);
[[nodiscard]] const char* name_of(Rank rank);
[[nodiscard]] const char* name_of(SampleInterpolation interpolation);
[[nodiscard]] const char* name_of(TrackKind kind);
[[nodiscard]] const char* name_of(VariableKind kind);
[[nodiscard]] const char* name_of(Certainty certainty);

/// 16 hexadecimal digits.
[[nodiscard]] std::string author_text(std::uint64_t author);

/// Root, and the node of what is detached: they have no parents, and one incarnation alone.
[[nodiscard]] constexpr bool is_permanent(const NodeId& id) { return id == kRootNode || id == kDetachedNode; }

/// The node that stands for a frame.
[[nodiscard]] NodeId stand_in_of(std::string_view frame);

}  // namespace armillary::log
