// Times meshes on a device: narrow bands, dense fields and points, whose arrays stay there.
//
//   device_mesh [--mesh FILE.obj] [--replays N] [--only TEXT]
//
// The mesh (by default a torus) is scaled so that its longest side is 1 and its low corner 0; lattices have n points
// along each axis of [0, 1]³. The fine mesh is an octahedron of 1 M triangles, put on a sphere with bumps. Each case is
// compared with the CPU before it is timed, on a coarser lattice where that would take long. A line of JSON a case: the
// median milliseconds of the replays, and how many points have a distance.
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include "device_timing.cuh"
#include "fathom/core/array.h"
#include "fathom/mesh/triangle_set.h"

namespace {

using namespace fathom;
using namespace fathom::mesh;

struct Mesh {
  std::vector<double> vertices;
  std::vector<std::int32_t> triangles;

  std::int64_t size() const { return static_cast<std::int64_t>(triangles.size()) / 3; }
  Triangles view() const {
    return {AnyConstView(reinterpret_cast<const std::byte*>(vertices.data()), DType::float64,
                         {static_cast<std::int64_t>(vertices.size()) / 3, 3}),
            AnyConstView(reinterpret_cast<const std::byte*>(triangles.data()), DType::int32, {size(), 3})};
  }
};

Mesh read_obj(const std::string& path) {
  Mesh mesh;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, word;
    words >> kind;
    if (kind == "v")
      for (double x; words >> x;) mesh.vertices.push_back(x);
    if (kind == "f")
      while (words >> word) mesh.triangles.push_back(std::stoi(word) - 1);
  }
  return mesh;
}

Mesh torus() {
  constexpr int kAround = 72, kAcross = 36;
  Mesh mesh;
  for (int i = 0; i < kAround; ++i)
    for (int j = 0; j < kAcross; ++j) {
      const double u = 2 * M_PI * i / kAround, v = 2 * M_PI * j / kAcross, r = 1 + 0.4 * std::cos(v);
      for (const double x : {r * std::cos(u), r * std::sin(u), 0.4 * std::sin(v)}) mesh.vertices.push_back(x);
      const auto at = [&](int a, int b) { return (i + a) % kAround * kAcross + (j + b) % kAcross; };
      for (const int k : {at(0, 0), at(1, 0), at(1, 1), at(0, 0), at(1, 1), at(0, 1)}) mesh.triangles.push_back(k);
    }
  return mesh;
}

/// Of 8·n² triangles. Vertices that are on several faces of the octahedron stand there several times.
Mesh bumpy_sphere(int n) {
  Mesh mesh;
  const auto add = [&](int i, int j, int k) {
    std::mt19937 random(static_cast<unsigned>((i * 1009 + j) * 1009 + k));
    const double length = std::sqrt(double(i) * i + double(j) * j + double(k) * k);
    const double x = i / length, y = j / length, z = k / length;
    const double noise = static_cast<double>(random()) / 0x1p32 - 0.5;
    const double radius = 1 + 0.1 * std::sin(5 * x) * std::sin(6 * y) * std::sin(7 * z) + 0.003 * noise;
    for (const double p : {x, y, z}) mesh.vertices.push_back(p * radius);
    mesh.triangles.push_back(static_cast<std::int32_t>(mesh.triangles.size()));
  };
  for (int face = 0; face < 8; ++face) {
    const int x = face & 1 ? -1 : 1, y = face & 2 ? -1 : 1, z = face & 4 ? -1 : 1;
    const auto corner = [&](int i, int j) { add(x * i, y * j, z * (n - i - j)); };
    const bool turned = x * y * z < 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        corner(i, j), turned ? corner(i, j + 1) : corner(i + 1, j), turned ? corner(i + 1, j) : corner(i, j + 1);
        if (i + j + 1 == n) continue;
        corner(i + 1, j + 1), turned ? corner(i + 1, j) : corner(i, j + 1),
            turned ? corner(i, j + 1) : corner(i + 1, j);
      }
  }
  return mesh;
}

/// Longest side 1, low corner 0.
void normalise(Mesh& mesh) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    low[i % 3] = std::min(low[i % 3], mesh.vertices[i]);
    high[i % 3] = std::max(high[i % 3], mesh.vertices[i]);
  }
  for (int k = 0; k < 3; ++k) longest = std::max(longest, high[k] - low[k]);
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) mesh.vertices[i] = (mesh.vertices[i] - low[i % 3]) / longest;
}

Lattice unit_lattice(std::int64_t n) {
  const double h = 1.0 / static_cast<double>(n - 1);
  return {{0, 0, 0}, {h, h, h}, {n, n, n}};
}

TriangleSet set_of(const Mesh& mesh, Sign sign, Backend backend) {
  TriangleSetOptions options;
  options.sign = sign;
  options.execution.backend = backend;
  return TriangleSet(mesh.view(), options);
}

bool equal(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// Median of the replays by the host's clock.
template <class Work>
double time_of_call(const Work& work, int replays) {
  std::vector<double> times;
  for (int k = 0; k < replays + 2; ++k) {
    MUST(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    work();
    MUST(cudaDeviceSynchronize());
    if (k >= 2)
      times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return median(std::move(times));
}

void print(const std::string& name, std::int64_t points, double milliseconds, bool same) {
  std::printf("{\"case\": \"%s\", \"points\": %lld, \"ms\": %.4f, \"same\": %s}\n", name.c_str(),
              static_cast<long long>(points), milliseconds, same ? "true" : "false");
  std::fflush(stdout);
}

struct Bench {
  std::string only;
  int replays = 10;

  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }

  void build(const char* name, const Mesh& mesh, Sign sign) const {
    if (!wants(name)) return;
    print(name, 0, time_of_call([&] { set_of(mesh, sign, Backend::cuda); }, 1), true);
  }

  void band(const char* name, const Mesh& mesh, Sign sign, std::int64_t n, double cutoff, bool ids, bool closest,
            std::int64_t checked) const {
    if (!wants(name)) return;
    const TriangleSet device = set_of(mesh, sign, Backend::cuda), host = set_of(mesh, sign, Backend::cpu);
    BandOptions options;
    options.cutoff = cutoff;
    options.triangles = ids;
    options.closest = closest;
    const Band expected = host.band(unit_lattice(checked), options),
               found = device.band(unit_lattice(checked), options);
    const bool same = equal(expected.tiles, found.tiles) && equal(expected.masks, found.masks) &&
                      equal(expected.distances, found.distances) && equal(expected.triangles, found.triangles) &&
                      equal(expected.closest, found.closest);
    const DeviceBand once = device.device_band(unit_lattice(n), options);
    print(name, once.active, time_of_call([&] { device.device_band(unit_lattice(n), options); }, replays), same);
  }

  void field(const char* name, const Mesh& mesh, Sign sign, std::int64_t n, std::int64_t checked) const {
    if (!wants(name)) return;
    const TriangleSet device = set_of(mesh, sign, Backend::cuda), host = set_of(mesh, sign, Backend::cpu);
    Array expected(DType::float32, {checked, checked, checked}), found(DType::float32, {checked, checked, checked});
    Outputs outputs;
    outputs.distance = expected.view();
    host.field(unit_lattice(checked), outputs);
    outputs.distance = found.view();
    device.field(unit_lattice(checked), outputs);
    const Block<float> memory(n * n * n);
    DeviceOutputs there;
    there.distance = AnyDeviceView(reinterpret_cast<std::byte*>(memory.data), DType::float32, {n, n, n});
    const double ms = time_of_call([&] { device.field(unit_lattice(n), there); }, replays);
    print(name, n * n * n, ms, equal(expected, found));
  }

  void points(const char* name, const Mesh& mesh, Sign sign, std::int64_t n) const {
    if (!wants(name)) return;
    const TriangleSet device = set_of(mesh, sign, Backend::cuda), host = set_of(mesh, sign, Backend::cpu);
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> along(0, 1), off(-0.017, 0.017);  // 1 % of the diagonal
    Array points(DType::float32, {n, 3});
    for (std::int64_t i = 0; i < n; ++i) {
      const auto t = static_cast<std::int64_t>(along(random) * static_cast<double>(mesh.size()));
      for (int k = 0; k < 3; ++k)
        points.as<float>().data()[3 * i + k] =
            static_cast<float>(mesh.vertices[3 * mesh.triangles[3 * t] + k] + off(random) / std::sqrt(3));
    }
    Array expected(DType::float32, {n}), found(DType::float32, {n});
    Outputs outputs;
    outputs.distance = expected.view();
    host.nearest(points.view(), outputs);
    outputs.distance = found.view();
    device.nearest(points.view(), outputs);
    const Block<float> memory(3 * n), answers(n);
    MUST(cudaMemcpy(memory.data, points.data(), points.bytes(), cudaMemcpyHostToDevice));
    DeviceOutputs there;
    there.distance = AnyDeviceView(reinterpret_cast<std::byte*>(answers.data), DType::float32, {n});
    const AnyConstDeviceView questions(reinterpret_cast<const std::byte*>(memory.data), DType::float32, {n, 3});
    print(name, n, time_of_call([&] { device.nearest(questions, there); }, replays), equal(expected, found));
  }
};

}  // namespace

int main(int count, char** words) {
  Bench bench;
  Mesh mesh;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i];
    if (option == "--mesh") mesh = read_obj(words[i + 1]);
    else if (option == "--replays") bench.replays = std::stoi(words[i + 1]);
    else if (option == "--only") bench.only = words[i + 1];
  }
  if (mesh.triangles.empty()) mesh = torus();
  Mesh fine = bumpy_sphere(362);
  normalise(mesh);
  normalise(fine);
  bench.build("build mesh", mesh, Sign::none);
  bench.build("build fine, pseudonormals", fine, Sign::pseudonormal);
  bench.band("band mesh 100 .004 unsigned", mesh, Sign::none, 100, 0.004, false, false, 100);
  bench.band("band mesh 1000 .004 unsigned", mesh, Sign::none, 1000, 0.004, false, false, 1000);
  bench.band("band mesh 1000 .004 signed, ids", mesh, Sign::pseudonormal, 1000, 0.004, true, false, 500);
  bench.band("band mesh 1000 .004 signed, ids, closest", mesh, Sign::pseudonormal, 1000, 0.004, true, true, 500);
  bench.band("band mesh 1000 .004 winding, ids", mesh, Sign::winding, 1000, 0.004, true, false, 500);
  bench.band("band mesh 1500 .016 unsigned", mesh, Sign::none, 1500, 0.016, false, false, 300);
  bench.band("band mesh 1500 .016 signed, ids", mesh, Sign::pseudonormal, 1500, 0.016, true, false, 300);
  bench.band("band mesh 1500 .016 signed, ids, closest", mesh, Sign::pseudonormal, 1500, 0.016, true, true, 300);
  bench.band("band fine 1000 3 voxels unsigned", fine, Sign::none, 1000, 3.0 / 999, false, false, 500);
  bench.band("band fine 1000 3 voxels signed, ids", fine, Sign::pseudonormal, 1000, 3.0 / 999, true, false, 500);
  bench.band("band fine 1000 3 voxels winding, ids", fine, Sign::winding, 1000, 3.0 / 999, true, false, 500);
  bench.field("field mesh 256 unsigned", mesh, Sign::none, 256, 100);
  bench.field("field mesh 512 unsigned", mesh, Sign::none, 512, 100);
  bench.field("field fine 256 unsigned", fine, Sign::none, 256, 40);
  bench.field("field fine 256 winding", fine, Sign::winding, 256, 40);
  bench.field("field fine 256 fast winding", fine, Sign::fast_winding, 256, 40);
  bench.points("points near fine, 1 M unsigned", fine, Sign::none, 1000000);
  bench.points("points near fine, 1 M pseudonormal", fine, Sign::pseudonormal, 1000000);
}
