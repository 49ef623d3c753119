// Resident sets of sites, as the package holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "fathom/points/site_set.h"
#include "host_array.h"

namespace fathom::python {

/// Sites and, where the library refers to it, the array that they came in.
class SiteSet {
 public:
  /// @param sites    coordinates, or with `is_mask` an array whose nonzero elements are sites
  /// @param storage  number of a points::Storage
  SiteSet(nanobind::handle sites, bool is_mask, int storage, std::int64_t every, std::vector<double> period,
          int threads, nanobind::object progress);

  std::int64_t size() const { return set_->size(); }
  std::size_t bytes() const { return set_->bytes(); }

  /// @param directions, half_angles             a cone's, or None
  /// @param distance, squared, site, lower  arrays to fill, or None
  void nearest(nanobind::handle queries, const points::QueryOptions& options, nanobind::handle directions,
               nanobind::handle half_angles, nanobind::handle distance, nanobind::handle squared, nanobind::handle site,
               nanobind::handle lower, nanobind::object progress) const;

 private:
  HostArray memory_;
  std::optional<points::SiteSet> set_;
};

void add_points(nanobind::module_& m);

}  // namespace fathom::python
