// What both backends read of a call of morphology.
#pragma once

#include <vector>

#include "apps/near_passes.h"
#include "fathom/apps/morphology.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

/// The erosion, dilation, opening or closing that an operation begins with.
inline MorphologyOperation base_of(MorphologyOperation operation) {
  using Operation = MorphologyOperation;
  switch (operation) {
    case Operation::gradient: return Operation::dilation;
    case Operation::white_top_hat:
    case Operation::remove_thin: return Operation::opening;
    case Operation::black_top_hat:
    case Operation::fill_thin: return Operation::closing;
    default: return operation;
  }
}

inline bool grows(MorphologyOperation base) {
  return base == MorphologyOperation::dilation || base == MorphologyOperation::closing;
}

/// What lies outside for erosions.
inline grid::Border outside(const MorphologyOptions& options) {
  return options.border == MorphologyBorder::ignore ? grid::Border::open : grid::Border::sites;
}

/// One call, checked.
struct MorphologyCall {
  const MorphologyOptions& options;
  const NearPasses& passes;
  MorphologyOperation base;
  DType squares;  ///< of labels: the type that squared distances are compared in
  bool pads, by_label;
};

/// A label, and where it is: half-open ranges along the axes.
struct LabelBox {
  grid::Sites::Value label;
  std::vector<grid::Range> box;
};

}  // namespace fathom::apps
