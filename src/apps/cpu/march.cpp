// All rays of a tile go in rounds: each round asks once how far every one of them may go, so that pointwise distances
// are computed for many places at once. Those that met a voxel or left the volume drop out. Cost: O(samples), each with
// a distance and the voxels on one unit of way.
#include "apps/cpu/march.h"

#include <algorithm>
#include <vector>

#include "apps/cpu/steps.h"
#include "core/parallel.h"
#include "fathom/core/error.h"

namespace fathom::apps::cpu {

namespace {

constexpr std::int64_t kTile = 32;

/// What a call marches through, and where its results go.
struct March {
  const Voxels voxels;
  const Steps& steps;
  const Frame& frame;
  const RayMarchOptions& options;
  const RayMarchOutputs& outputs;
};

/// What a tile's rays did.
struct Tally {
  std::int64_t rays = 0, hits = 0, samples = 0;
};

template <class T>
void store(const AnyView& view, std::int64_t row, std::int64_t column, T value) {
  if (view.present()) reinterpret_cast<T*>(view.data())[row * view.strides()[0] + column] = value;
}

class Tile {
 public:
  Tile(const March& march, std::int64_t number) : march_(march) {
    const std::int64_t across = (march.frame.width + kTile - 1) / kTile;
    row_ = number / across * kTile;
    column_ = number % across * kTile;
  }

  Tally run() {
    start();
    std::vector<double> lengths(travellers_.size());
    while (!travellers_.empty()) {
      march_.steps.ahead(travellers_, march_.options, lengths.data());
      std::size_t left = 0;
      for (std::size_t i = 0; i < travellers_.size(); ++i) {
        const Met met = go_on(travellers_[i], march_.voxels, lengths[i]);
        if (met == Met::nothing) travellers_[left++] = travellers_[i];
        else finish(travellers_[i], met == Met::solid);
      }
      travellers_.resize(left);
    }
    return tally_;
  }

 private:
  void start() {
    const Frame& frame = march_.frame;
    travellers_.reserve(kTile * kTile);
    for (std::int64_t row = row_; row < std::min(row_ + kTile, frame.height); ++row)
      for (std::int64_t column = column_; column < std::min(column_ + kTile, frame.width); ++column) {
        Traveller one;
        if (set_out(one, frame, march_.voxels, row * frame.width + column)) travellers_.push_back(one);
        else finish(one, false);
      }
    tally_.rays = static_cast<std::int64_t>(travellers_.size());
  }

  void finish(const Traveller& one, bool hit) {
    const RayMarchOutputs& out = march_.outputs;
    const std::int64_t row = one.pixel / march_.frame.width, column = one.pixel % march_.frame.width;
    const Sight sight = hit ? sight_of(one, march_.frame, march_.voxels, out.shade.present()) : Sight();
    tally_.samples += one.samples;
    tally_.hits += hit;
    store(out.shade, row, column, sight.shade);
    store(out.voxel, row, column, sight.voxel);
    store(out.depth, row, column, sight.depth);
    store(out.samples, row, column, one.samples);
  }

  const March& march_;
  std::int64_t row_, column_;
  std::vector<Traveller> travellers_;
  Tally tally_;
};

std::int64_t tile_count(const Frame& frame) {
  return (frame.width + kTile - 1) / kTile * ((frame.height + kTile - 1) / kTile);
}

class HostMarcher final : public Marcher {
 public:
  HostMarcher(Solid solid, std::unique_ptr<const Steps> steps) : Marcher(std::move(solid)), steps_(std::move(steps)) {}

  std::size_t bytes() const override { return solid_.bytes() + steps_->bytes(); }
  Backend backend() const override { return Backend::cpu; }

  RayMarchReport march(const Frame& frame, const RayMarchOptions& options,
                       const RayMarchOutputs& outputs) const override {
    const Execution& execution = options.execution;
    const std::size_t each =
        static_cast<std::size_t>(kTile * kTile) * (sizeof(Traveller) + sizeof(double) + steps_->scratch_bytes());
    const int wanted = execution.threads > 0 ? execution.threads : available_threads();
    const int threads = static_cast<int>(fit_scratch(execution, wanted, each));
    RayMarchReport report{Backend::cpu, resolve(execution.instruction_set), threads,
                          each * static_cast<std::size_t>(threads)};
    if (execution.stop.stop_requested()) throw Cancelled();
    const March march{solid_.voxels(), *steps_, frame, options, outputs};
    Monitor monitor(execution, tile_count(frame));
    std::vector<Tally> tallies(static_cast<std::size_t>(threads));
    parallel_jobs(threads, tile_count(frame), [&](int worker, std::int64_t number) {
      const Tally done = Tile(march, number).run();
      Tally& mine = tallies[static_cast<std::size_t>(worker)];
      mine = {mine.rays + done.rays, mine.hits + done.hits, mine.samples + done.samples};
      monitor.advance(1);
    });
    for (const Tally& tally : tallies) {
      report.rays += tally.rays;
      report.hits += tally.hits;
      report.samples += tally.samples;
    }
    return report;
  }

 private:
  std::unique_ptr<const Steps> steps_;
};

}  // namespace

std::unique_ptr<const Marcher> make_marcher(const AnyConstView& volume, Solid solid, const RayMarcherOptions& options) {
  auto steps = make_steps(volume, solid, options);
  return std::make_unique<HostMarcher>(std::move(solid), std::move(steps));
}

}  // namespace fathom::apps::cpu
