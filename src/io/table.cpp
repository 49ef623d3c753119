// Tables of results: one row for each point, as a structured NPY, CSV or PLY.
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "fathom/core/error.h"
#include "fathom/io/stream.h"
#include "fathom/io/points.h"
#include "io/buffer.h"
#include "io/formats.h"
#include "io/numbers.h"

namespace fathom::io {

namespace {

using Columns = std::vector<TableColumn>;

std::int64_t rows_of(const Columns& columns) { return columns[0].values.shape()[0]; }
std::int64_t values_per_row(const Columns& columns) {
  return columns[0].values.rank() == 1 ? 1 : columns[0].values.shape()[1];
}

void write_npy(ByteSink& sink, const Columns& columns) {
  std::string descr = "[";
  for (const TableColumn& column : columns)
    descr += (descr.size() > 1 ? ", ('" : "('") + column.name + "', " + npy::descr_of(column.values.dtype()) + ")";
  npy::write_header(sink, descr + "]", columns[0].values.shape());
  Buffer buffer(sink);
  for (std::int64_t at = 0; at < rows_of(columns) * values_per_row(columns); ++at)
    for (const TableColumn& column : columns) buffer.add(element(column.values, at), size_of(column.values.dtype()));
  buffer.flush();
}

void write_csv(ByteSink& sink, const Columns& columns) {
  Buffer buffer(sink);
  const std::int64_t width = values_per_row(columns);
  std::string header;
  for (std::int64_t j = 0; j < width; ++j)
    for (const TableColumn& column : columns) {
      if (!header.empty()) header += ',';
      header += column.name;
      if (width > 1) header.append("_").append(std::to_string(j + 1));
    }
  buffer.add(header + "\n");
  for (std::int64_t row = 0; row < rows_of(columns); ++row) {
    for (std::int64_t j = 0; j < width; ++j)
      for (const TableColumn& column : columns) {
        if (j > 0 || &column != &columns[0]) buffer.add(",");
        add_number(buffer, column.values, row * width + j);
      }
    buffer.add("\n");
  }
  buffer.flush();
}

std::string_view ply_type(DType dtype) {
  switch (dtype) {
    case DType::float32: return "float";
    case DType::float64: return "double";
    default: return "int";
  }
}

void add_ply_value(Buffer& buffer, const AnyConstView& view, std::int64_t at) {
  if (view.dtype() != DType::int64) return buffer.add(element(view, at), size_of(view.dtype()));
  const std::int64_t value = *reinterpret_cast<const std::int64_t*>(element(view, at));
  if (value < INT32_MIN || value > INT32_MAX)
    throw InvalidArgument("PLY does not hold the integer " + std::to_string(value) + "; write .npy or .csv");
  const auto narrow = static_cast<std::int32_t>(value);
  buffer.add(&narrow, sizeof narrow);
}

void write_ply(ByteSink& sink, const Columns& columns, const AnyConstView& points) {
  Buffer buffer(sink);
  const std::int64_t axes = points.shape()[1];
  std::string header = "ply\nformat binary_";
  header += std::endian::native == std::endian::little ? "little" : "big";
  header += "_endian 1.0\nelement vertex " + std::to_string(rows_of(columns)) + "\n";
  for (std::int64_t k = 0; k < axes; ++k)
    header += "property " + std::string(ply_type(points.dtype())) + " " + "xyz"[k] + "\n";
  for (const TableColumn& column : columns)
    header += "property " + std::string(ply_type(column.values.dtype())) + " " + column.name + "\n";
  buffer.add(header + "end_header\n");
  for (std::int64_t row = 0; row < rows_of(columns); ++row) {
    for (std::int64_t k = 0; k < axes; ++k) buffer.add(element(points, row * axes + k), size_of(points.dtype()));
    for (const TableColumn& column : columns) add_ply_value(buffer, column.values, row);
  }
  buffer.flush();
}

TableFormat format_of(const std::filesystem::path& path) {
  const std::string ending = lower_case(path.extension().string());
  if (ending == ".npy") return TableFormat::npy;
  if (ending == ".csv") return TableFormat::csv;
  if (ending == ".ply") return TableFormat::ply;
  if (is_nameless(path)) return TableFormat::npy;
  throw InvalidArgument("the name '" + path.string() +
                        "' does not say which format to write; end it in .npy, .csv or .ply");
}

}  // namespace

TableFormat check_table(const std::filesystem::path& path, std::int64_t values, TableFormat format) {
  if (format == TableFormat::automatic) format = format_of(path);
  if (format == TableFormat::ply && values != 1)
    throw InvalidArgument("PLY holds one value per point, not " + std::to_string(values) + "; write .npy or .csv");
  return format;
}

void write_table(AtomicFile& file, const Columns& columns, const AnyConstView& points, TableFormat format) {
  format = check_table(file.target(), values_per_row(columns), format);
  StreamSink sink(file.target() == "-" ? "standard output" : file.target().string(), file.stream());
  if (format == TableFormat::npy) write_npy(sink, columns);
  else if (format == TableFormat::csv) write_csv(sink, columns);
  else write_ply(sink, columns, points);
}

std::string_view name_of(TableFormat format) {
  switch (format) {
    case TableFormat::automatic: return "auto";
    case TableFormat::npy: return "npy";
    case TableFormat::csv: return "csv";
    case TableFormat::ply: return "ply";
  }
  return "unknown";
}

}  // namespace fathom::io
