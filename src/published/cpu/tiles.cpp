// Tiles on the CPU: see tiles.hd.h. The loops of the host as the slides have them, on one thread, and twins of what
// runs on a device: a job is a row of its threads, or of its blocks.
#include "published/cpu/tiles.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "core/parallel.h"

namespace fathom::published::cpu {

namespace {

/// One thread; asks the caller's stop token before each job.
template <class Job>
void loop(const Execution& execution, std::int64_t jobs, const Job& job) {
  parallel_jobs(execution, 1, jobs, [&](int, std::int64_t at) { job(static_cast<int>(at)); });
}

/// Case 1.1.
void repeat_basic(const Tile<const float>& repeater, const Tile<float>& target, const Execution& execution) {
  loop(execution, target.width, [&](int x) {
    for (int y = 0; y < target.height; ++y) {
      assert(target.contains(x, y));
      target.at(x, y) = repeater.at(x % repeater.width, y % repeater.height);
    }
  });
}

/// Case 1.2.
void repeat_indexed(const Tile<const float>& repeater, const Tile<float>& target, const Execution& execution) {
  loop(execution, target.height, [&](int y) {
    std::int64_t index = y * target.pitch;
    for (int x = 0; x < target.width; ++x) target.data[index++] = repeater.at(x % repeater.width, y % repeater.height);
  });
}

/// "Host (ptr increment)" of the table.
void repeat_pointer(const Tile<const float>& repeater, const Tile<float>& target, const Execution& execution) {
  loop(execution, target.height, [&](int y) {
    float* to = target.data + y * target.pitch;
    for (int x = 0; x < target.width; ++x) *to++ = repeater.at(x % repeater.width, y % repeater.height);
  });
}

/// Case 1.3.
void repeat_repeater_loop(const Tile<const float>& repeater, const Tile<float>& target, const Execution& execution) {
  loop(execution, repeater.width, [&](int x) {
    for (int y = 0; y < repeater.height; ++y) {
      const float value = repeater.at(x, y);
      for (int to_x = x; to_x < target.width; to_x += repeater.width)
        for (int to_y = y; to_y < target.height; to_y += repeater.height) target.at(to_x, to_y) = value;
    }
  });
}

/// Case 1.5, block by block.
void repeat_shared(const Tile<const float>& repeater, const Tile<float>& target, const Execution& execution) {
  constexpr int kSide = 32;
  std::vector<float> shared(static_cast<std::size_t>(repeater.width) * static_cast<std::size_t>(repeater.height));
  const Tile<const float> copy{shared.data(), repeater.width, repeater.height, repeater.width};
  loop(execution, (target.height + kSide - 1) / kSide, [&](int block) {
    for (int x0 = 0; x0 < target.width; x0 += kSide) {
      for (int y = 0; y < repeater.height; ++y)
        std::copy_n(&repeater.at(0, y), repeater.width, shared.data() + std::int64_t{y} * repeater.width);
      for (int y = block * kSide; y < std::min(target.height, (block + 1) * kSide); ++y)
        for (int x = x0; x < std::min(target.width, x0 + kSide); ++x) look_up(target, copy, x, y);
    }
  });
}

template <NearVariant kVariant>
void tell(const Tile<const float>& source, const Tile<std::uint32_t>& squared, int reach, const Execution& execution) {
  loop(execution, source.height, [&](int y) {
    for (int x = 0; x < source.width; ++x)
      tell_around<kVariant>(source, squared, reach, x, y,
                            [](std::uint32_t& known, std::uint32_t distance) { known = std::min(known, distance); });
  });
}

void find_near(const Tile<const float>& source, const Tile<std::uint32_t>& squared, int reach, NearVariant variant,
               const Execution& execution) {
  switch (variant) {
    case NearVariant::white: return tell<NearVariant::white>(source, squared, reach, execution);
    case NearVariant::distance_check: return tell<NearVariant::distance_check>(source, squared, reach, execution);
    case NearVariant::neighbour_check: return tell<NearVariant::neighbour_check>(source, squared, reach, execution);
    case NearVariant::improved: return tell<NearVariant::improved>(source, squared, reach, execution);
    case NearVariant::black: break;
  }
  loop(execution, source.height, [&](int y) {
    for (int x = 0; x < source.width; ++x) look_around(source, squared, reach, x, y);
  });
}

}  // namespace

Phases repeat(const Tile<const float>& repeater, RepeatVariant variant, const Tile<float>& target,
              const Execution& execution) {
  Phases phases;
  timed(phases, "stitching", [&] {
    switch (variant) {
      case RepeatVariant::basic: return repeat_basic(repeater, target, execution);
      case RepeatVariant::indexed: return repeat_indexed(repeater, target, execution);
      case RepeatVariant::pointer: return repeat_pointer(repeater, target, execution);
      case RepeatVariant::repeater_loop: return repeat_repeater_loop(repeater, target, execution);
      case RepeatVariant::shared: return repeat_shared(repeater, target, execution);
      case RepeatVariant::modulo:
        return loop(execution, target.height, [&](int y) {
          for (int x = 0; x < target.width; ++x) look_up(target, repeater, x, y);
        });
      case RepeatVariant::repeater_grid:
        return loop(execution, repeater.height, [&](int y) {
          for (int x = 0; x < repeater.width; ++x) show(target, repeater, x, y);
        });
    }
  });
  return phases;
}

Phases lattice(const Tile<const float>& repeater, const Steps& steps, LatticeVariant variant, const Tile<float>& target,
               const Execution& execution) {
  const std::int64_t w = repeater.width, h = repeater.height;
  Phases phases;
  timed(phases, "clearing", [&] {
    for (int y = 0; y < target.height; ++y) std::fill_n(&target.at(0, y), target.width, 0.0f);
  });
  timed(phases, "stitching", [&] {
    if (variant == LatticeVariant::target_loop) {
      const StepBounds around = bounds_of(steps, {1 - w, 1 - h}, {0, 0});
      return loop(execution, target.height, [&](int y) {
        for (int x = 0; x < target.width; ++x) blend(target, repeater, steps, around, x, y);
      });
    }
    const StepBounds all = bounds_of(steps, {1 - w, 1 - h}, {target.width - 1, target.height - 1});
    loop(execution, all.u_max - all.u_min + 1, [&](int u) {
      for (std::int64_t v = all.v_min; v <= all.v_max; ++v)
        place_copy(target, repeater, steps.place(all.u_min + u, v), [](float& to, float value) { to = value; });
    });
  });
  return phases;
}

Phases near(const Tile<const float>& source, int reach, NearVariant variant, const Tile<float>& distance,
            const Execution& execution) {
  std::vector<std::uint32_t> found(static_cast<std::size_t>(source.width) * static_cast<std::size_t>(source.height),
                                   kBeyond);
  const Tile<std::uint32_t> squared{found.data(), source.width, source.height, source.width};
  Phases phases;
  timed(phases, "squared distances", [&] { find_near(source, squared, reach, variant, execution); });
  timed(phases, "roots", [&] {
    for (int y = 0; y < source.height; ++y)
      for (int x = 0; x < source.width; ++x) distance.at(x, y) = root_of(squared.at(x, y));
  });
  return phases;
}

}  // namespace fathom::published::cpu
