// Neighbours that a query carries from piece to piece of a set that passes by: 8 bytes of each, and the place of one of
// its answers, which are not written before the last piece.
//
// The 8 bytes hold the square, if that is a double. Between int32 coordinates squares are less than 3 · 2⁶⁴: two bits
// of these go above the id, which leaves 30 for it in a place of 4 bytes, and 61 in one of 8.
#pragma once

#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

template <class Value>
struct CarriedNeighbour {
  Value squared;
  std::int64_t id;  ///< kNobody: there is none
};

__device__ inline bool is_short(const Carried& carried) { return carried.ids.dtype == DType::int32; }
__device__ inline int id_bits(const Carried& carried) { return is_short(carried) ? kShortIdBits : 61; }

template <class Value>
__device__ void carry(const DeviceRequest& request, std::int64_t query, int j, const CarriedNeighbour<Value>& found) {
  std::uint64_t square, above = 0;
  if constexpr (std::is_same_v<Value, double>) {
    square = static_cast<std::uint64_t>(__double_as_longlong(found.squared));
  } else {
    square = static_cast<std::uint64_t>(found.squared);
    above = static_cast<std::uint64_t>(found.squared >> 64) << id_bits(request.carried);
  }
  request.carried.squares[query * request.k + j] = square;
  const auto id = static_cast<std::int64_t>(above | static_cast<std::uint64_t>(found.id));
  put(request.carried.ids, query, j, found.id == kNobody ? std::int64_t{-1} : id);
}

template <class Value>
__device__ CarriedNeighbour<Value> carried(const DeviceRequest& request, std::int64_t query, int j) {
  const Column& ids = request.carried.ids;
  const std::uint64_t square = request.carried.squares[query * request.k + j];
  const std::int64_t at = query * ids.row_step + j;
  const std::uint64_t word = is_short(request.carried) ? reinterpret_cast<const std::uint32_t*>(ids.data)[at]
                                                       : reinterpret_cast<const std::uint64_t*>(ids.data)[at];
  const std::uint64_t above = word >> id_bits(request.carried);
  if (above > 2) return {Value{}, kNobody};
  const auto id = static_cast<std::int64_t>(word & ((std::uint64_t{1} << id_bits(request.carried)) - 1));
  if constexpr (std::is_same_v<Value, double>) return {__longlong_as_double(static_cast<long long>(square)), id};
  else return {static_cast<Value>(above) << 64 | square, id};
}

}  // namespace fathom::points::cuda
