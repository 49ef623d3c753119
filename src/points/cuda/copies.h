// Arrays of the host and their copies on a device, for one call.
#pragma once

#include <cuda_runtime_api.h>

#include "core/cuda/scratch.h"
#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

inline std::int64_t row_bytes(const Cloud& cloud) {
  return cloud.axes * static_cast<std::int64_t>(size_of(cloud.dtype));
}

/// The same points as rows at another place.
Cloud rows_at(const Cloud& cloud, const std::byte* base);

/// Whether points are rows without gaps.
bool is_dense(const Cloud& cloud);

/// The device whose memory holds the points, of which there are some.
/// @throws InvalidArgument it is no device's, or not one device's alone
int device_of(const Cloud& cloud, const char* name);

/// Copies points of the host to rows on the device; the stream may still read the points when this returns.
Cloud upload(const Cloud& cloud, std::byte* to, cudaStream_t stream);

/// An output of the host and its place on the device, where rows are dense.
struct ColumnCopy {
  Column host, device;
  std::int64_t rows;
  int k;

  ColumnCopy(const Column& column, std::int64_t queries, int neighbours, fathom::cuda::Scratch& scratch);

  std::size_t row() const { return static_cast<std::size_t>(k) * size_of(host.dtype); }
  std::size_t bytes() const { return static_cast<std::size_t>(rows) * row(); }

  /// Waits for the stream.
  void download(cudaStream_t stream) const;
};

/// The arrays of a host call.
struct Copies {
  std::byte* queries;
  ConeOfQuery* cones;
  ColumnCopy distance, squared, site, lower;

  Copies(const Request& request, fathom::cuda::Scratch& scratch);

  /// Where they go on the device.
  Answers answers() const { return {distance.device, squared.device, site.device, lower.device}; }
  /// The request with its queries on the device, and its answers to go there.
  Request upload(const Request& host, cudaStream_t stream) const;
  const ConeOfQuery* upload_cones(const Request& host, cudaStream_t stream) const;
  void download(cudaStream_t stream) const;
};

}  // namespace fathom::points::cuda
