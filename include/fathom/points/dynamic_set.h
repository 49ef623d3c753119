// Sites anywhere that come and go, and queries against them: no rebuild between.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fathom/points/site_set.h"

namespace fathom::points {

struct DynamicSetOptions {
  std::vector<double> period;  ///< as in SiteSetOptions
  std::vector<int> devices;    ///< as in SiteSetOptions
  /// Threads, and the backend. `automatic`: the set is in the host's memory. `cuda`: in a device's, where it answers;
  /// the host keeps what edits need, as much again.
  Execution execution;
};

/// Sites that answer queries as a sorted SiteSet of them does: same options, outputs, bytes. A site has an id from the
/// time it is added, whatever else comes and goes; the ids of sites that are gone are not given out again.
///
/// Movable. nearest() may be called by many threads at once; while add(), remove() or move() is at work, nothing else.
///
/// Cost of an edit: that of some looks into the tree, on average; of a batch as large as a quarter of the set: a
/// rebuild. Memory for each site: in 3D at most 33 bytes where sites were only added (float64: 54), up to 2.5 times
/// that where they were removed; and 4 bytes for each id that was ever given out. A rebuild takes 40 bytes for each
/// site while it works.
///
/// Edits of a set on a device copy the leaves that changed; they wait for queries at work, and are done when they
/// return. They do not know of graphs: one that captured a query must not be running then, nor run again, for it reads
/// memory that the set may have given back. Nothing checks that; capture it again.
/// Source: Itai, Konheim & Rodeh 1981, a sorted sequence with gaps; here along a Hilbert curve under a tree of boxes.
class DynamicSet {
 public:
  /// Its first sites, which may be none: their type and number of coordinates stay the set's. Ids from 0 on.
  /// @throws InvalidArgument as add(); a batch; options without a meaning
  /// @throws DeviceError CUDA was asked for and is not to be had, or the device has not enough memory, which edits may
  ///   find, too, and std::bad_alloc: all calls throw Error then, unless it was before anything was changed
  explicit DynamicSet(const Coordinates& sites, const DynamicSetOptions& options = {});
  /// The same of places in a device's memory, as add() takes them. The options say where the set is.
  explicit DynamicSet(const DeviceCoordinates& sites, const DynamicSetOptions& options = {}, Stream stream = {});
  ~DynamicSet();
  DynamicSet(DynamicSet&&) noexcept;
  DynamicSet& operator=(DynamicSet&&) noexcept;

  /// What answers: a SiteSet, to be looked at only.
  const SiteSet& sites() const;
  std::int64_t size() const { return sites().size(); }
  std::size_t bytes() const;  ///< on the host and all devices together
  std::int64_t ids() const;   ///< given out so far: 0 to this, less 1

  /// @throws InvalidArgument there never was such a site
  bool contains(std::int64_t id) const;

  /// @return the first one's id; the others' follow
  /// @param watch  (as all below) progress and stop
  /// @throws Cancelled (as all below) it was stopped: some of the sites are changed, none of a quarter of the set or
  ///         more
  /// @throws InvalidArgument (as all below; nothing is changed then) another type or number of coordinates than the
  ///   set's; a coordinate that a SiteSet does not take, or outside of the periodic box; ids beyond 2³² − 2
  std::int64_t add(const Coordinates& sites, const Execution& watch = {});
  /// @throws InvalidArgument an id that is no site's any more or never was, or is named twice
  void remove(std::span<const std::int64_t> ids, const Execution& watch = {});
  void remove(std::int64_t id) { remove({&id, 1}); }
  /// @param to  one place for each id
  void move(std::span<const std::int64_t> ids, const Coordinates& to, const Execution& watch = {});

  /// The same with places in a device's memory, in the stream's order. They pass by the host, which makes the edit,
  /// also of a set on a device. Waits for them.
  std::int64_t add(const DeviceCoordinates& sites, Stream stream = {});
  void move(std::span<const std::int64_t> ids, const DeviceCoordinates& to, Stream stream = {});

  QueryReport nearest(const Coordinates& queries, const QueryOptions& options, const QueryOutputs& outputs) const {
    return sites().nearest(queries, options, outputs);
  }
  QueryReport nearest(const DeviceCoordinates& queries, const QueryOptions& options, const DeviceQueryOutputs& outputs,
                      Stream stream = {}) const {
    return sites().nearest(queries, options, outputs, stream);
  }

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace fathom::points
