// An engine by itself on arrays on the device, of those that the call takes for large problems alone. Words and scratch
// are poisoned.
#pragma once

#include <memory>

#include "device_case.h"
#include "grid/batch.h"
#include "grid/cuda/engine.h"
#include "grid/problem.h"

namespace fathom::test {

class EngineOnDevice {
 public:
  using Maker = std::unique_ptr<grid::cuda::Engine> (*)(const grid::Problem&);

  /// Engines do not ask whose memory it is that views are of.
  EngineOnDevice(Maker maker, const AnyConstView& input, const grid::DistanceOptions& options,
                 const grid::DistanceOutputs& outputs)
      : items_(grid::split_batch(input, options, outputs)),
        problem_(grid::make_problem(items_.input, options, items_.outputs)),
        engine_(maker(problem_)) {}
  EngineOnDevice(Maker maker, const Case& c, const OnDevice& device)
      : EngineOnDevice(maker, {device.input.data(), c.input.dtype(), c.input.shape()}, c.options, outputs_of(device)) {}

  bool serves() const { return engine_ != nullptr; }

  void run() const {
    const std::int64_t count = items_.batch.count();
    const Block words(engine_->words_bytes(count)), scratch(engine_->scratch_bytes(problem_, count));
    const auto input = grid::cuda::Input::of(problem_, items_.batch);
    engine_->pack({.input = input, .items = count}, count, words.data(), nullptr);
    engine_->solve(problem_, items_.batch, 0, count, words.data(), scratch.data(), nullptr);
    must(cudaDeviceSynchronize());
  }

 private:
  static grid::DistanceOutputs outputs_of(const OnDevice& device) {
    const auto view_of = [](const AnyDeviceView& v) {
      return v.data() ? AnyView(v.data(), v.dtype(), v.shape(), v.strides()) : AnyView();
    };
    grid::DistanceOutputs views;
    views.distance = view_of(device.outputs.distance);
    views.squared = view_of(device.outputs.squared);
    views.nearest = view_of(device.outputs.nearest);
    return views;
  }

  const grid::Items items_;
  const grid::Problem problem_;
  const std::unique_ptr<grid::cuda::Engine> engine_;
};

}  // namespace fathom::test
