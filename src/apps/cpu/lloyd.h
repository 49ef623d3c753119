// Lloyd's iteration on the CPU, a step at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/cpu/regions.h"
#include "apps/sampler.h"
#include "fathom/core/array.h"
#include "fathom/core/workspace.h"

namespace fathom::apps::cpu {

class Lloyd {
 public:
  /// @param weights  referred to, not all 0
  /// @param options  valid
  Lloyd(const Weights& weights, std::int64_t sites, const LloydOptions& options);
  static std::size_t bytes(const Shape& weights, std::int64_t sites, const LloydOptions& options, int threads);

  /// Finds the regions of sites at such positions, [n, axes], and their sums.
  void assign(const double* positions);
  /// Moves the sites that were assigned. @return the farthest that one went along an axis
  double move(std::uint64_t iteration, double* positions) const;

  std::int64_t mass(std::int64_t site) const { return record(site)[1]; }
  double energy(const double* positions) const;
  int threads() const { return threads_; }

 private:
  const std::int64_t* record(std::int64_t site) const { return sums_.data() + site * layout_.fields(); }
  void place(const double* positions);

  const Weights& weights_;
  const LloydOptions& options_;
  const std::int64_t count_;
  const int threads_;
  SumLayout layout_;
  Shape shape_;
  Sampler sampler_;
  Array mask_, nearest_, numbers_;
  std::vector<std::int32_t> places_;
  std::vector<std::int64_t> elements_;  ///< of the sites, linear
  std::vector<std::int64_t> sums_;
  Workspace workspace_;
};

/// Moves sites, [n, axes] and at least one, to the centroids of their regions as the options say.
/// @return [n] Σ w of the regions of the sites at their last positions, if they are wanted
std::vector<std::int64_t> iterate(const Weights& weights, const LloydOptions& options, std::vector<double>& positions,
                                  LloydReport& report, bool masses = false);

/// The type of linear indices into it, as narrow as can be.
DType index_type(const Shape& shape);

}  // namespace fathom::apps::cpu
