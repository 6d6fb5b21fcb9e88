#include "armillary/expr/loaded_tape.hpp"

#include <dlfcn.h>

namespace armillary {

namespace {

std::string last_complaint() {
  const char* text = dlerror();
  return text != nullptr ? text : "the loader does not say why";
}

}  // namespace

std::variant<LoadedTape, std::string> LoadedTape::open(const Place& place) {
  // A name without a slash would be looked for all over the system.
  if (place.path.find('/') == std::string::npos) return "it is not given as a path";
  std::shared_ptr<void> library(dlopen(place.path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* handle) {
    if (handle != nullptr) dlclose(handle);
  });
  if (library == nullptr) return last_complaint();
  const auto one = reinterpret_cast<One>(dlsym(library.get(), place.symbol.c_str()));
  const auto many = reinterpret_cast<Many>(dlsym(library.get(), (place.symbol + "_batch").c_str()));
  if (one == nullptr || many == nullptr) return last_complaint();
  return LoadedTape(std::move(library), one, many, place);
}

}  // namespace armillary
