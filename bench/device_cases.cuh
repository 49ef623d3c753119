// The masks that the benchmarks of devices run on, drawn on the device. Compiled by nvcc into device.cu and at run
// time, by itself, for the peers in Python: no header is needed.
#pragma once

__device__ inline unsigned mixed(unsigned long long i, unsigned seed) {
  i = (i + seed) * 0x9E3779B97F4A7C15ull;
  i = (i ^ (i >> 29)) * 0xBF58476D1CE4E5B9ull;
  i = (i ^ (i >> 32)) * 0x94D049BB133111EBull;
  return static_cast<unsigned>(i >> 32);
}

enum Kind { kScatter, kOne, kNone, kAll, kBlobs, kPlane, kDiagonal, kRing, kObjects };

/// Whether an element is in one of a dozen disks or balls at random places, with radii of 1/16 to 1/8 of the array.
__device__ inline bool in_object(long long nz, long long ny, long long nx, long long z, long long y, long long x) {
  const long long n = min(nx, ny);
  const auto random = [](int k, int what) { return mixed(4 * k + what, 11) / 4294967296.0; };
  for (int k = 0; k < 12; ++k) {
    const double dx = x - random(k, 0) * nx, dy = y - random(k, 1) * ny, dz = nz > 1 ? z - random(k, 2) * nz : 0;
    const double r = n / 16.0 * (1 + random(k, 3));
    if (dx * dx + dy * dy + dz * dz < r * r) return true;
  }
  return false;
}

/// Nonzero = site. Thread = element, in blocks of 256. `share`: of sites, for scattered ones.
extern "C" __global__ void draw(unsigned char* mask, long long nz, long long ny, long long nx, int kind, double share) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= nz * ny * nx) return;
  const long long x = i % nx, y = i / nx % ny, z = i / nx / ny;
  bool site = false;
  switch (kind) {
    case kScatter: site = mixed(i, 1) < share * 4294967296.0; break;
    case kOne: site = x == nx / 3 && y == ny / 3 && z == nz / 3; break;
    case kNone: break;
    case kAll: site = true; break;
    case kBlobs: {  // a disk or ball in every cell of a grid
      const long long cell = max(32ll, min(nx, ny) / 16), r = cell / 3;
      const unsigned h = mixed((z / cell * 4096 + y / cell) * 4096 + x / cell, 7);
      const long long dx = x % cell - cell / 2 + h % 8, dy = y % cell - cell / 2 + h / 8 % 8;
      const long long dz = nz > 1 ? z % cell - cell / 2 + h / 64 % 8 : 0;
      site = dx * dx + dy * dy + dz * dz < r * r;
      break;
    }
    case kPlane: site = nz > 1 ? z == nz - 1 : y == ny - 1; break;
    case kDiagonal: site = nz > 1 ? x == y && y == z : x * ny / nx == y; break;
    case kRing: {
      const double dx = x - nx / 2.0, dy = y - ny / 2.0, dz = nz > 1 ? z - nz / 2.0 : 0, r = min(nx, ny) * 0.4;
      site = fabs(sqrt(dx * dx + dy * dy + dz * dz) - r) < 1;
      break;
    }
    case kObjects: site = !in_object(nz, ny, nx, z, y, x); break;
  }
  mask[i] = site;
}
