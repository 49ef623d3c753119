// An image as the command line wants it read: what its axes are, which of them are of space, which channel is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fathom/grid/distance.h"
#include "fathom/io/image.h"

namespace CLI {
class App;
}

namespace fathom::cli {

/// As text; empty: not given.
struct InputArguments {
  std::string path;
  std::string axes;
  std::string channel;
  std::string ndim;
  bool tones = false;  ///< luminance is what the verb is about
  bool stack = false;
  std::vector<std::string> slices;  ///< of the stack, images that make a volume; `path` is then what messages call it
};

/// What messages call an input.
std::string input_name(const std::string& path);

/// Declares --axes, --channel, --ndim and --stack.
void declare_input(CLI::App* verb, InputArguments& arguments);

/// The file's header, with the command line's word on it.
struct Input {
  struct Pick {
    int axis;
    std::int64_t index;
  };

  std::string path;
  std::vector<std::string> slices;  ///< files of which each is a slice; empty: `path` is the file
  io::ReadOptions options;
  io::ImageInfo info;        ///< of what is worked on: without the axis along which one channel is picked
  io::Meaning stated;        ///< what the file alone says of it
  Shape file_shape;          ///< of the array as it is read
  std::optional<Pick> pick;
  std::vector<int> order;    ///< axes of info.shape: first those along which it is a batch, then those of space
  int batch_axes = 0;

  Shape shape() const;                   ///< in that order
  Shape space() const;                   ///< of one array of the batch
  std::vector<double> spacing() const;   ///< along the axes of space; empty: not stated
  /// "t, c": names of the axes along which it is a batch; "1st" where they have none.
  std::string batch_names() const;
};

/// Reads the header; warn_of() says what of it is left out.
/// @param colours           what becomes of pixels that hold colours
/// @param print_resolution  whether the resolution at which an image is to be printed is its spacing
/// @throws InvalidArgument --axes, --channel or --ndim do not fit the file
Input probe_input(const InputArguments& arguments, io::Colours colours, bool print_resolution = false);

/// --spacing print: as the resolution says at which the image is to be printed.
inline constexpr const char* kPrintSpacing = "print";

/// @throws InvalidArgument an option has values, and neither one nor one per axis
void check_count(const char* option, std::size_t values, const Shape& shape);

/// One value for each axis, from one for all or one per axis.
template <class T>
void expand(const char* option, std::vector<T>& values, const Shape& shape) {
  check_count(option, values.size(), shape);
  if (values.size() == 1) values.resize(static_cast<std::size_t>(shape.rank()), values.front());
}

/// What files say of results: what the input's says, with another spacing, and without what its values meant.
/// @param spacing   along the axes of space; empty: not stated
/// @param given     the command line gave it: a georeference is then lost
/// @param warnings  get what is not kept
io::Meaning meaning_of_results(const Input& input, const std::vector<double>& spacing, bool given,
                               std::vector<std::string>& warnings);

/// "out.npy: NPY does not hold what the input says: …"; empty: it holds all.
/// @param no_data  of the results
std::string losses_of(const Input& input, const std::string& path, io::Format format, const std::string& no_data);

/// Prints the warnings of the file, a line each.
void warn_of(const Input& input);

/// The slices that --stack makes a volume of: the files of one folder, or those named, in the order of their numbers.
std::vector<std::string> stack_of(const std::vector<std::string>& inputs);

/// What the elements of the file are compared with: where they are float16 in the file, and float32 here, the number
/// rounded to float16 first, as NumPy does.
grid::Sites::Value compared_in(const io::ImageInfo& info, const grid::Sites::Value& value);

/// What becomes of colours for a rule: thresholds are for luminance; all else asks whether they are 0, or equal.
io::Colours colours_for(const grid::Sites& sites);

/// A view with its axes in another order, or of a copy where its last axis would not be contiguous.
struct Arranged {
  Array data;
  AnyConstView view;
};
Arranged arranged(const AnyConstView& array, const std::vector<int>& order);

/// The same elements, row-major.
Array dense_copy(const AnyConstView& array);

/// The elements, batch axes first.
/// @throws IoError the file changed since its header was read
Arranged read_elements(const Input& input);

/// The inverse: an order that brings the axes back to the file's.
std::vector<int> inverse(const std::vector<int>& order);

}  // namespace fathom::cli
