// The emulated device itself: what CUDA's documentation says of what kernels call.
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <vector>

namespace fathom::emulation {
namespace {

constexpr unsigned kAll = ~0u;

TEST(Emulation, ThreadsKnowWhereTheyAre) {
  std::vector<int> seen(2 * 3 * 4 * 5);
  on({2, 3}, {4, 5})([](int* out) {
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
    ++out[block * blockDim.x * blockDim.y + thread];
  })(seen.data());
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(Emulation, LanesExchangeValues) {
  struct Found {
    int up, down, twisted, of_group, ballot, least, sum;
  };
  std::vector<Found> found(64);
  on(1, 64)([](Found* out) {
    const int value = 100 + static_cast<int>(threadIdx.x);
    out[threadIdx.x] = {__shfl_up_sync(kAll, value, 3),
                        __shfl_down_sync(kAll, value, 3),
                        __shfl_xor_sync(kAll, value, 5),
                        __shfl_sync(kAll, value, 9, 8),
                        static_cast<int>(__ballot_sync(kAll, value % 2)),
                        static_cast<int>(__reduce_min_sync(kAll, static_cast<unsigned>(value))),
                        __reduce_add_sync(kAll, -value)};
  })(found.data());
  for (int t = 0; t < 64; ++t) {
    const Found& f = found[static_cast<std::size_t>(t)];
    const int value = 100 + t, lane = t % 32, first = value - lane;
    EXPECT_EQ(f.up, lane < 3 ? value : value - 3);
    EXPECT_EQ(f.down, lane + 3 > 31 ? value : value + 3);
    EXPECT_EQ(f.twisted, first + (lane ^ 5));
    EXPECT_EQ(f.of_group, first + lane / 8 * 8 + 1);
    EXPECT_EQ(f.ballot, static_cast<int>(0xAAAAAAAAu));
    EXPECT_EQ(f.least, first);
    EXPECT_EQ(f.sum, -(32 * first + 31 * 16));
  }
}

TEST(Emulation, HalvesOfAWarpExchangeByThemselves) {
  std::vector<unsigned> found(32);
  on(1, 32)([](unsigned* out) {
    const bool is_low = threadIdx.x < 16;
    const unsigned mask = is_low ? 0xFFFFu : 0xFFFF0000u;
    unsigned sum = 0;
    for (unsigned k = 0; k < (is_low ? 2u : 5u); ++k) sum += __reduce_or_sync(mask, threadIdx.x);
    out[threadIdx.x] = sum;
  })(found.data());
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(found[t], t < 16 ? 2 * 15u : 5 * 31u);
}

TEST(Emulation, BarriersCountVotesOfThoseThatHaveNotEnded) {
  std::vector<int> counts(96), all(96), any(96);
  on(1, 96)([](int* count, int* every, int* some) {
    const auto t = static_cast<int>(threadIdx.x);
    if (t >= 90) return;
    count[t] = __syncthreads_count(t % 3 == 0);
    every[t] = __syncthreads_and(t < 90);
    some[t] = __syncthreads_or(t == 200);
  })(counts.data(), all.data(), any.data());
  for (std::size_t t = 0; t < 90; ++t) EXPECT_TRUE(counts[t] == 30 && all[t] && !any[t]) << t;
}

TEST(Emulation, WhatIsSharedIsSeenBehindABarrier) {
  std::vector<unsigned> turned(256);
  on(1, 256, 256 * sizeof(unsigned))([](unsigned* out) {
    auto* const shared = static_cast<unsigned*>(shared_memory());
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = shared[255 - threadIdx.x];
  })(turned.data());
  for (unsigned t = 0; t < 256; ++t) EXPECT_EQ(turned[t], 255 - t);
}

TEST(Emulation, MemoryBeginsWithAPattern) {
  constexpr unsigned kWord = 0xA5A5A5A5u;
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&memory, 64, nullptr, nullptr), cudaSuccess);
  EXPECT_EQ(static_cast<unsigned*>(memory)[15], kWord);
  on(2, 1, 8)([](unsigned* out) {
    out[blockIdx.x] = *static_cast<unsigned*>(shared_memory());
    *static_cast<unsigned*>(shared_memory()) = 1;  // not for the next block
  })(static_cast<unsigned*>(memory));
  EXPECT_EQ(static_cast<unsigned*>(memory)[0], kWord);
  EXPECT_EQ(static_cast<unsigned*>(memory)[1], kWord);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  EXPECT_NE(cudaMallocFromPoolAsync(&memory, std::size_t{1} << 40, nullptr, nullptr), cudaSuccess);
}

TEST(Emulation, RacesEndDifferently) {
  std::vector<unsigned> last(64);
  on(64, 128)([](unsigned* out) { out[blockIdx.x] = threadIdx.x; })(last.data());
  EXPECT_GT(std::set<unsigned>(last.begin(), last.end()).size(), 2u);
}

#ifdef FATHOM_EMULATION_ASAN
TEST(EmulationDeathTest, SharedMemoryEndsWhereTheLaunchSays) {
  EXPECT_DEATH(on(1, 1, 64)([] { static_cast<volatile char*>(shared_memory())[64] = 1; })(), "use-after-poison");
  EXPECT_DEATH(on(1, 1)([] {
                 __shared__ volatile int numbers[5];
                 numbers[threadIdx.x + 5] = 1;
               })(),
               "global-buffer-overflow|runtime error");
}
#else
TEST(EmulationDeathTest, BlocksAtOnceWaitForOneAnother) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has not yet run a kernel
  setenv("FATHOM_EMULATED_BLOCKS", "2", 1);
  EXPECT_EXIT(
      {
        std::vector<int> came(6);
        on(6, 32)([](int* all) {
          if (threadIdx.x == 9) atomicExch(all + blockIdx.x, 1);
          __syncthreads();
          while (*const_cast<volatile int*>(all + (blockIdx.x ^ 1)) == 0) {
          }
        })(came.data());
        std::exit(came == std::vector<int>(6, 1) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  unsetenv("FATHOM_EMULATED_BLOCKS");
  GTEST_FLAG_SET(death_test_style, "fast");
}
#endif

TEST(EmulationDeathTest, ThreadsThatWaitForever) {
  EXPECT_DEATH(on(1, 32)([] {
                 if (threadIdx.x < 7) __syncwarp();
               })(),
               "lanes wait for others of their warp");
  EXPECT_DEATH(on(1, 32)([] { __syncwarp(1); })(), "under a mask that leaves it out");
  EXPECT_DEATH(on(1, 32)([] { __shfl_sync(0xFF, 1, 9); })(), "asks for the value of one that takes no part");
}

TEST(EmulationDeathTest, LaunchesThatADeviceRefuses) {
  EXPECT_DEATH(on(1, 1, most_shared_memory() + 1)([] {})(), "more shared memory than there is");
  EXPECT_DEATH(on(0, 32)([] {})(), "no blocks");
  EXPECT_DEATH(on({1, 65536}, 32)([] {})(), "65535 blocks across");
  EXPECT_DEATH(on(1, {32, 33})([] {})(), "more than 1024");
}

TEST(Emulation, HalvesAreRoundedOnce) {
  for (unsigned bits = 0; bits < 0x7BFF; ++bits) {
    const double here = value_of(bits), next = value_of(bits + 1), between = (here + next) / 2;
    ASSERT_EQ(to_half(here).bits, bits);
    ASSERT_EQ(to_half(-here).bits, bits | 0x8000u);
    ASSERT_EQ(to_half(between).bits, bits % 2 ? bits + 1 : bits);
    ASSERT_EQ(to_half(std::nextafter(between, 0)).bits, bits);
    ASSERT_EQ(to_half(std::nextafter(between, 1e9)).bits, bits + 1);
  }
  EXPECT_EQ(to_half(65519.9).bits, 0x7BFF);
  EXPECT_EQ(to_half(65520).bits, 0x7C00);
  const __half2 threes = __float2half2_rn(3), sum = __hfma2(threes, threes, __float2half2_rn(2040));
  EXPECT_EQ(__half22float2(sum).y, 2048.0f);  // 2049 is between two
}

TEST(Emulation, BytesAndBits) {
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x6240u), 0x66224400u);
  EXPECT_EQ(__byte_perm(0x80u, 0, 0x0008u), 0x808080FFu);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1, 1), 3u);
  EXPECT_EQ(__funnelshift_r(1, 1, 1), 0x80000000u);
  EXPECT_EQ(__funnelshift_rc(7, 5, 40), 5u);
  EXPECT_EQ(__brev(1), 0x80000000u);
  EXPECT_EQ(__vminu2(0x00050009u, 0x00070003u), 0x00050003u);
  EXPECT_EQ(__viaddmin_u16x2(0xFFFF0001u, 0x00020001u, 0x00090009u), 0x00010002u);
}

TEST(Emulation, FusedSumsAreRoundedDown) {
  for (float a : {1.0f, 1.25e-3f, 3.3333333f, -7.7f})
    for (float b : {1.0f, 0.1f, 1234.567f})
      for (float c : {0.0f, 1e-9f, -2.5f, 3e7f}) {
        const float down = __fmaf_rd(a, b, c);
        const auto exact = static_cast<long double>(a) * static_cast<long double>(b) + static_cast<long double>(c);
        EXPECT_LE(static_cast<long double>(down), exact);
        EXPECT_GT(static_cast<long double>(std::nextafter(down, std::numeric_limits<float>::infinity())), exact);
      }
}

}  // namespace
}  // namespace fathom::emulation
