// Relations by their numbers: pages of relations that are gone are freed, and no number is given twice.

#include <map>
#include <random>

#include "check.hpp"
#include "graph/relation_table.hpp"

using namespace armillary;

namespace {

/// Counts those that there are.
struct Counted {
  explicit Counted(RelationId number) : id(number) { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }

  RelationId id;
  static inline int alive = 0;
};

RelationId add(RelationTable<Counted>& table) {
  const auto id = static_cast<RelationId>(table.size());
  return table.add(std::make_unique<Counted>(id)).id;
}

}  // namespace

TEST(relation_table_like_a_map, "it is a map from numbers to records, whatever is added, erased, put back and cut") {
  std::mt19937 random(7);
  RelationTable<Counted> table;
  std::map<RelationId, RelationId> expected;
  for (int step = 0; step < 20'000; ++step) {
    const auto any = table.size() == 0 ? RelationId{0} : static_cast<RelationId>(random() % table.size());
    switch (random() % 8) {
      case 0:
        table.skip();
        break;
      case 1:
      case 2:
        if (table.size() == 0) break;
        table.erase(any);
        expected.erase(any);
        break;
      case 3:
        if (table.size() == 0) break;
        table.put(any, std::make_unique<Counted>(any));
        expected[any] = any;
        break;
      case 4:
        if (random() % 50 != 0) break;
        table.cut(any);
        expected.erase(expected.lower_bound(any), expected.end());
        break;
      default:
        const RelationId made = add(table);
        expected[made] = made;
    }
    CHECK(table.alive() == expected.size());
    CHECK(static_cast<std::size_t>(Counted::alive) == expected.size());
  }
  for (RelationId id = 0; id < table.size(); ++id) CHECK((table[id] != nullptr) == expected.contains(id));
  std::vector<RelationId> visited;
  table.for_each([&](const Counted& record) { visited.push_back(record.id); });
  CHECK(visited.size() == expected.size());
  CHECK(std::ranges::is_sorted(visited));
}

TEST(relation_table_churn, "numbers go up for ever, and what is gone is gone") {
  RelationTable<Counted> table;
  const RelationId stays = add(table);
  for (RelationId i = 1; i <= 100'000; ++i) {
    CHECK(add(table) == i);
    table.erase(i);
  }
  CHECK(table.alive() == 1);
  CHECK(Counted::alive == 1);
  CHECK(table[stays]->id == stays);
  CHECK(table[50'000] == nullptr);
  CHECK(table.size() == 100'001);
}
