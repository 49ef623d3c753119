// Counts what a program that links held.cpp allocates with `new`: containers, that is, and no Array.
#pragma once

#include <atomic>
#include <cstdint>

namespace fathom::test {

extern std::atomic<std::int64_t> bytes_held;  ///< now
extern std::atomic<std::int64_t> most_held;   ///< since a test set it
extern std::atomic<std::int64_t> allocations_made;

}  // namespace fathom::test
