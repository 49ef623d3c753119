// Random problems for the parity tests: shapes, structures, element types and options, all from one seed, so that a
// failure is replayed with FATHOM_TEST_SEED=<seed>. FATHOM_TEST_SCALE scales how many are tried.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/grid/distance.h"

namespace fathom::test {

using Random = std::mt19937_64;

/// Uniform in [0, count).
std::int64_t below(Random& random, std::int64_t count);
bool chance(Random& random, double probability);
template <class T>
const T& pick(Random& random, const std::vector<T>& choices) {
  return choices[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(choices.size())))];
}

/// `count` × FATHOM_TEST_SCALE, at least 1.
int scaled(int count);
/// Which of `count` cases to try: `count` × FATHOM_TEST_SCALE of them, at least some, spread over all.
std::vector<std::int64_t> some_of(int count, int least);
/// Of cases that follow one another, those to try: all, but one in `period` where FATHOM_TEST_SCALE asks for fewer.
class OneOf {
 public:
  explicit OneOf(int period);
  bool is_next() { return number_++ % period_ == 0; }

 private:
  const int period_;
  int number_ = 0;
};
/// FATHOM_TEST_LARGEST, if set: how many elements a problem may have where a device is emulated, or watched.
std::int64_t largest_problem();
/// FATHOM_TEST_SEED, if set.
std::optional<std::uint64_t> seed_to_replay();

/// Where sites lie.
enum class Structure { none, all, one, sparse, dense, blobs, plane, diagonal, ring, checkerboard, mirror };
inline constexpr int kStructures = 11;
const char* name_of(Structure structure);

/// true = site.
std::vector<bool> make_sites(Structure structure, const Shape& shape, Random& random);
/// Sites with a given probability.
std::vector<bool> scatter(const Shape& shape, double probability, Random& random);
/// Small integers: background 0 and a few labels in cells, as a segmentation has.
std::vector<int> make_labels(const Shape& shape, Random& random);
/// The same as an array; floats may have −0 among the background, and NaN.
Array label_input(DType dtype, const Shape& shape, Random& random);

/// A dense array in which exactly `sites` are zero (or nonzero), else as `make_value` says.
Array mask_array(const std::vector<bool>& sites, const Shape& shape, DType dtype = DType::uint8,
                 bool site_is_zero = true);
/// Stores value, clamped to the type's range.
void store(Array& array, std::int64_t index, double value);

/// Up to `most_elements` elements; extents that are 0, 1, prime, powers of two and their neighbours.
Shape random_shape(Random& random, std::int64_t most_elements);

/// Which results to ask for, as which types.
using Wanted = grid::PerOutput<std::optional<DType>>;

struct Case {
  std::uint64_t seed = 0;
  Structure structure = Structure::none;
  Array input;
  grid::DistanceOptions options;
  Wanted wanted;
};

Case random_case(std::uint64_t seed, std::int64_t most_elements);
/// The same with a long axis and few elements behind it, up to some 1400 in all.
Case tall_case(std::uint64_t seed);

std::string describe(const grid::DistanceOptions& options);
std::string describe(const Case& c);

/// The instruction sets that the library is compiled for and this machine runs, without `automatic`.
std::vector<InstructionSet> instruction_sets();

}  // namespace fathom::test
