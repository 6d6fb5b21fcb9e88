// Computed rows follow the newest row that was given, and are removed by one that is given after them.

#include <map>
#include <random>

#include "armillary/series/pose_row.hpp"
#include "armillary/series/series.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

struct Fixture {
  RetireList retired;
  Series series;
  std::map<std::int64_t, bool> model;  // stamp -> computed

  explicit Fixture(std::int64_t history_ns = 1'000'000'000) : series(kPoseWidth, {.history = {history_ns}}) {}

  static std::array<double, kPoseWidth> values_at(std::int64_t at) { return {1, 0, 0, 0, static_cast<double>(at), 0, 0}; }

  void give(std::int64_t at) {
    series.insert({at}, values_at(at), nullptr, retired);
    std::erase_if(model, [at](const auto& row) { return row.second && row.first < at; });
    model[at] = false;
  }
  void compute(std::int64_t at) {
    series.insert_computed({at}, values_at(at), nullptr, retired);
    model[at] = true;
  }

  void check() const {
    std::map<std::int64_t, bool> held;
    series.for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
      held[row.stamp_ns()] = series.is_computed({row.stamp_ns()});
      CHECK(row.values()[4] == static_cast<double>(row.stamp_ns()));
    });
    CHECK(held == model && series.size() == model.size());
  }
};

}  // namespace

TEST(computed_model, "computed rows between two given rows are removed, however many chunks they filled") {
  std::mt19937_64 random(3);
  for (const std::int64_t run : {3, 40, 700}) {
    Fixture f;
    f.give(0);
    std::int64_t clock = 0;
    for (int round = 0; round < 30; ++round) {
      const auto count = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(run));
      for (std::int64_t i = 0; i < count; ++i) f.compute(clock += 2);
      f.give(round % 3 == 0 && count > 0 ? clock - 1 : clock += 2);
      f.check();
    }
  }
}

TEST(computed_between, "a late row between two that were given changes nothing else") {
  Fixture f;
  for (const std::int64_t at : {0, 10, 20}) f.give(at);
  f.compute(30);
  f.series.insert({15}, Fixture::values_at(15), nullptr, f.retired);
  f.model[15] = false;
  f.check();
  CHECK(f.series.newest_given().ns == 20 && f.series.rests_on_computed({25}) && !f.series.rests_on_computed({17}));
}

TEST(computed_left, "what follows from rows that are forgotten stays, and stays computed") {
  Fixture f(100);
  f.give(0);
  for (std::int64_t at = 10; at <= 200; at += 10) f.compute(at);
  f.series.insert({205}, Fixture::values_at(205), nullptr, f.retired);
  CHECK(f.series.first_row().stamp_ns() == 110 && f.series.size() == 11);
  CHECK(f.series.is_computed({150}) && !f.series.is_computed({205}) && f.series.rests_on_computed({203}));
  f.series.insert({145}, Fixture::values_at(145), nullptr, f.retired);
  CHECK(f.series.size() == 6 && f.series.is_computed({140}) && !f.series.rests_on_computed({180}));
}

TEST(computed_bulk, "many rows at once count as given") {
  Fixture f;
  f.give(0);
  f.compute(5);
  f.give(10);
  const std::array<std::int64_t, 3> stamps{20, 30, 40};
  std::vector<double> rows;
  for (const std::int64_t at : stamps) {
    const auto values = Fixture::values_at(at);
    rows.insert(rows.end(), values.begin(), values.end());
    f.model[at] = false;
  }
  f.series.append(stamps, rows.data(), f.retired);
  f.check();
  CHECK(f.series.newest_given().ns == 40);
}
