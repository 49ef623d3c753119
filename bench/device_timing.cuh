// What the benchmarks on a device share: memory, errors, and the time of work in a graph.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

inline void must(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bench:%d: %s\n", line, cudaGetErrorString(error));
  std::exit(4);
}
#define MUST(call) must((call), __LINE__)

template <class T>
struct Block {
  T* data = nullptr;
  explicit Block(std::int64_t count) { MUST(cudaMalloc(&data, static_cast<std::size_t>(count) * sizeof(T))); }
  ~Block() { cudaFree(data); }
  Block(const Block&) = delete;
};

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Median milliseconds of a graph's replays.
template <class Work>
double time_of(Work&& work, int replays) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  work(stream);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&executable, graph, 0));
  std::vector<cudaEvent_t> events(static_cast<std::size_t>(replays) + 1);
  for (cudaEvent_t& event : events) MUST(cudaEventCreate(&event));
  for (int k = 0; k < 3; ++k) MUST(cudaGraphLaunch(executable, stream));
  MUST(cudaEventRecord(events[0], stream));
  for (std::size_t k = 1; k < events.size(); ++k) {
    MUST(cudaGraphLaunch(executable, stream));
    MUST(cudaEventRecord(events[k], stream));
  }
  MUST(cudaStreamSynchronize(stream));
  std::vector<float> times(events.size() - 1);
  for (std::size_t k = 0; k < times.size(); ++k) MUST(cudaEventElapsedTime(&times[k], events[k], events[k + 1]));
  for (cudaEvent_t event : events) MUST(cudaEventDestroy(event));
  MUST(cudaGraphExecDestroy(executable));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaStreamDestroy(stream));
  return median(std::move(times));
}

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}
