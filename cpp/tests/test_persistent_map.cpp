// A persistent map against std::map, through random histories and every kind of hash.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "armillary/scene/persistent_map.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

/// `Spread`: what becomes of a key's bits. Digests as a user would write them.
template <std::uint64_t (*Spread)(std::uint64_t)>
struct Traits {
  static std::uint64_t hash(const std::uint64_t& key) { return Spread(key); }
  static bool equal(const std::uint64_t& a, const std::uint64_t& b) { return a == b; }
  static Digest digest(const std::uint64_t& key, const std::string& value) {
    Sha256 hash;
    hash.add(key);
    hash.add(value);
    return hash.finish();
  }
};

std::uint64_t low_bits(std::uint64_t key) { return key; }
std::uint64_t high_bits(std::uint64_t key) { return key << 56; }
std::uint64_t scattered(std::uint64_t key) { return key * 0x9e3779b97f4a7c15; }
std::uint64_t colliding(std::uint64_t key) { return (key % 5) * 0x1234567890abcdef; }

template <std::uint64_t (*Spread)(std::uint64_t)>
using Map = PersistentMap<std::uint64_t, std::string, Traits<Spread>>;
using Model = std::map<std::uint64_t, std::string>;

template <typename M>
bool equals(const M& map, const Model& model) {
  Model found;
  map.for_each([&](const std::uint64_t& key, const std::string& value) { found[key] = value; });
  return found == model && map.size() == model.size();
}

template <std::uint64_t (*Spread)(std::uint64_t)>
void follow_a_model() {
  std::mt19937_64 random(7);
  std::vector<std::pair<Map<Spread>, Model>> versions(1);
  for (int step = 0; step < 3000; ++step) {
    if (step % 50 == 49) versions.push_back(versions.back());
    auto& [map, model] = versions[random() % 3 == 0 ? random() % versions.size() : versions.size() - 1];
    const std::uint64_t key = random() % 200;
    if (random() % 3 == 0) {
      CHECK(map.erase(key) == (model.erase(key) == 1));
    } else {
      map.set(key, std::to_string(step));
      model[key] = std::to_string(step);
    }
    CHECK((map.find(key) != nullptr) == model.contains(key));
  }
  for (const auto& [map, model] : versions) CHECK(equals(map, model));
}

}  // namespace

TEST(map_model_low, "a map follows the model where keys differ in the last bits") { follow_a_model<low_bits>(); }
TEST(map_model_high, "a map follows the model where keys differ in the first bits") { follow_a_model<high_bits>(); }
TEST(map_model_scattered, "a map follows the model where hashes are scattered") { follow_a_model<scattered>(); }
TEST(map_model_colliding, "a map follows the model where hashes are equal") { follow_a_model<colliding>(); }
