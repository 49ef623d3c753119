#include "points/cuda/carried.h"

#include <algorithm>
#include <cstdint>

#include "points/measure.hd.h"

namespace fathom::points::cuda {

namespace {

using Name = Column Answers::*;
constexpr Name kNames[] = {&Answers::site, &Answers::distance, &Answers::squared, &Answers::lower};

bool has_eight_bytes(const Column& column) { return size_of(column.dtype) == 8; }

/// Ids wait in their own place, unless another is wider.
Name widest_of(const Answers& wanted) {
  Name widest = &Answers::site;
  for (const Name name : kNames) {
    if (!(wanted.*name).data) continue;
    if (!(wanted.*widest).data || (has_eight_bytes(wanted.*name) && !has_eight_bytes(wanted.*widest))) widest = name;
  }
  return widest;
}

/// How many bits squares may have beyond 64, at least 1.
int bits_above(const Request& request, const DeviceTree& tree) {
  if (tree.dtype != DType::int32 || request.queries.dtype != DType::int32) return 1;
  Wide farthest = 0;  // from any query
  for (int k = 0; k < tree.axes; ++k)
    farthest += square<Wide>(static_cast<std::int64_t>(std::max(INT32_MAX - tree.low[k], tree.high[k] - INT32_MIN)));
  return farthest >> 65 == 0 ? 1 : 2;
}

/// In another answer or, if there is none, in the call's own memory.
BytesOf bytes_above(const Request& request, const Answers& answers, Name taken, fathom::cuda::Scratch& scratch) {
  for (const Name name : kNames) {
    if (name == taken || !(request.answers.*name).data) continue;
    const Column& other = answers.*name;
    const auto size = static_cast<std::int64_t>(size_of(other.dtype));
    return {other.data, other.row_step * size, size};
  }
  return {scratch.take<std::byte>(request.queries.count * request.k), request.k, 1};
}

}  // namespace

Carried carried_of(const Request& request, const Answers& answers, const DeviceTree& tree,
                   fathom::cuda::Scratch& scratch) {
  const Name widest = widest_of(request.answers);
  const bool eight_bytes = has_eight_bytes(request.answers.*widest);
  const int bits = eight_bytes ? 64 : 32;
  Carried carried;
  carried.squares = scratch.take<std::uint64_t>(request.queries.count * request.k);
  carried.ids = {(answers.*widest).data, eight_bytes ? DType::int64 : DType::int32, (answers.*widest).row_step};
  carried.id_bits = bits - bits_above(request, tree);
  const bool ids_wait = widest == &Answers::site || request.answers.site.data;
  const std::int64_t highest_id = std::max<std::int64_t>(tree.sites.count - 1, 0) * tree.sites.every;
  if (ids_wait && highest_id >> carried.id_bits != 0) {
    carried.id_bits = bits;
    carried.above = bytes_above(request, answers, widest, scratch);
  }
  return carried;
}

}  // namespace fathom::points::cuda
