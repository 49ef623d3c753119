// What each node of a graph does on a device to the pixels of its children: its kernels, and its tables.
#pragma once

#include <memory>
#include <vector>

#include "fathom/stream/evaluator.h"
#include "stream/cuda/work.h"
#include "stream/operation.h"

namespace fathom::stream::cuda {

class Steps {
 public:
  /// @param tables  slots of entries, from `first_table` on
  Steps(const std::vector<Plan::Entry>& entries, Kept& tables, std::size_t first_table);

  template <class What>
  const What* as(std::size_t k) const {
    return operations_[k] ? operations_[k]->as<What>() : nullptr;
  }
  /// Whether an entry needs all of its child for any part: an exact distance.
  bool is_exact(std::size_t k) const;
  /// @param limit  bytes of the device
  bool can_compute(std::size_t k, std::size_t limit) const;
  /// What an entry's part needs of a child: of copies no more than they show.
  Rectangle need_of(std::size_t k, std::size_t child, const Rectangle& part) const;

  /// Computes a part of an entry that the device can compute.
  /// @param patches  of entries: what is needed of them
  /// @returns false: it takes the CPU; what was written does not count
  bool launch(std::size_t k, const Rectangle& part, const Patch& to, const std::vector<Patch>& patches, Walk& walk);

 private:
  class Step;

  void find_roots();
  bool has_table(std::size_t k) const;
  std::size_t grid_scratch(std::size_t k, const Rectangle& from, const Rectangle& part) const;

  const std::vector<Plan::Entry>& entries_;
  Kept& tables_;
  const std::size_t first_table_;
  std::vector<std::shared_ptr<const Operation>> operations_;  ///< of entries
  std::vector<std::int64_t>
      roots_;  ///< of entries whose pixels are +inf or roots of integers: how many integers. Else 0
};

}  // namespace fathom::stream::cuda
