// Times sets of sites on a device: graph replays of queries whose arrays are there, and the building of the set.
//
//   device_points [--sites 16384,…] [--queries 1024,…] [--spreads uniform,lattice,…] [--storages plain,boxed,sorted]
//                 [--dtype float32|float64|int32] [--replays N] [--json FILE]
//
// Whole coordinates are those of a lattice of 1024 steps along each axis, as those of `lattice` are in any case.
// Distance and id of the nearest site, each compared with the CPU's before it is timed. Median of the replays.
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include "device_timing.cuh"
#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/points/site_set.h"

namespace {

using fathom::Array;
using fathom::DType;
using fathom::points::SiteSet;
using fathom::points::SiteSetOptions;
using fathom::points::Storage;

using Random = std::mt19937_64;

double uniform(Random& random) { return std::uniform_real_distribution<double>()(random); }
double normal(Random& random) { return std::normal_distribution<double>()(random); }

/// Writes a coordinate, of which whole ones are in steps of 1/1024.
void put(Array& points, std::int64_t i, double at) {
  switch (points.dtype()) {
    case DType::int32: points.as<std::int32_t>().data()[i] = static_cast<std::int32_t>(at * 1024); break;
    case DType::float64: points.as<double>().data()[i] = at; break;
    default: points.as<float>().data()[i] = static_cast<float>(at);
  }
}

/// A place at a distance from the middle of the unit cube.
void put_on_sphere(Random& random, double radius, double (&place)[3]) {
  for (double& x : place) x = normal(random);
  const double length = std::sqrt(place[0] * place[0] + place[1] * place[1] + place[2] * place[2]);
  for (double& x : place) x = 0.5 + radius * x / length;
}

/// In which part of it, about its middle, queries of sites on a sphere are.
double part_of_cube(const std::string& spread) {
  return spread == "inner" ? 0.1 : spread == "middle" ? 0.01 : spread == "center" ? 0 : 1;
}

/// Points of one kind; `queries`: those that are asked about.
Array make_points(const std::string& spread, DType dtype, std::int64_t count, bool queries, Random& random) {
  Array points(spread == "lattice" ? DType::int32 : dtype, {count, 3});
  const double part = part_of_cube(spread);
  const bool is_sphere = spread == "sphere" || spread == "near" || part < 1;
  double centers[100][3];
  Random fixed(1);
  for (auto& center : centers)
    for (double& x : center) x = uniform(fixed);
  for (std::int64_t i = 0; i < count; ++i) {
    double place[3] = {uniform(random), uniform(random), uniform(random)};
    if (spread == "equal" && !queries) std::fill_n(place, 3, 0.5);
    if (spread == "places" && !queries) std::copy_n(centers[random() % 8], 3, place);
    if (spread == "far" && queries) place[0] += 100;
    if (spread == "clustered") {
      const double* center = centers[random() % 100];
      for (int k = 0; k < 3; ++k) place[k] = center[k] + 1e-3 * normal(random);
    }
    if (is_sphere && !queries) put_on_sphere(random, 0.5, place);
    if (spread == "near" && queries) put_on_sphere(random, 0.5 + 0.01 * normal(random), place);
    if (part < 1 && queries)
      for (double& x : place) x = 0.5 + part * (x - 0.5);
    for (int k = 0; k < 3; ++k) put(points, 3 * i + k, place[k]);
  }
  return points;
}

struct Arguments {
  std::vector<std::string> sites = {"16384", "65536", "262144", "16777216"};
  std::vector<std::string> queries = {"1024"};
  std::vector<std::string> spreads = {"uniform", "lattice"};
  std::vector<std::string> storages = {"plain", "boxed", "sorted"};
  DType dtype = DType::float32;
  int replays = 50;
  std::string json;
};

DType dtype_of(const std::string& name) {
  if (name == "int32") return DType::int32;
  if (name == "float64") return DType::float64;
  if (name != "float32") std::fprintf(stderr, "device_points: no such type: %s\n", name.c_str()), std::exit(2);
  return DType::float32;
}

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int k = 1; k + 1 < count; k += 2) {
    const std::string name = values[k], value = values[k + 1];
    if (name == "--sites") arguments.sites = split(value, ',');
    else if (name == "--queries") arguments.queries = split(value, ',');
    else if (name == "--spreads") arguments.spreads = split(value, ',');
    else if (name == "--storages") arguments.storages = split(value, ',');
    else if (name == "--dtype") arguments.dtype = dtype_of(value);
    else if (name == "--replays") arguments.replays = std::atoi(value.c_str());
    else if (name == "--json") arguments.json = value;
    else std::fprintf(stderr, "device_points: unknown option %s\n", name.c_str()), std::exit(2);
  }
  return arguments;
}

/// An array of the host, and its copy on the device.
struct Copied {
  explicit Copied(Array array) : host(std::move(array)), device(static_cast<std::int64_t>(host.bytes())) {
    MUST(cudaMemcpy(device.data, host.data(), host.bytes(), cudaMemcpyHostToDevice));
  }
  fathom::AnyConstDeviceView view() const {
    return {reinterpret_cast<const std::byte*>(device.data), host.dtype(), host.shape()};
  }

  Array host;
  Block<std::byte> device;
};

/// Distance and site of each query.
struct Answers {
  explicit Answers(std::int64_t count) : distance(DType::float32, {count}), site(DType::int64, {count}) {}
  Array distance, site;
};

/// The CPU's answers.
Answers expected(const SiteSet& set, const Array& queries) {
  Answers answers(queries.shape()[0]);
  fathom::points::QueryOutputs outputs;
  outputs.distance = answers.distance.view();
  outputs.site = answers.site.view();
  set.nearest(queries.view(), {}, outputs);
  return answers;
}

SiteSetOptions stored(const std::string& storage) {
  SiteSetOptions options;
  options.storage = storage == "plain" ? Storage::plain : storage == "boxed" ? Storage::boxed : Storage::sorted;
  return options;
}

/// Median milliseconds of building the set, which waits.
double build_time(const Copied& sites, const SiteSetOptions& options) {
  std::vector<double> times;
  for (int k = 0; k < 5; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const SiteSet set(sites.view(), options);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// One line of the table, and of the JSON. @returns whether the answers were right
bool measure(const std::string& spread, const std::string& storage, const Copied& sites, const Copied& queries,
             const Answers& right, int replays, std::ostream& json) {
  const std::int64_t count = queries.host.shape()[0];
  const SiteSet set(sites.view(), stored(storage));
  Block<float> distance(count);
  Block<std::int64_t> site(count);
  MUST(cudaMemset(distance.data, 0xa5, static_cast<std::size_t>(count) * sizeof(float)));
  fathom::points::DeviceQueryOutputs outputs;
  outputs.distance = fathom::DeviceView<float>(distance.data, {count});
  outputs.site = fathom::DeviceView<std::int64_t>(site.data, {count});
  const auto run = [&](cudaStream_t stream) { set.nearest(queries.view(), {}, outputs, fathom::Stream{stream}); };
  run(nullptr);
  MUST(cudaDeviceSynchronize());
  Answers found(count);
  MUST(cudaMemcpy(found.distance.data(), distance.data, found.distance.bytes(), cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(found.site.data(), site.data, found.site.bytes(), cudaMemcpyDeviceToHost));
  const bool same = std::memcmp(found.distance.data(), right.distance.data(), found.distance.bytes()) == 0 &&
                    std::memcmp(found.site.data(), right.site.data(), found.site.bytes()) == 0;
  const double ms = time_of(run, replays), build = build_time(sites, stored(storage));
  const std::size_t scratch = set.scratch_bytes(queries.view(), {});
  const std::int64_t number = sites.host.shape()[0];
  std::printf("%-10s %-7s %9lld x %9lld  %9.4f ms  build %8.3f ms  %6.2f B per site  scratch %6.1f B per query  %s\n",
              spread.c_str(), storage.c_str(), static_cast<long long>(count), static_cast<long long>(number), ms, build,
              static_cast<double>(set.bytes()) / static_cast<double>(number),
              static_cast<double>(scratch) / static_cast<double>(count), same ? "right" : "WRONG");
  std::fflush(stdout);
  json << "{\"spread\":\"" << spread << "\",\"storage\":\"" << storage << "\",\"queries\":" << count
       << ",\"sites\":" << number << ",\"ms\":" << ms << ",\"build_ms\":" << build << ",\"set_bytes\":" << set.bytes()
       << ",\"scratch_bytes\":" << scratch << ",\"right\":" << (same ? "true" : "false") << "}" << std::endl;
  return same;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  if (fathom::device_count() == 0) {
    std::fprintf(stderr, "device_points: no CUDA device\n");
    return 4;
  }
  std::printf("%s\n", fathom::describe_device(fathom::current_device()).name.c_str());
  std::ofstream file;
  if (!arguments.json.empty()) file.open(arguments.json);
  bool right = true;
  for (const std::string& spread : arguments.spreads)
    for (const std::string& number : arguments.sites) {
      Random random(7);
      const Copied sites(make_points(spread, arguments.dtype, std::atoll(number.c_str()), false, random));
      const SiteSet on_host(sites.host.view());
      for (const std::string& asked : arguments.queries) {
        const Copied queries(make_points(spread, arguments.dtype, std::atoll(asked.c_str()), true, random));
        const Answers answers = expected(on_host, queries.host);
        for (const std::string& storage : arguments.storages)
          right &= measure(spread, storage, sites, queries, answers, arguments.replays, file);
      }
    }
  return right ? 0 : 70;
}
