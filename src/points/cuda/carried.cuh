// How neighbours that a query carries from piece to piece are kept in the places that carried.h gives them.
#pragma once

#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

template <class Value>
struct CarriedNeighbour {
  Value squared;
  std::int64_t id;  ///< kNobody: there is none
};

template <class Value>
__device__ void carry(const DeviceRequest& request, std::int64_t query, int j, const CarriedNeighbour<Value>& found) {
  const Carried& places = request.carried;
  std::uint64_t square, word = request.answers.site.data ? static_cast<std::uint64_t>(found.id) : 0;
  if constexpr (std::is_same_v<Value, double>) {
    square = static_cast<std::uint64_t>(__double_as_longlong(found.squared));
  } else {
    square = static_cast<std::uint64_t>(found.squared);
    const auto above = static_cast<std::uint64_t>(found.squared >> 64);
    if (places.above.data) places.above.of(query, j) = static_cast<std::byte>(above);
    else word |= above << places.id_bits;
  }
  places.squares[query * request.k + j] = square;
  put(places.ids, query, j, found.id == kNobody ? std::int64_t{-1} : static_cast<std::int64_t>(word));
}

template <class Value>
__device__ CarriedNeighbour<Value> carried(const DeviceRequest& request, std::int64_t query, int j) {
  const Carried& places = request.carried;
  const std::uint64_t square = places.squares[query * request.k + j];
  const std::int64_t at = query * places.ids.row_step + j;
  const bool is_short = places.ids.dtype == DType::int32;
  const std::uint64_t word = is_short ? reinterpret_cast<const std::uint32_t*>(places.ids.data)[at]
                                      : reinterpret_cast<const std::uint64_t*>(places.ids.data)[at];
  const std::uint64_t nobody = is_short ? ~0u : ~std::uint64_t{0};
  if (word == nobody) return {Value{}, kNobody};
  if constexpr (std::is_same_v<Value, double>) {
    return {__longlong_as_double(static_cast<long long>(square)), static_cast<std::int64_t>(word)};
  } else {
    const std::uint64_t above =
        places.above.data ? static_cast<std::uint64_t>(places.above.of(query, j)) : word >> places.id_bits;
    const std::uint64_t id = word & ((std::uint64_t{1} << places.id_bits) - 1);
    return {static_cast<Value>(above) << 64 | square, static_cast<std::int64_t>(id)};
  }
}

}  // namespace fathom::points::cuda
