#include "armillary/wire/transforms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace armillary::wire {

namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kOrigin = 4;  // CDR is aligned from behind its head
constexpr double kUnitTolerance = 0.01;

/// ROS 2 counts the zero behind a text, ROS 1 has none.
std::string_view cdr_text(Reader& reader) {
  reader.align(4, kOrigin);
  const std::string_view text = reader.text(reader.number<std::uint32_t>());
  return text.ends_with('\0') ? text.substr(0, text.size() - 1) : text;
}

void read_numbers(Reader& reader, StampedTransform& one) {
  for (const std::size_t k : {0, 1, 2, 4, 5, 6, 3}) one.pose[k] = reader.number<double>();
}

bool read_ros1(Bytes message, std::vector<StampedTransform>& found) {
  Reader reader(message);
  const auto count = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    StampedTransform& one = found.emplace_back();
    reader.skip(4);  // a sequence number
    const auto seconds = reader.number<std::uint32_t>();
    one.stamp_ns = seconds * kNsPerS + reader.number<std::uint32_t>();
    one.parent = reader.text(reader.number<std::uint32_t>());
    one.child = reader.text(reader.number<std::uint32_t>());
    read_numbers(reader, one);
  }
  return !reader.failed();
}

bool read_cdr(Bytes message, std::vector<StampedTransform>& found) {
  if (message.size() < kOrigin + 4 || message[0] != std::byte{0} || message[1] > std::byte{1}) return false;
  Reader reader(message, message[1] == std::byte{0});
  reader.skip(kOrigin);
  const auto count = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    StampedTransform& one = found.emplace_back();
    reader.align(4, kOrigin);
    const auto seconds = reader.number<std::int32_t>();
    one.stamp_ns = seconds * kNsPerS + reader.number<std::uint32_t>();
    one.parent = cdr_text(reader);
    one.child = cdr_text(reader);
    reader.align(8, kOrigin);
    read_numbers(reader, one);
  }
  return !reader.failed();
}

// -- Protobuf

struct Field {
  std::uint32_t number, kind;
};

Field next_field(Reader& reader) {
  const std::uint64_t key = reader.varint();
  return {static_cast<std::uint32_t>(key >> 3U), static_cast<std::uint32_t>(key & 7U)};
}

void skip_field(Reader& reader, std::uint32_t kind) {
  if (kind == 0)
    (void)reader.varint();
  else if (kind == 1)
    reader.skip(8);
  else if (kind == 2)
    reader.skip(reader.varint());
  else if (kind == 5)
    reader.skip(4);
  else
    reader.skip(~std::uint64_t{0});  // fails
}

/// Doubles by the numbers of their fields, from 1 on.
bool read_doubles(Bytes data, std::span<double> values) {
  Reader reader(data);
  while (reader.left() > 0 && !reader.failed()) {
    const auto [number, kind] = next_field(reader);
    if (kind == 1 && number >= 1 && number <= values.size())
      values[number - 1] = reader.number<double>();
    else
      skip_field(reader, kind);
  }
  return !reader.failed();
}

bool read_timestamp(Bytes data, std::int64_t& stamp_ns) {
  Reader reader(data);
  std::int64_t seconds = 0, nanoseconds = 0;
  while (reader.left() > 0 && !reader.failed()) {
    const auto [number, kind] = next_field(reader);
    if (kind == 0 && number == 1)
      seconds = static_cast<std::int64_t>(reader.varint());
    else if (kind == 0 && number == 2)
      nanoseconds = static_cast<std::int64_t>(reader.varint());
    else
      skip_field(reader, kind);
  }
  constexpr std::int64_t kMost = 9'000'000'000;
  if (reader.failed() || std::abs(seconds) > kMost || nanoseconds < 0 || nanoseconds >= kNsPerS) return false;
  stamp_ns = seconds * kNsPerS + nanoseconds;
  return true;
}

bool read_foxglove_one(Bytes data, std::vector<StampedTransform>& found) {
  Reader reader(data);
  StampedTransform one;
  std::array<double, 4> xyzw{};
  bool is_fine = true;
  while (reader.left() > 0 && !reader.failed() && is_fine) {
    const auto [number, kind] = next_field(reader);
    if (kind != 2) {
      skip_field(reader, kind);
      continue;
    }
    const Bytes content = reader.bytes(reader.varint());
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    if (number == 1) is_fine = read_timestamp(content, one.stamp_ns);
    if (number == 2) one.parent = text;
    if (number == 3) one.child = text;
    if (number == 4) is_fine = read_doubles(content, std::span(one.pose).first<3>());
    if (number == 5) is_fine = read_doubles(content, xyzw);
  }
  if (reader.failed() || !is_fine) return false;
  one.pose[3] = xyzw[3];
  std::copy_n(xyzw.begin(), 3, one.pose.begin() + 4);
  found.push_back(one);
  return true;
}

bool read_foxglove(Bytes message, std::vector<StampedTransform>& found) {
  Reader reader(message);
  while (reader.left() > 0 && !reader.failed()) {
    const auto [number, kind] = next_field(reader);
    if (number == 1 && kind == 2) {
      const Bytes content = reader.bytes(reader.varint());
      if (reader.failed() || !read_foxglove_one(content, found)) return false;
    } else {
      skip_field(reader, kind);
    }
  }
  return !reader.failed();
}

bool read_into(Bytes message, TransformForm form, std::vector<StampedTransform>& found) {
  switch (form) {
    case TransformForm::ros1:
      return read_ros1(message, found);
    case TransformForm::cdr:
      return read_cdr(message, found);
    case TransformForm::foxglove:
      return read_foxglove(message, found);
    case TransformForm::foxglove_one:
      return read_foxglove_one(message, found);
  }
  return false;
}

// -- Writing

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& to) : to_(to), begin_(to.size()) {}

  template <typename Number>
  void number(Number value) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof(Number)>>(value);
    to_.insert(to_.end(), raw.begin(), raw.end());
  }
  void text(std::string_view text) {
    const auto* raw = reinterpret_cast<const std::byte*>(text.data());
    to_.insert(to_.end(), raw, raw + text.size());
  }
  void align(std::size_t size) {
    while ((to_.size() - begin_ - kOrigin) % size != 0) to_.push_back(std::byte{0});
  }

 private:
  std::vector<std::byte>& to_;
  std::size_t begin_;
};

std::pair<std::int64_t, std::int64_t> seconds_and_rest(std::int64_t stamp_ns) {
  std::int64_t seconds = stamp_ns / kNsPerS;
  if (stamp_ns % kNsPerS < 0) --seconds;
  return {seconds, stamp_ns - seconds * kNsPerS};
}

void write_numbers(Writer& writer, const StampedTransform& one) {
  for (const std::size_t k : {0, 1, 2, 4, 5, 6, 3}) writer.number(one.pose[k]);
}

void write_ros(std::span<const StampedTransform> transforms, bool is_cdr, Writer& writer) {
  if (is_cdr) writer.number(std::uint32_t{0x0000'0100});  // 00 01 00 00: little endian
  writer.number(static_cast<std::uint32_t>(transforms.size()));
  for (const StampedTransform& one : transforms) {
    const auto [seconds, rest] = seconds_and_rest(one.stamp_ns);
    if (is_cdr)
      writer.align(4);
    else
      writer.number(std::uint32_t{0});
    writer.number(static_cast<std::uint32_t>(seconds));
    writer.number(static_cast<std::uint32_t>(rest));
    for (const std::string_view name : {one.parent, one.child}) {
      if (is_cdr) writer.align(4);
      writer.number(static_cast<std::uint32_t>(name.size() + (is_cdr ? 1 : 0)));
      writer.text(name);
      if (is_cdr) writer.number(std::uint8_t{0});
    }
    if (is_cdr) writer.align(8);
    write_numbers(writer, one);
  }
}

std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80U; value >>= 7U) ++size;
  return size;
}

constexpr std::size_t kDouble = 9;  // a field with a double

/// Writes where there is room: sizes are known before.
class RoomWriter {
 public:
  explicit RoomWriter(std::byte* at) : at_(at) {}

  template <typename Number>
  void number(Number value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void bytes(std::uint32_t number, std::string_view text) {
    head(number, text.size());
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void head(std::uint32_t number, std::uint64_t size) {
    field(number, 2);
    varint(size);
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) *at_++ = static_cast<std::byte>((value & 0x7FU) | 0x80U);
    *at_++ = static_cast<std::byte>(value);
  }
  void field(std::uint32_t number, std::uint32_t kind) { *at_++ = static_cast<std::byte>(number << 3U | kind); }

 private:
  std::byte* at_;
};

/// Zeros are left out elsewhere in protobuf; here they are written, so that sizes are known before.
void write_foxglove_one(const StampedTransform& one, bool is_field, std::vector<std::byte>& to) {
  const auto [seconds, rest] = seconds_and_rest(one.stamp_ns);
  const auto s = static_cast<std::uint64_t>(seconds), ns = static_cast<std::uint64_t>(rest);
  const std::size_t time = 2 + varint_size(s) + varint_size(ns);
  const std::size_t names =
      2 + varint_size(one.parent.size()) + one.parent.size() + varint_size(one.child.size()) + one.child.size();
  const std::size_t size = 2 + time + names + 4 + 7 * kDouble, begin = to.size();
  to.resize(begin + size + (is_field ? 1 + varint_size(size) : 0));
  RoomWriter writer(to.data() + begin);
  if (is_field) writer.head(1, size);
  writer.head(1, time);
  writer.field(1, 0);
  writer.varint(s);
  writer.field(2, 0);
  writer.varint(ns);
  writer.bytes(2, one.parent);
  writer.bytes(3, one.child);
  writer.head(4, 3 * kDouble);
  for (std::uint32_t k = 0; k < 3; ++k) {
    writer.field(k + 1, 1);
    writer.number(one.pose[k]);
  }
  writer.head(5, 4 * kDouble);
  for (std::uint32_t k = 0; k < 4; ++k) {
    writer.field(k + 1, 1);
    writer.number(one.pose[k == 3 ? 3 : 4 + k]);
  }
}

/// ROS 1 wrote names with a slash before them; tf2 takes it off.
std::string_view without_slash(std::string_view name) { return name.starts_with('/') ? name.substr(1) : name; }

/// Makes the quaternion a unit one; false where it is too far from that, as in tf2, or something is no number.
bool make_pose(std::array<double, 7>& pose) {
  double squared = 0.0;
  for (std::size_t k = 3; k < 7; ++k) squared += pose[k] * pose[k];
  if (!std::isfinite(pose[0] + pose[1] + pose[2]) || !(std::abs(squared - 1.0) <= kUnitTolerance)) return false;
  if (squared != 1.0)
    for (std::size_t k = 3; k < 7; ++k) pose[k] /= std::sqrt(squared);
  return true;
}

}  // namespace

std::optional<std::vector<StampedTransform>> read_transforms(Bytes message, TransformForm form) {
  std::vector<StampedTransform> found;
  if (!read_into(message, form, found)) return std::nullopt;
  return found;
}

void write_transforms(std::span<const StampedTransform> transforms, TransformForm form, std::vector<std::byte>& to) {
  Writer writer(to);
  switch (form) {
    case TransformForm::ros1:
      return write_ros(transforms, false, writer);
    case TransformForm::cdr:
      return write_ros(transforms, true, writer);
    case TransformForm::foxglove:
      for (const StampedTransform& one : transforms) write_foxglove_one(one, true, to);
      return;
    case TransformForm::foxglove_one:
      return write_foxglove_one(transforms.front(), false, to);
  }
}

TransformTable::Edge* TransformTable::edge_of(std::string_view parent, std::string_view child) {
  if (next_ >= edges_.size()) next_ = 0;
  if (next_ < edges_.size() && edges_[next_].parent == parent && edges_[next_].child == child) return &edges_[next_++];
  const auto [place, is_new] = places_.try_emplace({std::string(parent), std::string(child)}, edges_.size());
  if (is_new) {
    if (edges_.size() >= max_edges_) {
      places_.erase(place);
      return nullptr;
    }
    edges_.push_back({std::string(parent), std::string(child)});
  }
  next_ = place->second + 1;
  return &edges_[place->second];
}

bool TransformTable::add(Bytes message, TransformForm form, std::int64_t log_time_ns) {
  scratch_.clear();
  if (!read_into(message, form, scratch_)) return false;
  std::optional<std::int64_t> newest;
  for (StampedTransform& one : scratch_) {
    const std::string_view parent = without_slash(one.parent), child = without_slash(one.child);
    const bool is_named = !parent.empty() && !child.empty() && parent.size() <= kMaxName && child.size() <= kMaxName;
    Edge* edge = is_named && parent != child && make_pose(one.pose) ? edge_of(parent, child) : nullptr;
    if (edge == nullptr) {
      ++left_out_;
      continue;
    }
    newest = std::max(newest.value_or(one.stamp_ns), one.stamp_ns);
    edge->stamps_ns.push_back(one.stamp_ns);
    edge->log_times_ns.push_back(log_time_ns);
    edge->poses.insert(edge->poses.end(), one.pose.begin(), one.pose.end());
    ++rows_;
  }
  if (newest) {
    newest_ns_.push_back(*newest);
    log_times_ns_.push_back(log_time_ns);
  }
  return true;
}

/// The edges stay known, so that the next messages find them.
std::vector<TransformTable::Edge> TransformTable::take() {
  std::vector<Edge> found;
  for (Edge& edge : edges_) {
    if (edge.stamps_ns.empty()) continue;
    found.push_back({edge.parent, edge.child, std::move(edge.stamps_ns), std::move(edge.log_times_ns), std::move(edge.poses)});
    const std::size_t rows = found.back().stamps_ns.size();  // as many will come next time
    edge.stamps_ns = {}, edge.log_times_ns = {}, edge.poses = {};
    edge.stamps_ns.reserve(rows), edge.log_times_ns.reserve(rows), edge.poses.reserve(7 * rows);
  }
  rows_ = 0;
  return found;
}

}  // namespace armillary::wire
