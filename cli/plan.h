// What `distance` is going to do, checked against the input's header before an element is read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "distance.h"
#include "fathom/grid/distance.h"
#include "fathom/io/image.h"
#include "fathom/published/distance.h"
#include "input.h"

namespace fathom::cli {

/// An array to compute, and the file it goes to.
struct PlannedOutput {
  grid::OutputKind kind;
  std::string path;  ///< empty: computed for the preview alone
  io::Format format = io::Format::automatic;
  DType dtype = DType::float32;
  Shape shape;             ///< axes of the batch first
  std::vector<int> order;  ///< that brings them to the file's order

  Shape file_shape() const {
    Shape in_order;
    for (int axis : order) in_order.push_back(shape[axis]);
    return in_order;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(element_count(shape)) * size_of(dtype); }
};

struct Plan {
  Input input;
  grid::DistanceOptions options;  ///< spacing filled in from the header; scratch limited to what the budget leaves
  std::optional<published::DistanceOptions> algorithm;  ///< in place of the library's own
  std::string no_data;            ///< the value of elements that hold none; empty: all do
  io::Meaning meaning;            ///< of the outputs, in the file's order of axes
  io::WriteOptions field_format;
  std::vector<PlannedOutput> outputs;
  std::string preview;
  std::vector<std::string> warnings;  ///< of outputs

  /// The field that is written or drawn; null if only indices are asked for.
  const PlannedOutput* field() const;
  /// Its place among the outputs; there must be one.
  std::size_t field_index() const { return static_cast<std::size_t>(field() - outputs.data()); }
};

/// The rule of the elements that hold no data; there must be a value for them.
grid::Sites gaps_of(const Plan& plan);

/// @throws InvalidArgument what is wrong whatever the input holds
void check_options(const DistanceArguments& arguments);

/// @throws InvalidArgument, IoError, DeviceError: everything that can be known to be wrong before the work
Plan make_plan(const DistanceArguments& arguments);

/// Prints the warnings of the input and the outputs. Best once the input was read: what follows a warning is then
/// seldom an error.
void warn_of(const Plan& plan);

/// The library's place for an output.
AnyView& view_in(grid::DistanceOutputs& outputs, const grid::OutputKind& kind);

}  // namespace fathom::cli
