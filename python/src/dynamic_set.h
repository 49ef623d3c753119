// Sets of sites that come and go, as the package holds them.
#pragma once

#include <nanobind/nanobind.h>

#include "fathom/points/dynamic_set.h"
#include "points.h"

namespace fathom::python {

/// Answers as any set. Edits wait for those who ask, and the other way round.
class DynamicSet : public SiteSet {
 public:
  /// @param choices  of which the storage, the step and the memory have no meaning
  DynamicSet(nanobind::handle points, const SetChoices& choices, int threads);

  const points::SiteSet& set() const override { return edited_->sites(); }
  std::size_t bytes() const override { return edited_->bytes(); }
  bool contains(std::int64_t id) const;

  std::int64_t add(nanobind::handle points);
  /// @param ids  [n], int64, dense
  void remove(nanobind::handle ids);
  void move(nanobind::handle ids, nanobind::handle points);

 private:
  std::optional<points::DynamicSet> edited_;
};

void add_dynamic_set(nanobind::module_& m);

}  // namespace fathom::python
