#include "points/cuda/copies.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/cuda/runtime.h"
#include "fathom/core/error.h"

namespace fathom::points::cuda {

using fathom::cuda::check;
using fathom::cuda::Scratch;

Cloud rows_at(const Cloud& cloud, const std::byte* base) {
  Cloud rows = cloud;
  for (int k = 0; k < cloud.axes; ++k) {
    rows.data[k] = base + static_cast<std::size_t>(k) * size_of(cloud.dtype);
    rows.step[k] = cloud.axes;
  }
  return rows;
}

bool is_dense(const Cloud& cloud) {
  const Cloud rows = rows_at(cloud, cloud.data[0]);
  return std::equal(rows.data, rows.data + cloud.axes, cloud.data) &&
         std::equal(rows.step, rows.step + cloud.axes, cloud.step);
}

int device_of(const Cloud& cloud, const char* name) {
  const int device = fathom::cuda::device_of(cloud.data[0], name);
  for (int k = 1; k < cloud.axes; ++k)
    if (fathom::cuda::device_of(cloud.data[k], name) != device)
      throw InvalidArgument(std::string("the coordinates of '") + name + "' lie on several devices; give them on one");
  return device;
}

Cloud upload(const Cloud& cloud, std::byte* to, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(cloud.count * row_bytes(cloud)), size = size_of(cloud.dtype);
  if (is_dense(cloud)) {
    check(cudaMemcpyAsync(to, cloud.data[0], bytes, cudaMemcpyHostToDevice, stream), "copying points to the device");
  } else {
    std::vector<std::byte> rows(bytes);
    std::byte* at = rows.data();
    for (std::int64_t i = 0; i < cloud.count; ++i)
      for (int k = 0; k < cloud.axes; ++k, at += size)
        std::memcpy(at, cloud.data[k] + i * cloud.step[k] * static_cast<std::int64_t>(size), size);
    check(cudaMemcpyAsync(to, rows.data(), bytes, cudaMemcpyHostToDevice, stream), "copying points to the device");
    check(cudaStreamSynchronize(stream), "copying points to the device");
  }
  return rows_at(cloud, to);
}

ColumnCopy::ColumnCopy(const Column& column, std::int64_t queries, int neighbours, Scratch& scratch)
    : host(column), device{nullptr, column.dtype, neighbours}, rows(queries), k(neighbours) {
  if (column.data) device.data = scratch.take<std::byte>(static_cast<std::int64_t>(bytes()));
}

void ColumnCopy::download(cudaStream_t stream) const {
  if (!host.data) return;
  const bool dense = host.row_step == k;
  std::vector<std::byte> rows_of_host(dense ? 0 : bytes());
  std::byte* to = dense ? host.data : rows_of_host.data();
  check(cudaMemcpyAsync(to, device.data, bytes(), cudaMemcpyDeviceToHost, stream), "copying answers");
  check(cudaStreamSynchronize(stream), "answering queries");
  for (std::int64_t i = 0; !dense && i < rows; ++i)
    std::memcpy(host.data + i * host.row_step * static_cast<std::int64_t>(size_of(host.dtype)),
                to + static_cast<std::size_t>(i) * row(), row());
}

Copies::Copies(const Request& request, Scratch& scratch)
    : queries(scratch.take<std::byte>(request.queries.count * row_bytes(request.queries))),
      cones(scratch.take<ConeOfQuery>(request.cones.present ? request.queries.count : 0)),
      distance(request.answers.distance, request.queries.count, request.k, scratch),
      squared(request.answers.squared, request.queries.count, request.k, scratch),
      site(request.answers.site, request.queries.count, request.k, scratch),
      lower(request.answers.lower, request.queries.count, 1, scratch) {}

Request Copies::upload(const Request& host, cudaStream_t stream) const {
  Request request = host;
  request.queries = cuda::upload(host.queries, queries, stream);
  request.answers = answers();
  return request;
}

const ConeOfQuery* Copies::upload_cones(const Request& host, cudaStream_t stream) const {
  if (!host.cones.present) return nullptr;
  std::vector<ConeOfQuery> all;
  for (std::int64_t q = 0; q < host.queries.count; ++q) all.push_back(cone_of(host.cones, q));
  check(cudaMemcpyAsync(cones, all.data(), all.size() * sizeof(ConeOfQuery), cudaMemcpyHostToDevice, stream),
        "copying cones to the device");
  check(cudaStreamSynchronize(stream), "copying cones to the device");
  return cones;
}

void Copies::download(cudaStream_t stream) const {
  for (const ColumnCopy* copy : {&distance, &squared, &site, &lower}) copy->download(stream);
}

}  // namespace fathom::points::cuda
