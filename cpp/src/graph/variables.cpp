#include "armillary/graph/variables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace armillary {

namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t kParts = 4;  // of a quaternion

/// Index of a variable among those of a channel, or none.
std::optional<std::uint32_t> place_of(const ChannelName& name, VariableId id) {
  const auto found = std::ranges::lower_bound(name.variables, id);
  if (found == name.variables.end() || *found != id) return std::nullopt;
  return static_cast<std::uint32_t>(found - name.variables.begin());
}

bool share_a_variable(const ChannelName& a, const ChannelName& b) {
  return std::ranges::any_of(a.variables, [&](VariableId id) { return place_of(b, id).has_value(); });
}

bool normalize(double* wxyz) {
  const double squared = wxyz[0] * wxyz[0] + wxyz[1] * wxyz[1] + wxyz[2] * wxyz[2] + wxyz[3] * wxyz[3];
  if (!(std::abs(squared - 1.0) <= 0.01)) return false;
  const double scale = 1.0 / std::sqrt(squared);
  if (squared != 1.0) std::for_each_n(wxyz, kParts, [scale](double& value) { value *= scale; });
  return true;
}

bool is_alike(const Variable& known, VariableKind kind, std::uint32_t part) {
  return known.kind == kind && (kind != VariableKind::unit_quaternion || known.part == part);
}

}  // namespace

Variables::Variables(const Retention& retention, Duration rival_timeout)
    : retention_{.history = retention.history, .max_samples = retention.max_samples}, rival_timeout_(rival_timeout) {}
Variables::~Variables() = default;

// -- Names

VariableId Variables::find(std::string_view name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? kNone : found->second;
}

Failure Variables::check_declarations(std::span<const Declaration> declarations) const {
  std::uint32_t part = 0;  // of the rotation at hand
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    const auto& [name, kind] = declarations[i];
    const bool is_part = kind == VariableKind::unit_quaternion;
    const VariableId known = find(name);
    const bool is_other = known != kNone && !hidden_[known] && !is_alike(*all_[known], kind, part);
    const bool breaks_off = part > 0 && !is_part;
    if (is_other || breaks_off) return Evidence{.kind = FailureKind::other_variable, .row = i, .joint = std::string(name)};
    part = is_part ? (part + 1) % kParts : 0;
  }
  if (part > 0)
    return Evidence{
        .kind = FailureKind::other_variable, .row = declarations.size() - 1, .joint = std::string(declarations.back().name)};
  return {};
}

Failure Variables::declare(std::span<const Declaration> declarations) {
  if (Failure failure = check_declarations(declarations)) return failure;
  std::uint32_t part = 0;
  for (const auto& [name, kind] : declarations) {
    const bool is_part = kind == VariableKind::unit_quaternion;
    const VariableId known = find(name);
    if (known != kNone && is_alike(*all_[known], kind, part))
      hidden_[known] = false;
    else
      add(name, kind, is_part ? part : 0);
    part = is_part ? (part + 1) % kParts : 0;
  }
  return {};
}

void Variables::add(std::string_view name, VariableKind kind, std::uint32_t part) {
  constexpr std::string_view kOfVelocity = " relative to ";  // in store/velocity_names.py
  if (name.find(kOfVelocity) != std::string_view::npos) has_velocities_.store(true, std::memory_order_relaxed);
  const auto id = static_cast<VariableId>(all_.size());
  const Variable* lead = part > 0 ? all_[id - part].get() : nullptr;
  all_.push_back(std::make_shared<Variable>(std::string(name), kind, id, part, lead, retention_.history));
  preferences_.emplace_back();
  hidden_.push_back(false);
  ids_.insert_or_assign(std::string(name), id);
}

void Variables::cut(std::size_t size, std::vector<bool> hidden) {
  std::erase_if(ids_, [&](const auto& entry) { return entry.second >= size; });
  all_.resize(size);
  preferences_.resize(size);
  hidden_ = std::move(hidden);
  for (std::size_t id = size; id-- > 0;) ids_.try_emplace(all_[id]->name, static_cast<VariableId>(id));
}

// -- Channels

Result<ChannelId> Variables::channel(const ChannelName& name) {
  if (const auto found = channel_ids_.find(name); found != channel_ids_.end()) return {found->second, {}};
  for (const VariableId id : name.variables) {
    if (all_[id]->kind != VariableKind::unit_quaternion) continue;
    for (VariableId part = all_[id]->lead->id; part < all_[id]->lead->id + kParts; ++part)
      if (!place_of(name, part)) return {kNone, Evidence{.kind = FailureKind::part_of_rotation, .joint = all_[part]->name}};
  }
  const auto id = static_cast<ChannelId>(channels_.size());
  channels_.push_back({name});
  channel_ids_.emplace(name, id);
  return {id, {}};
}

void Variables::open(Record& record, RetireList& retired) {
  const std::vector<VariableId>& variables = record.name.variables;
  const auto id_of_record = static_cast<ChannelId>(&record - channels_.data());
  record.data = std::make_unique<Channel>(id_of_record, static_cast<std::uint32_t>(variables.size()), record.name, retention_);
  record.data->series.set_gaps(record.gaps, retired);
  for (const VariableId id : variables) publish(id, retired);
  find_lone_channels();
}

/// Makes readers see what the channels have.
void Variables::publish(VariableId id, RetireList& retired) {
  auto next = std::make_unique<VariableSources>();
  next->rival_timeout = rival_timeout_;
  next->preferences = preferences_[id];
  for (const Record& record : channels_) {
    const std::optional<std::uint32_t> place = record.data ? place_of(record.name, id) : std::nullopt;
    if (!place) continue;
    auto of_source = std::ranges::find(next->all, record.name.source, &VariableSource::source);
    if (of_source == next->all.end()) {
      next->all.push_back({record.name.source});
      of_source = std::prev(next->all.end());
    }
    of_source->columns.push_back({record.data.get(), *place});
  }
  if (next->all.size() == 1 && next->all[0].columns.size() == 1) next->only = next->all[0].columns[0];
  retired.retire(all_[id]->by_source_.exchange(next.release()));
}

/// Takes time in proportion to the number of channels.
void Variables::find_lone_channels() {
  std::map<std::pair<SourceId, VariableId>, std::size_t> channels_with;  // and with data
  for (const Record& record : channels_)
    if (record.data)
      for (const VariableId id : record.name.variables) ++channels_with[{record.name.source, id}];
  for (Record& record : channels_) {
    const std::size_t own = record.data ? 1 : 0;
    record.is_alone = std::ranges::none_of(record.name.variables, [&](VariableId id) {
      const auto found = channels_with.find({record.name.source, id});
      return found != channels_with.end() && found->second > own;
    });
  }
}

// -- Writing

const VariableSource* Variables::source_of_variable(VariableId id, SourceId source) const {
  const std::vector<VariableSource>& all = all_[id]->by_source().all;
  const auto found = std::ranges::find(all, source, &VariableSource::source);
  return found == all.end() ? nullptr : &*found;
}

Failure Variables::check_stamp(const Record& record, Stamp at) const {
  if (!is_sample_stamp(at)) return Evidence{.kind = FailureKind::stamp_not_a_sample, .requested = at};
  if (record.data && record.is_alone && at > record.data->series.newest()) return {};
  const auto refuse = [&](VariableId id, Stamp welcome, Stamp newest) {
    return Evidence{.kind = FailureKind::before_history,
                    .requested = at,
                    .first = welcome,
                    .last = std::max(newest, welcome),
                    .joint = all_[id]->name};
  };
  for (const VariableId id : record.name.variables) {
    const VariableSource* of_source = source_of_variable(id, record.name.source);
    if (of_source == nullptr) continue;
    const Stamp newest = of_source->newest(), welcome = earlier(newest, retention_.history);
    if (at < welcome) return refuse(id, welcome, newest);
  }
  if (!record.data) return {};
  const Series& series = record.data->series;
  const bool is_full = retention_.max_samples > 0 && series.size() >= retention_.max_samples;
  const Row first = is_full ? series.first_row() : Row{};
  const Stamp welcome = std::max(series.floor(), first ? Stamp{first.stamp_ns()} : Stamp::always());
  return at < welcome ? Failure(refuse(record.name.variables[0], welcome, series.newest())) : Failure{};
}

Failure Variables::check_row(const Record& record, double* row) const {
  const std::vector<VariableId>& variables = record.name.variables;
  const std::size_t k = variables.size();
  for (std::size_t i = 0; i < k; ++i) {
    const bool is_finite = std::isfinite(row[i]) && !(record.name.has_velocities && std::isinf(row[k + i]));
    const Variable& variable = *all_[variables[i]];
    const bool begins_rotation = variable.kind == VariableKind::unit_quaternion && variable.part == 0;
    if (!is_finite || (begins_rotation && !normalize(row + i)))
      return Evidence{.kind = FailureKind::not_a_position, .joint = variable.name};
  }
  return {};
}

Failure Variables::check(ChannelId id, std::span<const std::int64_t> stamps, double* rows) const {
  const Record& record = channels_[id];
  const std::size_t width = record.name.row_width();
  for (std::size_t row = 0; row < stamps.size(); ++row) {
    Failure failure = check_row(record, rows + row * width);
    if (!failure) failure = check_stamp(record, {stamps[row]});
    if (!failure) continue;
    failure->row = row;
    return failure;
  }
  return {};
}

/// Withdraws samples of these variables at the same instants from other channels of the source: they are given again.
void Variables::withdraw_elsewhere(const Record& record, std::span<const std::int64_t> stamps, RetireList& retired) {
  for (Record& other : channels_) {
    const bool is_of_source = other.data && other.name.source == record.name.source && &other != &record;
    if (!is_of_source || !share_a_variable(record.name, other.name)) continue;
    for (const std::int64_t stamp : stamps) {
      const Row sample = other.data->series.bracket({stamp}).before;
      if (!sample || sample.stamp_ns() != stamp) continue;
      std::vector<double> values(sample.values(), sample.values() + other.name.row_width());
      for (const VariableId id : record.name.variables)
        if (const auto place = place_of(other.name, id)) values[*place] = kAbsent;
      other.data->series.insert({stamp}, values, nullptr, retired);
    }
  }
}

void Variables::write(ChannelId id, std::span<const std::int64_t> stamps, const double* rows, RetireList& retired) {
  if (stamps.empty()) return;
  Record& record = channels_[id];
  if (!record.data) open(record, retired);
  Series& series = record.data->series;
  const std::int64_t oldest = std::ranges::min(stamps);
  if (oldest < record.data->opens_ns.load(std::memory_order_relaxed)) record.data->opens_ns.store(oldest);
  if (strictly_increasing(stamps) && Stamp{stamps[0]} > series.newest()) {
    series.append(stamps, rows, retired);
  } else {
    for (std::size_t row = 0; row < stamps.size(); ++row)
      series.insert({stamps[row]}, {rows + row * series.width(), series.width()}, nullptr, retired);
  }
  if (!record.is_alone) withdraw_elsewhere(record, stamps, retired);
}

void Variables::set_gaps(ChannelId id, Gaps gaps, RetireList& retired) {
  Record& record = channels_[id];
  record.gaps = std::move(gaps);
  if (record.data) return record.data->series.set_gaps(record.gaps, retired);
  if (!record.gaps.empty()) open(record, retired);
}

void Variables::prefer(VariableId id, std::vector<PreferenceStep> steps, RetireList& retired) {
  const VariableId lead = all_[id]->lead->id, end = lead + (all_[id]->kind == VariableKind::unit_quaternion ? kParts : 1);
  for (VariableId part = lead; part < end; ++part) {
    preferences_[part] = steps;
    publish(part, retired);
  }
}

// -- All of it

VariableTable Variables::samples(VariableId id, SourceId source, Stamp from, Stamp to) const {
  VariableTable table;
  const VariableSource* of_source = source_of_variable(id, source);
  if (of_source == nullptr) return table;
  std::map<std::int64_t, std::pair<double, double>> found;
  for (const Column& column : of_source->columns)
    column.channel->series.for_each(std::max(from, earlier(of_source->newest(), retention_.history)), to, [&](const Row& row) {
      const double* values = row.values();
      const double value = values[column.index];
      if (std::isnan(value)) return;
      if (all_[id]->kind == VariableKind::velocity) {
        found[row.stamp_ns()] = {kAbsent, value};
        return;
      }
      const Channel& channel = *column.channel;
      found[row.stamp_ns()] = {value, channel.has_velocities ? values[channel.width + column.index] : kAbsent};
    });
  for (const auto& [stamp, sample] : found) {
    table.stamps.push_back(stamp);
    table.positions.push_back(sample.first);
    table.velocities.push_back(sample.second);
  }
  return table;
}

std::vector<SourceId> Variables::sources_of(VariableId id) const {
  std::vector<SourceId> sources;
  for (const VariableSource& of_source : all_[id]->by_source().all) sources.push_back(of_source.source);
  return sources;
}

void Variables::clear(RetireList& retired) {
  std::vector<std::unique_ptr<Channel>> gone;
  for (Record& record : channels_)
    if (record.data) gone.push_back(std::move(record.data));
  for (VariableId id = 0; id < all_.size(); ++id) publish(id, retired);
  for (auto& channel : gone) retired.retire(channel.release());
}

void Variables::become(const Variables& other, RetireList& retired) {
  for (const auto& variable : other.all_) add(variable->name, variable->kind, variable->part);
  hidden_ = other.hidden_;
  preferences_ = other.preferences_;
  channel_ids_ = other.channel_ids_;
  for (const Record& record : other.channels_) {
    channels_.push_back({record.name});
    if (!record.data) continue;
    Record& twin = channels_.back();
    open(twin, retired);
    if (record.data->series.floor() != Stamp::always()) twin.data->series.begin_forgotten(record.data->series.floor());
    record.data->series.for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
      twin.data->series.append(std::span(row.words, 1), row.values(), retired);
    });
    twin.data->opens_ns.store(record.data->opens_ns.load());
  }
}

}  // namespace armillary
