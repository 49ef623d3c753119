// Where neighbours that a query carries from piece to piece of a set that passes by wait: in 8 bytes of the call's own
// for each, and in the place of one of its answers, which are not written before the last piece.
//
// The 8 bytes hold the square, if that is a double. Between int32 coordinates squares are less than 3 · 2⁶⁴: the one or
// two bits of these that do not fit go above the id, in the answer's place. Ids wait where ids are asked for: distances
// do not depend on them. If two bits above leave 4 bytes too few for the ids, they go to the place of another answer.
// Cost: where there is none, 1 byte more. 66 bits of a square and 31 of an id are more than 12 bytes hold.
//
// All bits set there say that there is no neighbour: 65 bits of a square and the id 2³¹ − 1 would, too, but the last of
// so many sites is never carried on.
#pragma once

#include "core/cuda/scratch.h"
#include "points/cuda/device_tree.h"
#include "points/request.h"

namespace fathom::points::cuda {

/// A byte of each neighbour.
struct BytesOf {
  std::byte* data = nullptr;  ///< null: there are none
  std::int64_t row_step = 0, step = 0;

  FATHOM_HD std::byte& of(std::int64_t query, int j) const { return data[query * row_step + j * step]; }
};

/// Neighbours that were found among the pieces that passed by before.
struct Carried {
  std::uint64_t* squares = nullptr;  ///< [query][k]: or their lowest 64 bits
  Column ids;                        ///< of int64 or int32: the place of an answer
  int id_bits = 0;                   ///< what is above them there belongs to squares …
  BytesOf above;                     ///< … unless that is here
  bool begun = false;                ///< there are such
  bool more = false;                 ///< more pieces are to come
};

/// @param request  says which answers there are; of none, all that any may need is taken
/// @param answers  where they go on the device
/// @param tree     of the whole set
Carried carried_of(const Request& request, const Answers& answers, const DeviceTree& tree,
                   fathom::cuda::Scratch& scratch);

}  // namespace fathom::points::cuda
