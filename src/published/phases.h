// Times of a published algorithm's phases.
#pragma once

#include <chrono>
#include <vector>

#include "fathom/published/phase.h"

namespace fathom::published {

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
