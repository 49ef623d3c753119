// The loops over queries.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "points/cpu/stretch.h"
#include "points/nearest_list.h"
#include "points/request.h"
#include "points/tree.h"

namespace fathom::points::cpu {

/// Part of one cloud's queries against a tree with boxes.
struct SearchJob {
  const Tree* tree = nullptr;
  const Request* request = nullptr;
  bool wide = false;  ///< in 128-bit integers
  Stretch queries;
};

/// Answers the job's queries one after another, each from the top of the tree down.
void search(const SearchJob& job, InstructionSet instruction_set);

/// Queries [begin, end) against sites [first, last) of a set without boxes.
struct ScanJob {
  const Tree* tree = nullptr;
  const Request* request = nullptr;
  bool wide = false;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  void* lists = nullptr;  ///< k candidates of double or Wide for each query; added to
};

/// Looks at every site for every query.
void scan(const ScanJob& job, InstructionSet instruction_set);

/// Bytes of one candidate.
inline std::size_t candidate_bytes(bool wide) { return wide ? sizeof(Candidate<Wide>) : sizeof(Candidate<double>); }

/// Id as it is shown of the site at a position among the tree's.
std::int64_t id_of(const Tree& tree, const Naming& naming, std::int64_t position);

}  // namespace fathom::points::cpu
