#include "block.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#ifdef FATHOM_EMULATION_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

constinit thread_local uint3 threadIdx{}, blockIdx{};
dim3 blockDim, gridDim;

namespace fathom::emulation {

namespace {

constexpr int kLanes = 32;
constexpr std::size_t kStackBytes = 256 << 10;  // with sanitizers, kernels take a tenth of that

/// What the address sanitizer has to know when another stack is gone over to.
class OtherStack {
 public:
#ifdef FATHOM_EMULATION_ASAN
  void leave_for(const OtherStack& other) { __sanitizer_start_switch_fiber(&own_, other.bottom_, other.bytes_); }
  /// @param from  that was left for it
  void is_back(OtherStack& from) const { __sanitizer_finish_switch_fiber(own_, &from.bottom_, &from.bytes_); }
#else
  void leave_for(const OtherStack&) {}
  void is_back(OtherStack&) const {}
#endif
  void place(const void* bottom, std::size_t bytes) { bottom_ = bottom, bytes_ = bytes; }

 private:
  void* own_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A thread that runs kernels one after the other.
class Thread {
 public:
  enum class State { ready, among_lanes, at_barrier, ended };

  /// @param number  of the thread: were all stacks to begin at the same place of a page, they would share few lines of
  ///                the cache
  explicit Thread(std::size_t number) {
    boost::context::protected_fixedsize_stack stacks(kStackBytes);
    const boost::context::stack_context stack = stacks.allocate();
    stack_.place(static_cast<const char*>(stack.sp) - stack.size, stack.size);
    const std::size_t aside = number % 61 * 64;
    fiber_ = boost::context::fiber(
        std::allocator_arg,
        boost::context::preallocated(static_cast<char*>(stack.sp) - aside, stack.size - aside, stack), stacks,
        [this](boost::context::fiber&& caller) { return live(std::move(caller)); });
  }

  void start(const std::function<void()>& kernel, uint3 index) {
    kernel_ = &kernel, index_ = index, state = State::ready;
  }

  /// Until it waits or ends.
  void resume() {
    threadIdx = index_;
    running = this;
    callers_stack_.leave_for(stack_);
    fiber_ = std::move(fiber_).resume();
    callers_stack_.is_back(stack_);
  }

  /// Leaves the processor to others: called by the thread itself.
  void wait(State until) {
    state = until;
    stack_.leave_for(callers_stack_);
    caller_ = std::move(caller_).resume();
    stack_.is_back(callers_stack_);
  }

  static constinit thread_local Thread* running;

  State state = State::ended;
  bool vote = false;  ///< at a barrier
  Votes votes;        ///< of all, behind it
  unsigned mask = 0;  ///< of the lanes with which it exchanges
  Exchange kind{};
  std::uint64_t value = 0;
  int lane = -1;

 private:
  boost::context::fiber live(boost::context::fiber&& caller) {
    stack_.is_back(callers_stack_);
    caller_ = std::move(caller);
    for (;;) {
      (*kernel_)();
      wait(State::ended);
    }
  }

  boost::context::fiber fiber_, caller_;
  OtherStack stack_, callers_stack_;
  const std::function<void()>* kernel_ = nullptr;
  uint3 index_{};
};

constinit thread_local Thread* Thread::running = nullptr;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulated device: %s (block %u, %u, %u of %u × %u × %u, %u threads)\n", what, blockIdx.x,
               blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z, blockDim.x * blockDim.y * blockDim.z);
  std::abort();
}

constinit thread_local void* shared = nullptr;

/// The threads and the shared memory of a block, kept for the next one.
class Block {
 public:
  void run(const std::function<void()>& kernel, std::size_t memory, unsigned launch) {
    shared = memory_->bytes;
#ifdef FATHOM_EMULATION_ASAN
    __asan_unpoison_memory_region(memory_->bytes, memory);
    __asan_poison_memory_region(memory_->bytes + memory, kMostSharedMemory - memory);
#endif
    std::memset(shared, kPattern, memory);
    const unsigned count = blockDim.x * blockDim.y * blockDim.z;
    while (threads_.size() < count) threads_.push_back(std::make_unique<Thread>(threads_.size()));
    count_ = static_cast<int>(count);
    for (unsigned t = 0; t < count; ++t)
      threads_[t]->start(kernel, {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y});
    const int warps = (count_ + kLanes - 1) / kLanes;
    // Neither warps nor lanes may count on an order.
    const unsigned draw = (blockIdx.x + 1) * 2654435761u + launch * 40503u;
    const bool turned = draw >> 13 & 1;
    const int first = static_cast<int>((draw >> 16) % static_cast<unsigned>(warps));
    do {
      for (int w = 0; w < warps; ++w) run_warp(((turned ? warps - 1 - w : w) + first) % warps, turned);
    } while (pass_barrier());
  }

 private:
  /// Until all of its lanes have ended or are at a barrier.
  void run_warp(int warp, bool turned) {
    const int first = warp * kLanes, lanes = std::min(kLanes, count_ - first);
    do {
      for (int i = 0; i < lanes; ++i) {
        Thread& thread = *threads_[static_cast<std::size_t>(first + (turned ? lanes - 1 - i : i))];
        if (thread.state == Thread::State::ready) thread.resume();
      }
    } while (pass_exchange(first, lanes));
  }

  /// Lets lanes that have all come to the same exchange go on. @returns whether there were any
  bool pass_exchange(int first, int lanes) {
    bool any_passed = false, any_waits = false;
    for (int lane = 0; lane < lanes; ++lane) {
      Thread& thread = *threads_[static_cast<std::size_t>(first + lane)];
      if (thread.state != Thread::State::among_lanes) continue;
      if (!(thread.mask >> lane & 1)) fail("a lane exchanges with others under a mask that leaves it out");
      if (have_all_come(first, lanes, thread)) pass(first, thread.mask, thread.kind), any_passed = true;
      else any_waits = true;
    }
    if (any_waits && !any_passed) fail("lanes wait for others of their warp that do not come");
    return any_passed;
  }

  bool have_all_come(int first, int lanes, const Thread& thread) const {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!(thread.mask >> lane & 1)) continue;
      if (lane >= lanes) fail("a mask names lanes that the block does not have");
      const Thread& other = *threads_[static_cast<std::size_t>(first + lane)];
      if (other.state != Thread::State::among_lanes || other.mask != thread.mask || other.kind != thread.kind)
        return false;
    }
    return true;
  }

  void pass(int first, unsigned mask, Exchange kind) {
    std::uint64_t came[kLanes]{};
    std::uint64_t together = kind == Exchange::least ? ~std::uint64_t{0} : 0;
    for_each_lane(first, mask, [&](int lane, Thread& thread) {
      came[lane] = thread.value;
      switch (kind) {
        case Exchange::value_of_lane: break;
        case Exchange::ballot: together |= std::uint64_t{thread.value != 0} << lane; break;
        case Exchange::least: together = std::min(together, thread.value); break;
        case Exchange::sum: together += thread.value; break;
        case Exchange::bits: together |= thread.value; break;
      }
    });
    for_each_lane(first, mask, [&](int, Thread& thread) {
      if (kind != Exchange::value_of_lane) thread.value = together;
      else if (thread.lane >= 0 && thread.lane < kLanes) {
        if (!(mask >> thread.lane & 1)) fail("a lane asks for the value of one that takes no part");
        thread.value = came[thread.lane];
      }
      thread.state = Thread::State::ready;
    });
  }

  template <class Visit>
  void for_each_lane(int first, unsigned mask, const Visit& visit) {
    for (; mask; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      visit(lane, *threads_[static_cast<std::size_t>(first + lane)]);
    }
  }

  /// Lets all threads go on that have not ended. @returns whether there are any
  bool pass_barrier() {
    Votes votes;
    for (int t = 0; t < count_; ++t) {
      const Thread& thread = *threads_[static_cast<std::size_t>(t)];
      if (thread.state == Thread::State::at_barrier) ++votes.all, votes.yes += thread.vote;
    }
    for (int t = 0; t < count_; ++t) {
      Thread& thread = *threads_[static_cast<std::size_t>(t)];
      if (thread.state == Thread::State::at_barrier) thread.votes = votes, thread.state = Thread::State::ready;
    }
    return votes.all > 0;
  }

  struct alignas(1024) Memory {
    std::byte bytes[kMostSharedMemory];
  };
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  std::vector<std::unique_ptr<Thread>> threads_;
  int count_ = 0;
};

/// A number from the environment, if it is there.
std::size_t number_from(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Ends the program where a device would refuse.
void check_launch(std::size_t memory) {
  constexpr unsigned kMostThreads = 1024, kMostBlocksAcross = 65535;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  if (threads == 0 || threads > kMostThreads) fail("a block has no threads, or more than 1024");
  if (gridDim.x == 0 || gridDim.y == 0 || gridDim.z == 0) fail("a grid has no blocks");
  if (gridDim.y > kMostBlocksAcross || gridDim.z > kMostBlocksAcross) fail("a grid has more than 65535 blocks across");
  if (memory > most_shared_memory()) fail("a block asks for more shared memory than there is");
}

}  // namespace

std::size_t most_shared_memory() {
  static const std::size_t kib = number_from("FATHOM_EMULATED_SHARED_KIB", kMostSharedMemory >> 10);
  return std::min(kib << 10, kMostSharedMemory);
}

std::uint64_t exchange(unsigned mask, Exchange kind, std::uint64_t value, int lane) {
  Thread& thread = *Thread::running;
  thread.mask = mask, thread.kind = kind, thread.value = value, thread.lane = lane;
  thread.wait(Thread::State::among_lanes);
  return thread.value;
}

Votes at_barrier(bool vote) {
  Thread& thread = *Thread::running;
  thread.vote = vote;
  thread.wait(Thread::State::at_barrier);
  return thread.votes;
}

void* shared_memory() { return shared; }

void run(dim3 blocks, dim3 threads, std::size_t memory, const std::function<void()>& kernel) {
  static std::mutex mutex;
#ifdef FATHOM_EMULATION_ASAN
  constexpr std::size_t kAtOnce = 1;
#else
  static const std::size_t kAtOnce = std::max<std::size_t>(number_from("FATHOM_EMULATED_BLOCKS", 1), 1);
#endif
  static std::vector<Block> at_once(kAtOnce);
  static unsigned launches = 0;
  const std::lock_guard lock(mutex);
  gridDim = blocks, blockDim = threads;
  ++launches;
  check_launch(memory);
  std::atomic<std::uint64_t> next = 0;
  const auto run_blocks = [&](Block& block) {
    for (std::uint64_t i; (i = next++) < std::uint64_t{blocks.x} * blocks.y * blocks.z;) {
      blockIdx = {static_cast<unsigned>(i % blocks.x), static_cast<unsigned>(i / blocks.x % blocks.y),
                  static_cast<unsigned>(i / blocks.x / blocks.y)};
      block.run(kernel, memory, launches);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t b = 1; b < at_once.size(); ++b) others.emplace_back(run_blocks, std::ref(at_once[b]));
  run_blocks(at_once[0]);
}

}  // namespace fathom::emulation
