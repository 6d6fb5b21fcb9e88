#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "armillary/graph/errors.hpp"
#include "armillary/graph/preference.hpp"
#include "armillary/graph/provider.hpp"
#include "armillary/series/series.hpp"

namespace armillary {

using VariableId = std::uint32_t;
using ChannelId = std::uint32_t;

/// How a variable goes from one sample to the next.
enum class VariableKind : std::uint8_t {
  linear,
  wrap,             ///< an angle: the shorter way round
  hold,             ///< stays where it was left
  unit_quaternion,  ///< one of four that are given together, w x y z, and turn along the shortest arc
  velocity,         ///< a wheel's speed: it has no position, and its samples are velocities
};

/// What a row of k variables has: k positions; then k velocities where `has_velocities` (NaN: not given); then the upper
/// triangle, row by row, of the covariance of the positions, or of positions and velocities.
struct RowForm {
  bool has_velocities = false, has_covariance = false;
  bool has_velocity_covariance = false;  ///< besides
  bool is_computed = false;              ///< not given, but integrated from speeds

  friend auto operator<=>(const RowForm&, const RowForm&) = default;

  /// Of how many numbers the covariance is.
  [[nodiscard]] std::uint32_t covered(std::uint32_t k) const { return !has_covariance ? 0 : has_velocity_covariance ? 2 * k : k; }
  [[nodiscard]] std::uint32_t row_width(std::uint32_t k) const {
    return (has_velocities ? 2 : 1) * k + covered(k) * (covered(k) + 1) / 2;
  }
};

/// Samples of variables that one source gives together, as readers see them. A position of NaN was given again elsewhere.
struct Channel : RowForm {
  Channel(ChannelId number, std::uint32_t variables, const RowForm& form, const Retention& retention)
      : RowForm(form), id(number), width(variables), series(form.row_width(variables), retention) {}

  const ChannelId id;
  const std::uint32_t width;
  Series series;
  std::atomic<std::int64_t> opens_ns{Stamp::never().ns};  ///< the oldest stamp that was ever given

  /// Covariance of two variables in one row; from `width` on of their velocities.
  [[nodiscard]] double covariance(const Row& row, std::uint32_t i, std::uint32_t j) const {
    const std::uint32_t first = i < j ? i : j, second = i < j ? j : i, n = covered(width);
    const double* upper = row.values() + (has_velocities ? 2 : 1) * width;
    return upper[first * (2 * n - first + 1) / 2 + second - first];
  }
};

/// One variable in one channel.
struct Column {
  const Channel* channel = nullptr;
  std::uint32_t index = 0;

  friend bool operator==(const Column&, const Column&) = default;
};

/// What one source gives of a variable.
struct VariableSource {
  SourceId source = kNone;
  std::vector<Column> columns{};

  [[nodiscard]] Stamp newest() const;
  [[nodiscard]] bool is_open_at(Stamp at) const;
};

/// The sources of a variable.
struct VariableSources {
  Column only{};  ///< set where one source gives it in one channel: the usual case
  std::vector<VariableSource> all{};
  std::vector<PreferenceStep> preferences{};

  /// The source that counts at `at`, by the rules of `Selection`; before all samples the one that begins first. Null where two
  /// contest it. `is_held`: what was given last stays, so that a source that is silent is still open.
  [[nodiscard]] const VariableSource* source_at(Stamp at, bool is_held) const;
  /// The newest stamp that any source gave.
  [[nodiscard]] Stamp newest() const;
  Duration rival_timeout{};
};

/// A number that joints are driven by. Readers hold a Pin.
class Variable {
 public:
  Variable(std::string name, VariableKind kind, VariableId id, std::uint32_t part, const Variable* lead, Duration history)
      : name(std::move(name)), kind(kind), id(id), part(part), lead(lead == nullptr ? this : lead), history(history) {}
  ~Variable() { delete by_source_.load(); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  const std::string name;
  const VariableKind kind;
  const VariableId id;
  const std::uint32_t part;    ///< of a quaternion: 0 to 3
  const Variable* const lead;  ///< the first of the quaternion; of others the variable itself
  const Duration history;

  [[nodiscard]] const VariableSources& by_source() const { return *by_source_.load(); }
  [[nodiscard]] const VariableSource* source_at(Stamp at) const {
    return lead->by_source().source_at(at, lead->kind == VariableKind::hold);
  }
  /// The newest instant of the source that counts; where sources contest it, the newest that one of them gave.
  [[nodiscard]] Stamp newest() const;
  /// From the oldest to the newest sample; a held one has no end.
  [[nodiscard]] Coverage coverage() const;
  /// Whether a sample for `at` would come too late.
  [[nodiscard]] bool has_forgotten(Stamp at) const;
  /// Whether the coverage of a channel that has it has ended before an instant.
  [[nodiscard]] bool has_ended_before(Stamp at) const;
  /// Adds the channels of which that is so.
  void add_demands(Stamp at, const QueryContext& context, std::uint64_t& number) const;

 private:
  friend class Variables;
  std::atomic<const VariableSources*> by_source_{new VariableSources};
};

using VariablePtr = std::shared_ptr<const Variable>;

/// What a channel is: which source gives which variables, and what with them.
struct ChannelName : RowForm {
  std::vector<VariableId> variables{};  ///< ascending
  SourceId source = kNone;

  friend auto operator<=>(const ChannelName&, const ChannelName&) = default;
  [[nodiscard]] std::uint32_t row_width() const { return RowForm::row_width(static_cast<std::uint32_t>(variables.size())); }
};

/// Samples of one variable, oldest first.
struct VariableTable {
  std::vector<std::int64_t> stamps{};
  std::vector<double> positions{};
  std::vector<double> velocities{};  ///< NaN where none was given
};

/// All variables and their samples: the writer's side. Everything here is called under the writer lock.
class Variables {
 public:
  Variables(const Retention& retention, Duration rival_timeout);
  ~Variables();
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

  struct Declaration {
    std::string_view name;
    VariableKind kind = VariableKind::linear;
  };

  /// Makes variables known. Four declarations of kind `unit_quaternion` in a row are one rotation. Repeated, nothing happens;
  /// another kind is refused, and then nothing is declared. A hidden one is there again, or gives way to one of another
  /// kind.
  Failure declare(std::span<const Declaration> declarations);

  /// The number of a variable, hidden or not; kNone where there is none.
  [[nodiscard]] VariableId find(std::string_view name) const;
  void hide(VariableId id, bool is_hidden) { hidden_[id] = is_hidden; }
  [[nodiscard]] bool is_hidden(VariableId id) const { return hidden_[id]; }
  [[nodiscard]] const std::vector<bool>& hidden() const { return hidden_; }
  /// Takes the last ones back, which nobody has seen.
  void cut(std::size_t size, std::vector<bool> hidden);
  [[nodiscard]] const Variable& operator[](VariableId id) const { return *all_[id]; }
  [[nodiscard]] VariablePtr share(VariableId id) const { return all_[id]; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Whether some are the components of an angular or a linear velocity that was measured alone; of any thread.
  [[nodiscard]] bool has_velocities() const { return has_velocities_.load(std::memory_order_relaxed); }

  /// The channel of this name, made where it is new. A part of a rotation alone is refused.
  [[nodiscard]] Result<ChannelId> channel(const ChannelName& name);
  [[nodiscard]] const ChannelName& name_of(ChannelId id) const { return channels_[id].name; }

  /// Whether these rows may be stored; rotations are brought to length one.
  [[nodiscard]] Failure check(ChannelId id, std::span<const std::int64_t> stamps, double* rows) const;
  /// Stores what was checked.
  void write(ChannelId id, std::span<const std::int64_t> stamps, const double* rows, RetireList& retired);

  /// Says where a channel has gaps; it is opened where nothing was given yet.
  void set_gaps(ChannelId id, Gaps gaps, RetireList& retired);
  [[nodiscard]] const Gaps& gaps(ChannelId id) const { return channels_[id].gaps; }
  /// Null: nothing was given, and nothing is known to lack.
  [[nodiscard]] const Series* series_of(ChannelId id) const { return channels_[id].data ? &channels_[id].data->series : nullptr; }
  [[nodiscard]] std::size_t channels() const { return channels_.size(); }

  /// Prefers a source, also one that has given no sample of the variable; kNone: nobody.
  void prefer(VariableId id, std::vector<PreferenceStep> steps, RetireList& retired);

  [[nodiscard]] VariableTable samples(VariableId id, SourceId source, Stamp from, Stamp to) const;
  [[nodiscard]] std::vector<SourceId> sources_of(VariableId id) const;

  void clear(RetireList& retired);  ///< forgets samples and their sources
  /// Takes over the variables and samples of another; this one is empty.
  void become(const Variables& other, RetireList& retired);

 private:
  struct Record {
    ChannelName name;
    std::unique_ptr<Channel> data{};  // null: nothing was given since the beginning
    bool is_alone = false;            // no other channel of its source has any of its variables
    Gaps gaps{};
  };

  void add(std::string_view name, VariableKind kind, std::uint32_t part);
  [[nodiscard]] Failure check_declarations(std::span<const Declaration> declarations) const;
  [[nodiscard]] Failure check_stamp(const Record& record, Stamp at) const;
  [[nodiscard]] Failure check_row(const Record& record, double* row) const;
  [[nodiscard]] const VariableSource* source_of_variable(VariableId id, SourceId source) const;
  void open(Record& record, RetireList& retired);
  void publish(VariableId id, RetireList& retired);
  void find_lone_channels();
  void withdraw_elsewhere(const Record& record, std::span<const std::int64_t> stamps, RetireList& retired);

  Retention retention_;
  Duration rival_timeout_;
  std::atomic<bool> has_velocities_{false};
  std::vector<std::shared_ptr<Variable>> all_;
  std::map<std::string, VariableId, std::less<>> ids_;
  std::vector<std::vector<PreferenceStep>> preferences_;  // of each variable
  std::vector<bool> hidden_;                              // of each variable
  std::vector<Record> channels_;
  std::map<ChannelName, ChannelId> channel_ids_;
};

}  // namespace armillary
