// Who says what of a variable: which source counts, and its samples around an instant, over all of its channels.

#include "graph/variable_sources.hpp"

#include <algorithm>

namespace armillary {

Stamp VariableSource::newest() const {
  Stamp newest = Stamp::always();
  for (const Column& column : columns) newest = std::max(newest, column.channel->series.newest());
  return newest;
}

static std::int64_t opens_ns(const VariableSource& of_source) {
  std::int64_t first = Stamp::never().ns;
  for (const Column& column : of_source.columns) first = std::min(first, column.channel->opens_ns.load());
  return first;
}

bool VariableSource::is_open_at(Stamp at) const { return opens_ns(*this) <= at.ns; }

const VariableSource* VariableSources::source_at(Stamp at) const {
  const VariableSource* open = nullptr;
  std::size_t rivals = 0;
  for (const VariableSource& of_source : all) {
    if (!of_source.is_open_at(at)) continue;
    if (of_source.is_preferred) return &of_source;
    open = &of_source;
    ++rivals;
  }
  if (rivals > 0) return rivals == 1 ? open : nullptr;
  const auto earliest = std::ranges::min_element(all, {}, opens_ns);
  return earliest == all.end() ? nullptr : &*earliest;
}

namespace {

bool is_absent(const Row& row, std::uint32_t index) { return std::isnan(row.values()[index]); }

/// The last row at or before `at` that has the variable.
Row row_until(const Column& column, Stamp at) {
  const Series& series = column.channel->series;
  Row row = series.bracket(at).before;
  while (row && is_absent(row, column.index)) row = series.bracket({row.stamp_ns() - 1}).before;
  return row;
}

/// The first row after `at` that has the variable.
Row row_after(const Column& column, Stamp at) {
  const Series& series = column.channel->series;
  Row row = series.bracket(at).after;
  if (!row && at < series.newest()) row = series.first_row();
  while (row && is_absent(row, column.index)) row = series.bracket({row.stamp_ns()}).after;
  return row;
}

}  // namespace

SampleBracket around_of(const VariableSource& of_source, Duration history, Stamp at) {
  SampleBracket found;
  const Stamp floor = earlier(of_source.newest(), history);
  const bool is_forgotten = at < floor;
  const Stamp from = is_forgotten ? Stamp{floor.ns - 1} : at;
  for (const Column& column : of_source.columns) {
    const Row before = is_forgotten ? Row{} : row_until(column, at);
    const bool is_kept = before && before.stamp_ns() >= floor.ns;
    if (is_kept && (!found.before || before.stamp_ns() > found.before.stamp_ns()))
      found.before = {column.channel, before, column.index};
    const Row after = row_after(column, from);
    if (after && (!found.after || after.stamp_ns() < found.after.stamp_ns())) found.after = {column.channel, after, column.index};
  }
  return found;
}

namespace {

Coverage coverage_of(const Variable& variable, const VariableSource& of_source) {
  const SampleBracket first = around_of(of_source, variable.history, Stamp::always());
  if (!first.after) return {};
  return {{first.after.stamp_ns()}, of_source.newest()};
}

}  // namespace

Coverage Variable::coverage() const {
  const VariableSources& known = lead->by_source();
  Coverage all;
  if (known.only.channel != nullptr) {
    const Series& series = known.only.channel->series;
    const Row first = series.first_row();
    if (first && !is_absent(first, known.only.index)) all = {{first.stamp_ns()}, series.newest()};
  }
  for (const VariableSource& of_source : known.all) {
    if (!all.empty() && known.only.channel != nullptr) break;
    const Coverage one = coverage_of(*lead, of_source);
    all = all.empty() ? one : one.empty() ? all : Coverage{std::min(all.first, one.first), std::max(all.last, one.last)};
  }
  if (kind == VariableKind::hold && !all.empty()) all.last = Stamp::never();
  return all;
}

bool Variable::has_forgotten(Stamp at) const {
  const VariableSources& known = lead->by_source();
  return !known.all.empty() && std::ranges::all_of(known.all, [&](const VariableSource& of_source) {
    const Series& series = of_source.columns[0].channel->series;
    return at < earlier(of_source.newest(), history) || (of_source.columns.size() == 1 && at < series.floor());
  });
}

}  // namespace armillary
