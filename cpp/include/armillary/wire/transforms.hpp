#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armillary/wire/bytes.hpp"

namespace armillary::wire {

/// How transforms are written in a message.
enum class TransformForm : std::uint8_t {
  ros1,          ///< tf2_msgs/TFMessage, or tf/tfMessage, as ROS 1 writes it
  cdr,           ///< tf2_msgs/msg/TFMessage as ROS 2 writes it
  foxglove,      ///< foxglove.FrameTransforms in protobuf
  foxglove_one,  ///< foxglove.FrameTransform in protobuf
};

/// One transform of a message; the names are parts of it.
struct StampedTransform {
  std::string_view parent, child;
  std::int64_t stamp_ns = 0;
  std::array<double, 7> pose{};  ///< x y z, then w x y z
};

/// The transforms of a message, in their order; nothing where it is malformed.
[[nodiscard]] std::optional<std::vector<StampedTransform>> read_transforms(Bytes message, TransformForm form);

/// Appends a message with transforms; of `foxglove_one` they must be one.
void write_transforms(std::span<const StampedTransform> transforms, TransformForm form, std::vector<std::byte>& to);

/// Transforms of many messages, sorted by parent and child.
class TransformTable {
 public:
  /// The transforms of one frame in another, in the order of the messages.
  struct Edge {
    std::string parent, child;
    std::vector<std::int64_t> stamps_ns{}, log_times_ns{};
    std::vector<double> poses{};  ///< x y z, then w x y z
  };

  explicit TransformTable(std::size_t max_edges) : max_edges_(max_edges) {}

  /// False where the message is malformed: nothing of it is kept.
  bool add(Bytes message, TransformForm form, std::int64_t log_time_ns);

  /// Takes out what there is.
  [[nodiscard]] std::vector<Edge> take();

  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Transforms that were left out: they are no poses, a name is empty or too long, or there are too many edges.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  /// The newest stamp of each message.
  [[nodiscard]] std::vector<std::int64_t>& newest_ns() { return newest_ns_; }
  [[nodiscard]] std::vector<std::int64_t>& log_times_ns() { return log_times_ns_; }

 private:
  [[nodiscard]] Edge* edge_of(std::string_view parent, std::string_view child);

  const std::size_t max_edges_;
  std::vector<Edge> edges_{};
  std::map<std::pair<std::string, std::string>, std::size_t> places_{};
  std::size_t next_ = 0;  ///< most messages list the same edges in the same order
  std::size_t rows_ = 0;
  std::uint64_t left_out_ = 0;
  std::vector<std::int64_t> newest_ns_{}, log_times_ns_{};
  std::vector<StampedTransform> scratch_{};
};

}  // namespace armillary::wire
