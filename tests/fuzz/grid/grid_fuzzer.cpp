// Any bytes as a small array with any options: every instruction set must give the same bytes, and the oracle's. An
// InvalidArgument is an answer too, if all give it and no output was touched. Anything else is a fault.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "../bytes.h"
#include "cases.h"
#include "oracle.h"
#include "run.h"

namespace {

using namespace fathom;
using namespace fathom::test;

constexpr std::int64_t kMostElements = 300;

Shape read_shape(Bytes& bytes) {
  const int rank = 1 + bytes.below(8);
  Shape shape;
  std::int64_t count = 1;
  for (int k = 0; k < rank; ++k) {
    const std::int64_t extent = bytes.next() % 70;
    shape.push_back(count * extent <= kMostElements ? extent : 1);
    count *= std::max<std::int64_t>(shape[k], 1);
  }
  return shape;
}

/// Mostly ranges that lie in the axis; some that do not, by one, so that no output gets large.
grid::Range read_range(Bytes& bytes, std::int64_t extent) {
  const std::int64_t begin = bytes.next() % (extent + 1);
  const std::int64_t end = begin + bytes.next() % (extent - begin + 1);
  const int fault = bytes.below(32);
  if (fault == 0) return {begin - 1, end};
  if (fault == 1) return {begin, end + 1};
  return fault == 2 ? grid::Range{end, begin} : grid::Range{begin, end};
}

grid::DistanceOptions read_options(Bytes& bytes, const Shape& shape) {
  const int rank = shape.rank();
  grid::DistanceOptions options;
  options.sites.rule = static_cast<grid::Sites::Rule>(bytes.below(9));
  const double value = bytes.number();
  options.sites.value = value;
  if (bytes.below(4) == 0) options.sites.value = std::bit_cast<std::int64_t>(value);
  options.metric = static_cast<grid::Metric>(bytes.below(3));
  const std::uint8_t present = bytes.next();
  const auto some = [&](int bit) { return (present >> bit & 1) != 0; };
  for (int k = 0, n = some(0) ? 1 : some(1) ? rank : 0; k < n; ++k) options.spacing.push_back(bytes.number());
  for (int k = 0, n = some(2) ? 1 : some(3) ? rank : 0; k < n; ++k)
    options.border.push_back(static_cast<grid::Border>(bytes.below(3)));
  if (some(4)) options.max_distance = bytes.below(2) ? bytes.number() : bytes.next() / 4.0;
  options.signed_distance = some(5);
  options.surface = static_cast<grid::Surface>(bytes.below(2));
  for (int k = 0; k < rank && some(6); ++k) options.region.push_back(read_range(bytes, shape[k]));
  options.execution.threads = some(7) ? 2 : 1;
  return options;
}

Wanted read_wanted(Bytes& bytes) {
  unsigned bits = bytes.next();
  Wanted wanted;
  grid::for_each_output(
      [&](const grid::OutputKind& kind, std::optional<DType>& dtype) {
        if (bits & 1) dtype = kind.dtypes[static_cast<std::size_t>(bytes.below(static_cast<int>(kind.dtypes.size())))];
        bits >>= 1;
      },
      wanted);
  return wanted;
}

[[noreturn]] void fault(const grid::DistanceOptions& options, const Array& input, const std::string& what) {
  std::fprintf(stderr, "%s %s, %s: %s\n", std::string(name_of(input.dtype())).c_str(), to_string(input.shape()).c_str(),
               describe(options).c_str(), what.c_str());
  std::abort();
}

bool untouched(const Results& results) {
  bool all = true;
  grid::for_each_output(
      [&](const grid::OutputKind&, const std::optional<Array>& array) { all &= !array || is_poisoned(*array); },
      results);
  return all;
}

/// The results, or nothing if the call was refused.
std::optional<Results> attempt(const Array& input, grid::DistanceOptions options, const Wanted& wanted,
                               InstructionSet set) {
  options.execution.instruction_set = set;
  Results results = make_results(input.shape(), options, wanted);
  try {
    const std::size_t scratch = grid::scratch_bytes(input.view(), options, results.views());
    results.report = grid::distance_transform(input.view(), options, results.views());
    if (results.report.scratch_bytes != scratch) fault(options, input, "scratch_bytes() and the report differ");
    return results;
  } catch (const InvalidArgument&) {
    if (!untouched(results)) fault(options, input, "refused, but an output was touched");
    return {};
  } catch (const std::exception& error) {
    fault(options, input, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  const Shape shape = read_shape(bytes);
  const grid::DistanceOptions options = read_options(bytes, shape);
  const Wanted wanted = read_wanted(bytes);
  Array input(static_cast<DType>(bytes.below(11)), shape);
  bytes.copy_to({input.data(), input.bytes()});
  if (input.dtype() == DType::boolean)
    for (std::size_t i = 0; i < input.bytes(); ++i) input.data()[i] &= std::byte{1};

  const std::vector<InstructionSet> sets = instruction_sets();
  const std::optional<Results> first = attempt(input, options, wanted, sets[0]);
  for (std::size_t i = 1; i < sets.size(); ++i) {
    const std::optional<Results> other = attempt(input, options, wanted, sets[i]);
    if (first.has_value() != other.has_value()) fault(options, input, "refused by one instruction set only");
    if (!first) continue;
    if (const auto same = equal(*first, *other); !same) fault(options, input, same.message());
  }
  if (!first) return 0;
  if (const auto right = matches(Oracle(input.view(), options), *first); !right) fault(options, input, right.message());
  return 0;
}
