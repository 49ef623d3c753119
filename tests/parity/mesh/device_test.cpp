// Meshes with arrays of the device, in the order of streams and in graphs, against the CPU, byte for byte.
#include "mesh/on_device.h"

namespace fathom::test {
namespace {

using mesh::TriangleSet;

class OwnStream {
 public:
  OwnStream() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  operator Stream() const { return {stream_}; }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

TEST_F(MeshOnDevice, ArraysOfTheDeviceInTheOrderOfStreams) {
  for (int i = 0; i < scaled(60); ++i) {
    CallsOnDevice calls(800000 + static_cast<std::uint64_t>(i));
    const MeshProblem& problem = calls.problem;
    if (problem.points.shape()[0] == 0) continue;
    SCOPED_TRACE(describe(problem));
    const TriangleSet host = set_on(Backend::cpu, problem);
    const OwnStream stream;
    TriangleSet device = calls.set(stream);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    must(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    calls.put(device, stream);
    must(cudaStreamEndCapture(stream.get(), &graph));
    must(cudaGraphInstantiate(&executable, graph, 0));
    must(cudaMemcpyAsync(calls.points.data(), problem.points.data(), problem.points.bytes(), cudaMemcpyHostToDevice,
                         stream.get()));
    must(cudaGraphLaunch(executable, stream.get()));
    must(cudaStreamSynchronize(stream.get()));
    ASSERT_TRUE(calls.as_from(host));
    must(cudaGraphExecDestroy(executable));
    must(cudaGraphDestroy(graph));
    const mesh::DeviceBand band = device.device_band(problem.lattice, band_options(problem), stream);
    device = TriangleSet(problem.arrays->view());
    ASSERT_TRUE(equal(host.band(problem.lattice, band_options(problem)), band.download()));
  }
}

}  // namespace
}  // namespace fathom::test
