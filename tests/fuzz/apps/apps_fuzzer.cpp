// Any bytes as a small image for any operation with any options: one thread without wide instructions and several with
// them must give the same bytes. An InvalidArgument is an answer too, if both give it and no output was touched.
// Anything else is a fault.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "operations.h"

namespace {

using namespace fathom;
using namespace fathom::test;

constexpr std::int64_t kMostElements = 400;

Shape read_shape(Bytes& bytes) {
  const int rank = 1 + bytes.below(4);
  Shape shape;
  std::int64_t count = 1;
  for (int k = 0; k < rank; ++k) {
    const std::int64_t extent = bytes.next() % 70;
    shape.push_back(count * extent <= kMostElements ? extent : 1);
    count *= std::max<std::int64_t>(shape[k], 1);
  }
  return shape;
}

[[noreturn]] void fault(const Operation& operation, const Array& input, const std::string& what) {
  std::fprintf(stderr, "%s of %s %s: %s\n", operation.name.c_str(), std::string(name_of(input.dtype())).c_str(),
               to_string(input.shape()).c_str(), what.c_str());
  std::abort();
}

/// Its outputs, or nothing if the call was refused.
std::optional<std::vector<Array>> attempt(const Operation& operation, const Array& input, const Execution& execution) {
  std::vector<Array> outputs;
  try {
    operation.run(input, execution, outputs);
    return outputs;
  } catch (const InvalidArgument&) {
    for (const Array& output : outputs)
      if (!operation.may_touch && !is_poisoned(output)) fault(operation, input, "refused, but an output was touched");
    return {};
  } catch (const std::exception& error) {
    fault(operation, input, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  const Shape shape = read_shape(bytes);
  const int which = bytes.below(Operations::kCount);
  const Operation operation = Operations(bytes, shape).draw(which);
  Array input(static_cast<DType>(bytes.below(11)), shape);
  bytes.copy_to({input.data(), input.bytes()});
  if (input.dtype() == DType::boolean)
    for (std::size_t i = 0; i < input.bytes(); ++i) input.data()[i] &= std::byte{1};

  Execution plain, wide;
  plain.threads = 1;
  plain.instruction_set = InstructionSet::baseline;
  wide.threads = 3;
  const auto one = attempt(operation, input, plain), other = attempt(operation, input, wide);
  if (one.has_value() != other.has_value()) fault(operation, input, "refused by one way to run it alone");
  if (!one) return 0;
  for (std::size_t k = 0; k < one->size(); ++k)
    if (const auto same = equal((*one)[k], (*other)[k]); !same) fault(operation, input, same.message());
  return 0;
}
