// Sets of sites that come and go, as the package holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "fathom/core/error.h"
#include "fathom/points/dynamic_set.h"
#include "points.h"
#include "watch.h"

namespace fathom::python {

/// Answers as any set. Edits wait for those who ask, and the other way round. An edit by a thread that asks, out of a
/// progress function, throws std::runtime_error.
class DynamicSet : public SiteSet {
 public:
  /// @param choices  of which the storage, the step and the memory have no meaning
  DynamicSet(const HostArray& points, const SetChoices& choices, int threads);
  DynamicSet(const DeviceArray& points, const SetChoices& choices, int threads);

  bool batched() const override { return false; }
  /// What the last edit left, even while another is at work.
  /// @throws Error an edit broke off
  std::int64_t size() const override { return broken_ ? set().size() : size_.load(); }
  std::size_t bytes() const override { return bytes_; }
  std::int64_t ids() const { return ids_; }
  bool contains(std::int64_t id) const;

  /// Runs an edit of the set, work(set, who may stop it), without the interpreter's lock.
  template <class Work>
  void edit(const Work& work) {
    Execution watch;
    run_watched(nanobind::none(), watch, [&] {
      const Turns::Editing lock(turns_);
      try {
        work(*edited_, watch);
      } catch (...) {
        note_whether_broken();
        settle();
        throw;
      }
      settle();
    });
  }

 protected:
  const points::SiteSet& set() const override { return edited_->sites(); }

 private:
  void note_whether_broken();
  /// At the end of an edit, before anybody asks.
  void settle();

  std::optional<points::DynamicSet> edited_;
  std::atomic<std::int64_t> size_ = 0, ids_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<bool> broken_ = false;  ///< by an edit that broke off, for good
};

void add_dynamic_set(nanobind::module_& m);

}  // namespace fathom::python
