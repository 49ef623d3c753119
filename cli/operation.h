// What the verbs share that make arrays of one image, as `morphology` does: how the image and the options are given,
// what is planned, read, written and said.
//
// A verb declares declare_image(), its own options, and declare_work(). Then it makes an Operation, add()s its outputs,
// states its settings, says with fit() what scratch it takes, and either prints the plan, or reads, computes under
// execution(), write()s and print()s.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chart/chart.h"
#include "clock.h"
#include "fathom/core/execution.h"
#include "input.h"
#include "json.h"
#include "pending_files.h"
#include "progress.h"
#include "report.h"

namespace fathom::cli {

/// As text; empty: not given.
struct OperationArguments {
  InputArguments input;
  std::string output;
  std::string format;
  std::string threshold;
  std::string no_data;
  std::string spacing;
  std::string preview;
  std::string title;
  std::string units;
  std::string backend = "auto";
  std::string threads = "0";
  std::string memory;
  bool compress = false;
  bool plan = false;
  bool json = false;
};

/// Declares the input, -o, --format and --compress.
/// @param name, what  of the input: "MASK", "Image or volume"; what else is said of it is said here
/// @param result      what goes to -o: "the mask"
void declare_image(CLI::App* verb, const char* name, const std::string& what, const std::string& result,
                   OperationArguments& a);
/// Declares --threshold, for verbs whose input is an object.
void declare_threshold(CLI::App* verb, OperationArguments& a);
/// Declares --preview, --title and --units. @param what  the chart shows: "the field"
void declare_preview(CLI::App* verb, const std::string& what, OperationArguments& a);
/// Declares --axes and the like, --no-data, --spacing, --backend, --threads, --memory, --plan and --json.
void declare_work(CLI::App* verb, OperationArguments& a);

/// Of these the last five, for verbs that measure nothing in units.
void declare_execution(CLI::App* verb, OperationArguments& a);

/// What becomes of colours where nonzero elements are the object, or with a threshold those that are not less.
io::Colours colours_of(const OperationArguments& arguments);

class Operation {
 public:
  /// What is computed, and the file it goes to: an array, or what the verb writes itself, such as a table.
  struct Output {
    const char* option;   ///< "-o"
    std::string path;     ///< empty: not written
    std::string content;  ///< what it is, in words: "mask"
    DType dtype = DType::uint8;
    Shape shape;                                ///< the input's, axes of the batch first
    bool is_array = true;                       ///< false: without type and shape
    bool carries = false;                       ///< values of the input: palette and no-data value stay
    io::Format format = io::Format::automatic;  ///< filled in
    std::string detail = {};                    ///< ", 12 of 30 elements": for the report
  };

  /// Reads the header and checks what every verb takes.
  /// @param arguments  to outlive this
  /// @throws InvalidArgument, IoError
  Operation(const char* verb, const OperationArguments& arguments, io::Colours colours);

  const Input& input() const { return input_; }
  /// Along the axes of space; empty: 1.
  const std::vector<double>& spacing() const { return spacing_; }
  /// Threads, backend, what fit() left, and the bar.
  const Execution& execution() const { return execution_; }
  /// The input's type and shape, without elements.
  AnyConstView unread() const { return {nullptr, input_.info.dtype, input_.shape()}; }
  /// Those of read_object(). @param labels  values are kept: there is no threshold
  AnyConstView unread_object(bool labels) const {
    const bool compared = !labels && !arguments_.threshold.empty();
    return {nullptr, compared ? DType::uint8 : input_.info.dtype, input_.shape()};
  }
  /// For values that are no colours. @throws InvalidArgument the file holds colours
  void refuse_colours() const;
  /// @param what  the verb's reason: "regions are of one" @throws InvalidArgument the file holds several arrays
  void refuse_batch(const char* what) const;
  /// The value of elements that hold nothing, as text; empty: all do.
  const std::string& no_data() const { return no_data_; }
  /// The rule of these elements; there must be a value for them.
  grid::Sites gaps() const;

  /// Checks that the file can be written and hold it. Arrays come before all else; the first is that of --format and
  /// --compress.
  /// @throws InvalidArgument, IoError
  void add(Output output);
  /// A table that the verb writes itself. @throws InvalidArgument not the name of a .csv or .npy file
  void add_table(const char* option, const std::string& path, const char* content);
  /// As planned; the detail may be filled in.
  Output& output(std::size_t k) { return outputs_[k]; }
  /// What the verb was told, for reports: name and text or number, in the order shown.
  Json settings = Json::object();

  /// To be called when all outputs are added. Leaves the work the scratch that --memory, or the machine, has beside the
  /// arrays.
  /// @param scratch, least  as the library says it needs, and at least
  /// @param other           bytes of arrays that the verb makes beside input and outputs: the first output, and others
  ///                        that have a path
  /// @throws InvalidArgument, IoError as scratch_beside()
  void fit(std::size_t scratch, std::size_t least, std::size_t other = 0);
  /// What read_object() takes beside the input.
  std::size_t object_bytes() const;
  /// What --plan says.
  int print_plan() const;

  /// The elements, batch axes first; prints warnings.
  Arranged read();
  /// The object's elements are not 0 in it, and without a threshold keep their values; those that hold no data are 0.
  Arranged read_object();
  /// Where all but 0 counts: a warning of NaN, which does, too. @param otherwise  what to do against it
  void warn_of_nan(const AnyConstView& array, const char* otherwise) const;
  /// The parts of the work that the bar shows; the first one ends reading, as times go.
  void begin(const char* part);

  /// Writes the outputs that have a path, in the order of add(), and all at once.
  /// @param arrays  one per output that is an array
  /// @param others  writes more files, such as charts
  void write(const std::vector<AnyConstView>& arrays, const std::function<void(PendingFiles&)>& others = {});
  /// A chart of an array of the input's shape: of the first in a batch.
  Chart chart_of(const AnyConstView& array) const;

  /// Says what was done: lines, one per output, and `text`; or with --json one line, with `more` in it.
  template <class Report>
  int print(const Report& report, const Json& more = Json::object(), const std::string& text = {}) {
    Json json = outcome(more);
    add_execution(report, json);
    return say(json, text);
  }

 private:
  std::size_t array_bytes() const;
  Shape file_shape(const Output& output) const;
  Json outputs_json() const;
  Json outcome(const Json& more);
  int say(const Json& json, const std::string& text);

  const char* verb_;
  const OperationArguments& arguments_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point part_ = start_;
  Seconds seconds_;
  Progress progress_;
  Input input_;
  std::vector<double> spacing_;
  Execution execution_;
  io::Meaning meaning_;
  std::string no_data_;
  std::vector<std::string> warnings_;
  std::vector<Output> outputs_;
  std::size_t scratch_ = 0, least_scratch_ = 0, other_bytes_ = 0;
};

}  // namespace fathom::cli
