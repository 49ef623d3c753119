// Resident sets of sites, as the package holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "fathom/points/site_set.h"
#include "operation.h"
#include "turns.h"

namespace fathom::python {

/// How a set is built, as the package says it.
struct SetChoices {
  int storage = 0;  ///< number of a points::Storage
  std::int64_t every = 1;
  std::vector<double> period;
  int backend = 0;  ///< number of a Backend
  std::optional<std::size_t> device_memory;
  std::vector<int> devices;

  points::SiteSetOptions options(int threads) const;
};

/// Sites and, where the library refers to it, the array of the host that they came in.
class SiteSet {
 public:
  /// @param sites    coordinates, or with `is_mask` an array whose nonzero elements are sites
  SiteSet(const HostArray& sites, bool is_mask, const SetChoices& choices, int threads, nanobind::object progress);

  /// Where the library refers to their array, it is the caller who keeps it.
  SiteSet(const DeviceArray& sites, bool is_mask, const SetChoices& choices, int threads, nanobind::object progress);
  virtual ~SiteSet() = default;

  /// To be called while asking.
  virtual void ask(const points::Coordinates& queries, const points::QueryOptions& options,
                   const points::QueryOutputs& outputs) const {
    set().nearest(queries, options, outputs);
  }
  virtual void ask(const points::DeviceCoordinates& queries, const points::QueryOptions& options,
                   const points::DeviceQueryOutputs& outputs, Stream stream) const {
    set().nearest(queries, options, outputs, stream);
  }
  /// These wait for nobody.
  virtual bool batched() const { return set().batched(); }
  virtual std::int64_t size() const { return set().size(); }
  virtual std::size_t bytes() const { return set().bytes(); }
  /// Read back; to be called while asking. Of voxels the ids alone.
  virtual points::SiteList list(std::int64_t cloud) const { return set().sites(cloud); }
  /// Held by whoever asks, got without the interpreter's lock: nobody edits the set meanwhile.
  Turns::Asking asking() const { return Turns::Asking(turns_); }

 protected:
  SiteSet() = default;
  /// What answers, unless ask() says something else; looked at while asking.
  virtual const points::SiteSet& set() const { return *set_; }
  mutable Turns turns_;

 private:
  HostArray memory_;
  std::optional<points::SiteSet> set_;
};

void add_points(nanobind::module_& m);

}  // namespace fathom::python
