// Work on a part of the device's multiprocessors, by a green context (CUDA 12.4). Functions of the driver are looked up,
// so that the command starts where there is none.
#include <fmt/format.h>

#include "fathom/core/error.h"
#include "reproduce/measure.h"

#ifdef FATHOM_HAS_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>
#endif

namespace fathom::cli {

#if defined(FATHOM_HAS_CUDA) && CUDART_VERSION >= 12050

namespace {

void check(CUresult error, const char* doing) {
  if (error != CUDA_SUCCESS)
    throw DeviceError(fmt::format("{}: error {} of the driver", doing, static_cast<int>(error)));
}

/// The driver's function of that name and type.
template <class Function>
Function* driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  constexpr unsigned kVersion = 12040;
  if (cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result) != cudaSuccess ||
      found == nullptr)
    throw DeviceError(fmt::format("the driver has no {}, which came with CUDA 12.4", name));
  return reinterpret_cast<Function*>(found);
}
#define FATHOM_DRIVER(name) driver<decltype(name)>(#name)

/// Current from its making to its end.
class GreenContext {
 public:
  explicit GreenContext(int most) {
    const int device = current_device();
    CUdevResource all{}, part{};
    check(FATHOM_DRIVER(cuDeviceGetDevResource)(device, &all, CU_DEV_RESOURCE_TYPE_SM), "asking for multiprocessors");
    unsigned groups = 1;
    check(FATHOM_DRIVER(cuDevSmResourceSplitByCount)(&part, &groups, &all, nullptr, 0, static_cast<unsigned>(most)),
          "dividing multiprocessors");
    count_ = static_cast<int>(part.sm.smCount);
    CUdevResourceDesc description{};
    check(FATHOM_DRIVER(cuDevResourceGenerateDesc)(&description, &part, 1), "describing multiprocessors");
    check(FATHOM_DRIVER(cuGreenCtxCreate)(&green_, description, device, CU_GREEN_CTX_DEFAULT_STREAM),
          "making a context");
    CUcontext context = nullptr;
    check(FATHOM_DRIVER(cuCtxFromGreenCtx)(&context, green_), "converting a context");
    check(FATHOM_DRIVER(cuCtxPushCurrent)(context), "entering a context");
  }
  ~GreenContext() {
    CUcontext context = nullptr;
    FATHOM_DRIVER(cuCtxPopCurrent)(&context);
    FATHOM_DRIVER(cuGreenCtxDestroy)(green_);
  }
  GreenContext(const GreenContext&) = delete;
  GreenContext& operator=(const GreenContext&) = delete;

  int count() const { return count_; }
  /// Whether streams of the runtime that are made now are the context's.
  bool has_streams() const {
    cudaStream_t stream = nullptr;
    CUgreenCtx found = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return false;
    FATHOM_DRIVER(cuStreamGetGreenCtx)(stream, &found);
    cudaStreamDestroy(stream);
    return found == green_;
  }

 private:
  CUgreenCtx green_ = nullptr;
  int count_ = 0;
};

}  // namespace

int on_multiprocessors(int most, const std::function<void()>& work) {
  const GreenContext context(most);
  if (!context.has_streams()) throw DeviceError("streams of the runtime do not keep to a part of the multiprocessors");
  work();
  return context.count();
}

#else

int on_multiprocessors(int, const std::function<void()>&) {
  throw DeviceError("parts of a device's multiprocessors need a build with CUDA 12.5 or later");
}

#endif

}  // namespace fathom::cli
