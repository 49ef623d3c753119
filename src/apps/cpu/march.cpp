// All rays of a tile go in rounds: each round asks once how far every one of them may go, so that pointwise distances
// are computed for many places at once. Those that met a voxel or left the volume drop out. Cost: O(samples), each with
// a distance and the voxels on one unit of way.
#include "apps/cpu/march.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "apps/shade.hd.h"

namespace fathom::apps::cpu {

namespace {

constexpr std::int64_t kTile = 32;

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
  Tile(const March& march, std::int64_t number) : march_(march), voxels_(march.solid->voxels()) {
    const std::int64_t across = (march.frame.width + kTile - 1) / kTile;
    row_ = number / across * kTile;
    column_ = number % across * kTile;
  }

  Tally run() {
    start();
    std::vector<double> lengths(travellers_.size());
    while (!travellers_.empty()) {
      march_.steps->ahead(travellers_, *march_.options, lengths.data());
      std::size_t left = 0;
      for (std::size_t i = 0; i < travellers_.size(); ++i)
        if (goes_on(travellers_[i], lengths[i])) travellers_[left++] = travellers_[i];
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
        Traveller one{ray_of(frame, row, column), 0, {}, 0, row * frame.width + column};
        if (enter(one.ray, voxels_.extents) && find_voxel(one.ray, voxels_, 0, one.at)) travellers_.push_back(one);
        else finish(one, false);
      }
    tally_.rays = static_cast<std::int64_t>(travellers_.size());
  }

  /// Skips `length`, then looks at one unit of the way. False: the ray is at its end.
  bool goes_on(Traveller& one, double length) {
    ++one.samples;
    one.t += length;
    const bool inside = length == 0 || (std::isfinite(length) && find_voxel(one.ray, voxels_, one.t, one.at));
    one.t += 1;
    const Met met = inside ? walk(one.ray, voxels_, one.t, one.at) : Met::end;
    if (met != Met::nothing) finish(one, met == Met::solid);
    return met == Met::nothing;
  }

  void finish(const Traveller& one, bool hit) {
    const Frame& frame = march_.frame;
    const RayMarchOutputs& out = *march_.outputs;
    const std::int64_t row = one.pixel / frame.width, column = one.pixel % frame.width;
    tally_.samples += one.samples;
    tally_.hits += hit;
    store(out.samples, row, column, one.samples);
    if (!hit) {
      store(out.shade, row, column, kBackground);
      store(out.voxel, row, column, std::int64_t{-1});
      return store(out.depth, row, column, std::numeric_limits<float>::infinity());
    }
    const std::int64_t plane = static_cast<std::int64_t>(voxels_.extents[1]) * voxels_.extents[2];
    store(out.voxel, row, column,
          one.at[0] * plane + one.at[1] * static_cast<std::int64_t>(voxels_.extents[2]) + one.at[2]);
    const double way = one.ray.skipped + entry_of(one.ray, voxels_, one.at);
    store(out.depth, row, column, static_cast<float>(way * one.ray.unit));
    if (out.shade.present()) store(out.shade, row, column, shade(voxels_, one.at, frame.spacing, frame.light));
  }

  const March& march_;
  Voxels voxels_;
  std::int64_t row_, column_;
  std::vector<Traveller> travellers_;
  Tally tally_;
};

}  // namespace

std::int64_t tile_count(const Frame& frame) {
  return (frame.width + kTile - 1) / kTile * ((frame.height + kTile - 1) / kTile);
}

std::size_t march_scratch_bytes(const Steps& steps) {
  return static_cast<std::size_t>(kTile * kTile) * (sizeof(Traveller) + sizeof(double) + steps.scratch_bytes());
}

void march(const March& march, int threads, Monitor& monitor, RayMarchReport& report) {
  std::vector<Tally> tallies(static_cast<std::size_t>(threads));
  parallel_jobs(threads, tile_count(march.frame), [&](int worker, std::int64_t number) {
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
}

}  // namespace fathom::apps::cpu
