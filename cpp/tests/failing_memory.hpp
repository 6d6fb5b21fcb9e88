#pragma once

// Memory that runs out when a test says so. Only aligned allocations: rows, indices and the nodes of maps.

#include <new>

namespace tests {

extern thread_local int allocations_left;  // negative: as many as asked for

/// Runs `act` with only `count` more allocations; true where it got through.
template <typename Act>
bool with_allocations(int count, Act act) {
  allocations_left = count;
  bool through = true;
  try {
    act();
  } catch (const std::bad_alloc&) {
    through = false;
  }
  allocations_left = -1;
  return through;
}

}  // namespace tests
