// What the front hands to an algorithm.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "fathom/published/distance.h"
#include "published/places.hd.h"

namespace fathom::published {

struct Problem {
  Places places;
  const std::uint8_t* mask = nullptr;  ///< dense: 1 is a site
  std::uint32_t* nearest = nullptr;    ///< dense, to be written: place of the site that was found for each element
  const DistanceOptions& options;
  int threads = 1;

  bool is_volume() const { return places.bits != 15; }
};

using Phases = std::vector<Phase>;

/// Times that add up under their phases' names.
inline void add_time(Phases& phases, const char* name, double seconds) {
  for (Phase& phase : phases)
    if (phase.name == name) {
      phase.seconds += seconds;
      return;
    }
  phases.push_back({name, seconds});
}

/// Runs a phase on the CPU, and adds its time.
template <class Body>
void timed(Phases& phases, const char* name, const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  add_time(phases, name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace fathom::published
