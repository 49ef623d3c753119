#include "stream_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

#include "clock.h"
#include "exit_code.h"
#include "fathom/core/error.h"
#include "fathom/io/raster.h"
#include "fathom/stream/run.h"
#include "report.h"

namespace fathom::cli {

namespace {

constexpr const char* kKind = "stream journal";

std::string reason() { return std::generic_category().message(errno); }
double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }
IoError no_journal(const std::string& path, const char* what_works) {
  return IoError(fmt::format("{} is no journal of fathom stream; {}", path, what_works));
}
constexpr const char* kNew = "name a file that is new";
constexpr const char* kWritten = "give the journal that was written with the output";
std::string line_of(std::size_t band, std::uint32_t checksum) {
  return fmt::format("{{\"band\":{},\"crc32c\":\"{:08x}\"}}\n", band, checksum);
}
std::string line_of_acknowledged(std::int64_t bytes) { return fmt::format("{{\"acknowledged\":{}}}\n", bytes); }

struct Contents {
  Json about;
  std::vector<std::uint32_t> bands;
  std::vector<std::size_t> ends;
  std::optional<std::int64_t> acknowledged;
};

/// Lines up to the first one that is not whole, as a crash may leave it.
/// @throws IoError it is no journal; the message ends with what works
Contents read_journal(const std::string& path, const char* what_works) try {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(fmt::format("{} cannot be read: {}", path, reason()));
  Contents contents;
  std::string line;
  std::getline(file, line);
  contents.about = Json::parse(line, nullptr, false);
  if (file.eof() || !contents.about.is_object() || contents.about.value("fathom", "") != kKind)
    throw no_journal(path, what_works);
  if (contents.about.value("version", 0) != 1)
    throw IoError(fmt::format("{} is a journal of another version of fathom", path));
  contents.ends.push_back(line.size() + 1);
  while (std::getline(file, line) && !file.eof()) {
    const Json entry = Json::parse(line, nullptr, false);
    if (entry.is_object() && entry.value("acknowledged", Json()).is_number_unsigned()) {
      const std::int64_t bytes = entry["acknowledged"];
      if (bytes < 0 || line + "\n" != line_of_acknowledged(bytes)) break;
      contents.acknowledged = bytes;
      contents.ends.back() += line.size() + 1;
      continue;
    }
    if (!entry.is_object() || entry.value("band", Json()) != contents.bands.size()) break;
    std::uint32_t checksum = 0;
    const std::string text = entry.value("crc32c", "");
    if (std::sscanf(text.c_str(), "%8x", &checksum) != 1 || line + "\n" != line_of(contents.bands.size(), checksum))
      break;
    contents.bands.push_back(checksum);
    contents.ends.push_back(contents.ends.back() + line.size() + 1);
  }
  return contents;
} catch (const Json::exception&) {
  throw no_journal(path, what_works);
}

struct Geometry {
  DType dtype;
  Shape shape;
  std::int64_t band;
  bool raw;
};

Geometry geometry_of(const Json& about, const std::string& path) try {
  const auto region = about.at("region").get<std::array<std::int64_t, 4>>();
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // of a raster's extents
  for (const int k : {0, 2})
    if (region[k] < 0 || region[k] >= region[k + 1] || region[k + 1] > kMost) throw no_journal(path, kWritten);
  Geometry geometry{
      DType::uint8, {region[1] - region[0], region[3] - region[2]}, about.at("band"), about.at("format") == "raw"};
  const std::string name = about.at("dtype");
  for (const DType of : {DType::boolean, DType::uint16, DType::float32})
    if (fathom::name_of(of) == name) geometry.dtype = of;
  if (geometry.band <= 0 || geometry.band > kMost) throw no_journal(path, kWritten);
  if (static_cast<double>(geometry.shape[0]) * static_cast<double>(geometry.shape[1]) > 0x1p60)
    throw no_journal(path, kWritten);
  return geometry;
} catch (const Json::exception&) {
  throw no_journal(path, kWritten);
}

/// A crash before the first line was whole leaves a part of it.
bool is_begun(const std::string& path, const std::string& first_line) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(first_line.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return begin.size() == first_line.size() || !first_line.starts_with(begin);
}

void check_same_work(const std::string& path, const Json& before, const Json& now) {
  const Json files = before.value("files", Json::object());
  for (const auto& [name, fingerprint] : now["files"].items())
    if (files.contains(name) && files[name] != fingerprint)
      throw IoError(
          fmt::format("{} has changed since {} was begun; for its present pixels begin anew: remove the "
                      "journal",
                      name, path));
  for (const auto& [field, value] : now.items()) {
    if (before.value(field, Json()) == value) continue;
    if (field == "graph" || field == "files")
      throw IoError(
          fmt::format("the graph has changed since {} was begun; for the present one begin anew: remove the "
                      "journal",
                      path));
    throw IoError(
        fmt::format("{} was begun with {} {}, and now it is {}; give the same options, or remove the journal "
                    "to begin anew",
                    path, field, before.value(field, Json()).dump(), value.dump()));
  }
}

void write_all(int file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw IoError(fmt::format("{} cannot be written: {}", path, reason()));
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (fsync(file) != 0) throw IoError(fmt::format("{} cannot be written: {}", path, reason()));
}

}  // namespace

Journal::Journal(std::string path, const Json& about) : path_(std::move(path)) {
  Json first = {{"fathom", kKind}, {"version", 1}};
  first.update(about);
  const std::string line = first.dump() + "\n";
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw IoError(fmt::format("{} cannot be written: {}", path_, reason()));
  try {  // what another one writes is read only once it has ended
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) throw IoError(fmt::format("{} is in use by another fathom", path_));
    if (is_begun(path_, line)) {
      Contents contents = read_journal(path_, kNew);
      check_same_work(path_, contents.about, about);
      bands_ = std::move(contents.bands);
      acknowledged_ = contents.acknowledged;
      ends_ = std::move(contents.ends);
      cut(bands_.size());
    } else {
      ends_ = {line.size()};
      if (ftruncate(file_, 0) != 0) throw IoError(fmt::format("{} cannot be written: {}", path_, reason()));
      write_all(file_, path_, line);
    }
  } catch (...) {
    close(file_);
    throw;
  }
  written_ = now();
}

Journal::~Journal() { close(file_); }

void Journal::cut(std::size_t bands) {
  bands_.resize(bands);
  ends_.resize(bands + 1);
  const auto end = static_cast<off_t>(ends_.back());
  const off_t size = lseek(file_, 0, SEEK_END);
  if (size < 0 || (size > end && ftruncate(file_, end) != 0) || lseek(file_, end, SEEK_SET) != end)
    throw IoError(fmt::format("{} cannot be cut: {}", path_, reason()));
}

void Journal::add(std::int64_t band, std::uint32_t checksum) {
  const auto number = static_cast<std::size_t>(band);
  if (number == bands_.size()) {
    aside_ += line_of(number, checksum);
    bands_.push_back(checksum);
  } else if (bands_.at(number) != checksum) {
    throw IoError(
        fmt::format("band {} has other pixels now than {} tells; remove the journal to begin anew", band, path_));
  }
}

bool Journal::is_due() const {
  constexpr double kSeconds = 0.25;  // of work that a crash may cost, for the price of two syncs
  return !aside_.empty() && now() - written_ >= kSeconds;
}

void Journal::commit() {
  const std::lock_guard lock(writing_);
  if (!aside_.empty()) write_all(file_, path_, aside_);
  aside_.clear();
  written_ = now();
}

void Journal::acknowledge(std::int64_t bytes) {
  const std::lock_guard lock(writing_);
  write_all(file_, path_, line_of_acknowledged(bytes));
}

int verify_journal(const std::string& output, const std::string& journal, bool json) {
  const Contents contents = read_journal(journal, kWritten);
  const auto [dtype, shape, band, raw] = geometry_of(contents.about, journal);
  const auto bands = static_cast<std::size_t>((shape[0] + band - 1) / band);
  if (contents.bands.size() < bands)
    throw IoError(
        fmt::format("{} tells of {} of {} bands: the stream was not whole", journal, contents.bands.size(), bands));
  const auto source =
      raw ? io::open_raw_raster(output, {dtype, shape}, dtype == DType::boolean) : io::open_raster(output).source;
  if (source->dtype() != dtype || source->height() != shape[0] || source->width() != shape[1])
    throw IoError(fmt::format("{} is {} {}, and the journal tells of {} {}", output,
                              to_string({source->height(), source->width()}), fathom::name_of(source->dtype()),
                              to_string(shape), fathom::name_of(dtype)));
  std::vector<std::size_t> bad;
  Array rows(dtype, {std::min(band, shape[0]), shape[1]});
  for (std::size_t k = 0; k < bands; ++k) {
    const std::int64_t y = static_cast<std::int64_t>(k) * band, y1 = std::min(y + band, shape[0]);
    const AnyView part(rows.data(), dtype, {y1 - y, shape[1]});
    source->read({y, 0, y1, shape[1]}, part);
    const std::size_t bytes = static_cast<std::size_t>(element_count(part.shape())) * size_of(dtype);
    if (stream::crc32c(0, {rows.data(), bytes}) != contents.bands[k]) bad.push_back(k);
  }
  if (json)
    print_line({{"operation", "verify"}, {"path", output}, {"journal", journal}, {"bands", bands}, {"different", bad}});
  else if (bad.empty()) print_report(fmt::format("{}: all {} bands are as {} tells\n", output, bands, journal), {});
  else
    print_report(fmt::format("{}: {} of {} bands differ from {}, the first in rows {} to {}\n", output, bad.size(),
                             bands, journal, static_cast<std::int64_t>(bad[0]) * band,
                             std::min((static_cast<std::int64_t>(bad[0]) + 1) * band, shape[0])),
                 {});
  return bad.empty() ? kDone : kDifferent;
}

}  // namespace fathom::cli
