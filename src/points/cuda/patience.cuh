// How much a search may take for a query before that is given up.
#pragma once

#include "points/cuda/left_over.h"

namespace fathom::points::cuda {

/// A query to which nothing is near enough any more after so many steps, in each of which it waits for boxes or leaves:
/// whatever way a search goes, it ends then.
template <class Query>
class Impatient : public Query {
 public:
  __device__ Impatient(const Query& query, const Patience& patience)
      : Query(query), left_(patience.steps), of_node_(patience.steps_of_node) {}

  __device__ bool is_tired() const { return left_ <= 0; }

  __device__ float limit() const { return is_tired() ? kNothing : Query::limit(); }

  /// So many parents of leaves are left to the warp: gives up at once if they take too many steps.
  __device__ void expect(int nodes) {
    if (nodes * of_node_ > left_) left_ = 0;
  }

  using Query::bound_of;
  __device__ float bound_of(const void* boxes, unsigned group, int child) {
    --left_;
    return Query::bound_of(boxes, group, child);
  }
  template <int kMost>
  __device__ bool look_at_leaves(const unsigned (&leaves)[kMost], int count) {
    --left_;
    return Query::look_at_leaves(leaves, count);
  }
  template <int kMost>
  __device__ unsigned near_leaves(const unsigned (&leaves)[kMost], int count) {
    --left_;
    return Query::near_leaves(leaves, count);
  }

 private:
  static constexpr float kNothing = -1;  ///< what another warp is told so, it passes over: a rank beyond all

  int left_;  ///< steps
  const int of_node_;
};

/// What a team's search takes: whatever it needs, …
struct Unlimited {
  template <class Query>
  __device__ Query& of(Query& query) const {
    return query;
  }
  template <class Query>
  __device__ bool is_used_up(const Query&) const {
    return false;
  }
};

/// … or some steps; but what it needs where double does not hold the squares.
struct Limited {
  Patience patience;

  template <class Query>
  __device__ decltype(auto) of(Query& query) const {
    if constexpr (Query::kHasLeaves) return Impatient<Query>(query, patience);
    else return static_cast<Query&>(query);
  }
  /// By all threads of the block.
  template <class Query>
  __device__ bool is_used_up(const Query& query) const {
    if constexpr (Query::kHasLeaves) return __syncthreads_or(query.is_tired()) != 0;
    else return false;
  }
};

}  // namespace fathom::points::cuda
