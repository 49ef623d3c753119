#include "stream/sweep.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <system_error>

#include "core/root.hd.h"
#include "fathom/core/error.h"
#include "fathom/stream/nodes.h"
#include "stream/cpu/row_passes.h"
#include "stream/operation.h"
#include "stream/period.h"
#include "stream/pixels.h"
#include "stream/reduce.h"

namespace fathom::stream {

namespace {

constexpr std::int64_t kColumns = SweepShape::kPartColumns, kPartRows = SweepShape::kPartRows;
constexpr std::int32_t kNone = -1;
constexpr std::uint16_t kBeyond = 0xffff;
constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();

class ExactDistance final : public Reduction<ExactDistance, SweepNode> {
 public:
  static constexpr auto kRoles = roles::kDistance;

  ExactDistance(const NodeRef& mask, bool to_zero)
      : Reduction("distance", {mask->height(), mask->width(), DType::float32, mask->pixel()}, {{mask, Role::mask}}),
        to_zero_(to_zero) {
    if (height() > kLongest || width() > kLongest)
      throw InvalidArgument("the exact distance takes rasters of at most 2³¹ − 1 rows and columns");
  }
  std::string_view type() const override { return "distance"; }
  void describe(Description& to) const override { to.text("to", to_zero_ ? "zero" : "nonzero"); }
  Rectangle need(std::size_t, const Rectangle&) const override { return whole(); }
  Size largest_need(std::size_t, Size) const override { return SweepShape(*this).part(); }
  bool to_zero() const override { return to_zero_; }
  std::shared_ptr<const Operation> operation() const override {
    return make_operation(operation::Far{{.max = INFINITY, .to_zero = to_zero_}});
  }

  struct Work {};
  Work begin(const Step&) const { throw InternalError("an exact distance was asked for outside of its sweep"); }
  void reduce(As<Role::mask>, std::size_t, Work&, const Step&) const {}
  std::optional<double> end(Work&, const Step&) const { return std::nullopt; }

 private:
  bool to_zero_;
};

/// to = value where there is a site.
template <class T>
void put_where(const std::uint8_t* sites, std::int64_t count, T value, T* __restrict to) {
  for (std::int64_t x = 0; x < count; ++x) to[x] = select(sites[x] != 0, value, to[x]);
}

}  // namespace

SweepShape::SweepShape(const Node& node) : height(node.height()), width(node.width()), words((node.width() + 63) / 64) {
  constexpr std::int64_t kLeast = 256, kLargestPeriod = std::int64_t{1} << 26;
  constexpr double kMostDisk = 20e9;
  double rows = static_cast<double>(height) * static_cast<double>(width) * sizeof(std::int32_t) / kMostDisk;
  period = node.children()[0].node->period();
  if (period && (!period->region.contains(node.whole()) || 2 * period->height > height || period->width > width ||
                 period->height > kLargestPeriod / period->width))
    period = std::nullopt;
  if (period) rows = static_cast<double>(period->height * period->width) / static_cast<double>(width);
  block = std::clamp(static_cast<std::int64_t>(rows), kLeast, std::int64_t{kBeyond} - kPartRows);
  block = std::min(block, height);
  block = (block + kPartRows - 1) / kPartRows * kPartRows;
}

Size SweepShape::part() const { return {std::min(height, kPartRows), std::min(width, kColumns)}; }

/// Scratch for completing a row.
class Sweep::Row {
 public:
  static std::size_t bytes(std::int64_t width) {
    return static_cast<std::size_t>(width) *
           (2 * sizeof(std::uint16_t) + 2 * sizeof(std::int32_t) + sizeof(std::int64_t));
  }

  explicit Row(std::int64_t width)
      : width_(width),
        squared_(static_cast<std::size_t>(width + 2 * cpu::kRowPadding), cpu::kNotNear),
        least_(static_cast<std::size_t>(width + cpu::kRowPadding)),
        sites_(static_cast<std::size_t>(width)),
        starts_(static_cast<std::size_t>(width)),
        heights_(static_cast<std::size_t>(width)) {}

  /// Squares along the columns.
  std::uint16_t* squared() { return squared_.data() + cpu::kRowPadding; }
  /// Squares of the distances, from look_around().
  std::uint16_t* least() { return least_.data(); }

  /// The lower envelope of the parabolas (x − u)² + along(u)².
  /// @param along  distance along the column u, < 0 without a site
  template <class Along>
  void envelope(const Along& along, double unit, float* out) {
    std::int64_t top = -1;
    for (std::int64_t u = 0; u < width_; ++u) {
      const std::int64_t g = along(u), h = g * g;
      if (g < 0) continue;
      std::int64_t start = 0;
      for (; top >= 0; --top) {
        const std::int64_t i = sites_[static_cast<std::size_t>(top)];
        // From x = start on u is nearer than i, of equally near ones i.
        const std::int64_t above = u * u - i * i + h - heights_[static_cast<std::size_t>(top)], wide = 2 * (u - i);
        start = above < 0 ? 0 : above / wide + 1;
        if (start > starts_[static_cast<std::size_t>(top)]) break;
      }
      if (top < 0) start = 0;
      if (start >= width_) continue;
      ++top;
      sites_[static_cast<std::size_t>(top)] = static_cast<std::int32_t>(u);
      heights_[static_cast<std::size_t>(top)] = h;
      starts_[static_cast<std::size_t>(top)] = static_cast<std::int32_t>(start);
    }
    if (top < 0) {
      std::fill_n(out, width_, INFINITY);
      return;
    }
    for (std::int64_t end = width_; top >= 0; --top) {
      const std::int64_t u = sites_[static_cast<std::size_t>(top)], h = heights_[static_cast<std::size_t>(top)],
                         start = starts_[static_cast<std::size_t>(top)], wide = std::max(u - start, end - 1 - u);
      if (static_cast<std::uint64_t>(wide * wide + h) <= kExactInDouble) {  // in vectors, with the same results
        const auto from = static_cast<std::int32_t>(u);
        const double height = static_cast<double>(h);
        for (auto x = static_cast<std::int32_t>(start); x < static_cast<std::int32_t>(end); ++x) {
          const double across = x - from;
          out[x] = static_cast<float>(std::sqrt(across * across + height) * unit);
        }
      } else {
        for (std::int64_t x = start; x < end; ++x)
          out[x] = distance_from_squared<float>(static_cast<std::uint64_t>((x - u) * (x - u) + h), unit);
      }
      end = start;
    }
  }

 private:
  std::int64_t width_;
  std::vector<std::uint16_t> squared_, least_;
  std::vector<std::int32_t> sites_, starts_;
  std::vector<std::int64_t> heights_;
};

/// Records of one size in a file without a name.
class Sweep::Records {
 public:
  explicit Records(std::size_t bytes) : bytes_(bytes) {
    std::string path = (folder() / "fathom-XXXXXX").string();
    file_ = mkostemp(path.data(), O_CLOEXEC);
    if (file_ < 0) fail("be made");
    unlink(path.c_str());
  }
  ~Records() { close(file_); }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  void put(std::int64_t number, const void* values) const {
    transfer(
        number,
        [&](std::size_t done, off_t at) {
          return pwrite(file_, static_cast<const char*>(values) + done, bytes_ - done, at);
        },
        "be written");
  }
  void get(std::int64_t number, void* values) const {
    transfer(
        number,
        [&](std::size_t done, off_t at) { return pread(file_, static_cast<char*>(values) + done, bytes_ - done, at); },
        "be read");
  }

 private:
  template <class Step>
  void transfer(std::int64_t number, const Step& step, const char* what) const {
    for (std::size_t done = 0; done < bytes_;) {
      const ssize_t moved =
          step(done, static_cast<off_t>(number * static_cast<std::int64_t>(bytes_) + static_cast<std::int64_t>(done)));
      if (moved < 0 && errno == EINTR) continue;
      if (moved <= 0) fail(what);
      done += static_cast<std::size_t>(moved);
    }
  }
  static std::filesystem::path folder() {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::temp_directory_path(error);
    if (error)
      throw IoError("an exact distance has no folder for its temporary file: " + error.message() +
                    " (TMPDIR names one that exists)");
    return path;
  }
  [[noreturn]] static void fail(const std::string& what) {
    const std::string reason = std::strerror(errno);
    throw IoError("the temporary file of an exact distance, in " + folder().string() + ", cannot " + what + ": " +
                  reason + " (TMPDIR names another folder)");
  }

  std::size_t bytes_;
  int file_ = -1;
};

std::size_t SweepShape::bytes(std::int64_t rows, int threads) const {
  const auto columns = static_cast<std::size_t>(width);
  return static_cast<std::size_t>(block * words) * sizeof(std::uint64_t) +
         columns * (static_cast<std::size_t>(strips()) * sizeof(std::uint16_t) + 4 * sizeof(std::int32_t) + kStrip) +
         bytes_of({rows, width}, DType::float32) + static_cast<std::size_t>(threads) * Sweep::row_bytes(width);
}

std::size_t Sweep::row_bytes(std::int64_t width) { return Row::bytes(width); }

Sweep::Sweep(const SweepNode& node, Mask mask, Jobs jobs, Prepare prepare, int threads, InstructionSet set)
    : node_(node),
      shape_(node),
      mask_(std::move(mask)),
      jobs_(std::move(jobs)),
      prepare_(std::move(prepare)),
      set_(set) {
  if (const double unit = node.pixel().size; unit != 1)
    for (std::uint64_t square = 0; square <= static_cast<std::uint64_t>(cpu::kReach * cpu::kReach); ++square)
      roots_.push_back(distance_from_squared<float>(square, unit));
  for (int k = 0; k < threads; ++k) rows_.push_back(std::make_unique<Row>(shape_.width));
  const auto columns = static_cast<std::size_t>(shape_.width);
  bits_.resize(static_cast<std::size_t>(shape_.block * shape_.words));
  next_.resize(static_cast<std::size_t>(shape_.strips()) * columns);
  near_.resize(static_cast<std::size_t>(SweepShape::kStrip) * columns);
  for (auto* row : {&before_block_, &behind_block_, &before_strip_, &behind_strip_}) row->resize(columns, kNone);
}
Sweep::~Sweep() = default;

std::int64_t Sweep::block_end(std::int64_t number) const {
  return std::min(shape_.height, (number + 1) * shape_.block);
}

template <class RowFunction>
void Sweep::visit_sites(int worker, const Rectangle& part, const RowFunction& function) const {
  const bool to_zero = node_.to_zero();
  std::vector<std::uint8_t> sites(static_cast<std::size_t>(part.width()));
  if (spooled_) {
    std::vector<std::uint64_t> words(SweepShape::kPartBytes / sizeof(std::uint64_t));
    spooled_->get(part.y0 / kPartRows * shape_.chunks() + part.x0 / kColumns, words.data());
    for (std::int64_t y = part.height() - 1; y >= 0; --y) {
      const std::uint64_t* const row = words.data() + (part.y0 % kPartRows + y) * (kColumns / 64);
      for (std::int64_t x = 0; x < part.width(); ++x) sites[static_cast<std::size_t>(x)] = row[x / 64] >> x % 64 & 1;
      function(part.y0 + y, sites.data());
    }
    return;
  }
  mask_(worker, part, [&](const Pixels& pixels) {
    if (pixels.constant) std::fill(sites.begin(), sites.end(), (*pixels.constant == 0) == to_zero);
    for (std::int64_t y = part.height() - 1; y >= 0; --y) {
      if (!pixels.constant)
        visit_element(pixels.view.dtype(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          const T* const row = Rows<const T>(pixels.view)[y];
          std::uint8_t* const __restrict to = sites.data();
          for (std::int64_t x = 0; x < part.width(); ++x) to[x] = (row[x] == 0) == to_zero;
        });
      function(part.y0 + y, sites.data());
    }
  });
}

void Sweep::find_first(std::int64_t y0, std::int64_t y1, std::int64_t columns) {
  jobs_((columns + kColumns - 1) / kColumns, [&](int worker, std::int64_t chunk) {
    const std::int64_t x0 = chunk * kColumns, x1 = std::min(columns, x0 + kColumns);
    std::int32_t* const first = behind_block_.data() + x0;
    for (std::int64_t end = y1, begin; end > y0; end = begin) {
      begin = std::max(y0, (end - 1) / kPartRows * kPartRows);
      visit_sites(worker, {begin, x0, end, x1}, [&](std::int64_t y, const std::uint8_t* sites) {
        put_where(sites, x1 - x0, static_cast<std::int32_t>(y), first);
      });
    }
  });
}

void Sweep::spool() {
  if (!prepare_ || spooled_) return;
  auto records = std::make_unique<Records>(SweepShape::kPartBytes);
  for (std::int64_t block = 0; block < shape_.blocks(); ++block) {
    const std::int64_t begin = block * shape_.block, end = block_end(block);
    prepare_(begin, end);
    jobs_(shape_.chunks(), [&](int worker, std::int64_t chunk) {
      std::vector<std::uint64_t> words(SweepShape::kPartBytes / sizeof(std::uint64_t));
      const std::int64_t x0 = chunk * kColumns, x1 = std::min(shape_.width, x0 + kColumns);
      for (std::int64_t y0 = begin; y0 < end; y0 += kPartRows) {
        visit_sites(worker, {y0, x0, std::min(end, y0 + kPartRows), x1},
                    [&](std::int64_t y, const std::uint8_t* sites) {
                      cpu::pack_bits(sites, x1 - x0, words.data() + (y - y0) * (kColumns / 64), set_);
                    });
        records->put(y0 / kPartRows * shape_.chunks() + chunk, words.data());
      }
    });
  }
  spooled_ = std::move(records);
}

void Sweep::sweep_up() {
  carries_ = std::make_unique<Records>(static_cast<std::size_t>(shape_.width) * sizeof(std::int32_t));
  std::fill(behind_block_.begin(), behind_block_.end(), kNone);
  for (std::int64_t block = shape_.blocks() - 1; block >= 0; --block) {
    carries_->put(block, behind_block_.data());
    if (block > 0) find_first(block * shape_.block, block_end(block), shape_.width);
  }
}

/// The first sites at y or below where the mask repeats itself, from one period of it in its first rows. A period
/// below, a column goes on as another one, `skew` to the left: along such a cycle the next site is carried backwards.
void Sweep::look_ahead(std::int64_t y) {
  const auto& [height, width, skew, region] = *shape_.period;
  std::fill(behind_block_.begin(), behind_block_.end(), kNone);
  find_first(y % height, y % height + height, width);
  std::vector<std::int64_t> next(static_cast<std::size_t>(width));
  const std::int64_t cycles = std::gcd(width, skew), length = width / cycles;
  for (std::int64_t cycle = 0; cycle < cycles; ++cycle) {
    std::int64_t found = shape_.height, column = cycle;
    for (std::int64_t turn = 2 * length; turn-- > 0;) {
      column = (column + skew) % width;
      const std::int32_t first = behind_block_[static_cast<std::size_t>(column)];
      found = first == kNone ? found + height : first;
      next[static_cast<std::size_t>(column)] = found;
    }
  }
  const std::int64_t turn = y / height, moved = modulo_of_product(turn, skew, width);
  for (std::int64_t x = 0; x < shape_.width; ++x) {
    const std::int64_t row = next[static_cast<std::size_t>(modulo(x - moved, width))] + turn * height;
    behind_block_[static_cast<std::size_t>(x)] = row < shape_.height ? static_cast<std::int32_t>(row) : kNone;
  }
}

/// Reads the mask's bits, and from the bottom the first sites behind each strip.
void Sweep::enter_block(std::int64_t number) {
  block_ = number;
  strip_ = -1;
  const std::int64_t begin = number * shape_.block, end = block_end(number);
  if (carries_) carries_->get(number, behind_block_.data());
  else look_ahead(end);
  const std::int64_t chunks = (shape_.width + kColumns - 1) / kColumns;
  jobs_(chunks, [&](int worker, std::int64_t chunk) {
    const std::int64_t x0 = chunk * kColumns, x1 = std::min(shape_.width, x0 + kColumns);
    std::vector<std::uint16_t> first(static_cast<std::size_t>(x1 - x0), kBeyond);
    for (std::int64_t y1 = end, y0; y1 > begin; y1 = y0) {
      y0 = std::max(begin, (y1 - 1) / kPartRows * kPartRows);
      const Rectangle part{y0, x0, y1, x1};
      visit_sites(worker, part, [&](std::int64_t y, const std::uint8_t* sites) {
        const std::int64_t in_block = y - begin;
        if ((in_block + 1) % SweepShape::kStrip == 0 || y + 1 == end)
          std::copy(first.begin(), first.end(), next_.begin() + (in_block / SweepShape::kStrip * shape_.width + x0));
        cpu::pack_bits(sites, x1 - x0, bits_.data() + in_block * shape_.words + x0 / 64, set_);
        put_where(sites, x1 - x0, static_cast<std::uint16_t>(in_block), first.data());
      });
    }
  });
}

/// Distances along the columns to sites within the strip, and the sites before and behind it.
void Sweep::enter_strip(std::int64_t number) {
  const std::int64_t begin = block_ * shape_.block + number * SweepShape::kStrip,
                     rows = std::min(SweepShape::kStrip, block_end(block_) - begin);
  const std::int64_t chunks = (shape_.width + kColumns - 1) / kColumns;
  jobs_(chunks, [&](int, std::int64_t chunk) {
    const std::int64_t x0 = chunk * kColumns, x1 = std::min(shape_.width, x0 + kColumns);
    std::vector<std::uint8_t> run(static_cast<std::size_t>(x1 - x0), cpu::kFar);
    const auto step = [&](std::int64_t row, bool merge) {
      cpu::step_runs(bits_.data() + (number * SweepShape::kStrip + row) * shape_.words + x0 / 64, x1 - x0, merge,
                     run.data(), near_.data() + row * shape_.width + x0, set_);
    };
    for (std::int64_t row = 0; row < rows; ++row) step(row, false);
    const auto after_strip = run;
    std::fill(run.begin(), run.end(), cpu::kFar);
    for (std::int64_t row = rows; row-- > 0;) step(row, true);
    const std::uint16_t* const next = next_.data() + number * shape_.width;
    for (std::int64_t x = x0; x < x1; ++x) {
      const auto at = static_cast<std::size_t>(x);
      behind_strip_[at] =
          next[x] == kBeyond ? behind_block_[at] : static_cast<std::int32_t>(block_ * shape_.block + next[x]);
      // before_block_ runs along: what it says behind this strip is what the next one has before it.
      before_strip_[at] = before_block_[at];
      const std::uint8_t last = after_strip[static_cast<std::size_t>(x - x0)];
      if (last != cpu::kFar) before_block_[at] = static_cast<std::int32_t>(begin + rows - 1 - last);
    }
  });
  strip_ = number;
}

void Sweep::complete_row(int worker, std::int64_t y, float* out) {
  Row& row = *rows_[static_cast<std::size_t>(worker)];
  const std::int64_t in_strip = y - block_ * shape_.block - strip_ * SweepShape::kStrip;
  const std::uint8_t* const near = near_.data() + in_strip * shape_.width;
  const auto at = static_cast<std::int32_t>(y);
  const auto along = [&](std::int64_t x) -> std::int64_t {
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    const std::int32_t before = before_strip_[static_cast<std::size_t>(x)],
                       behind = behind_strip_[static_cast<std::size_t>(x)];
    const std::int32_t up = before == kNone ? kMost : at - before, down = behind == kNone ? kMost : behind - at,
                       here = near[x] == cpu::kFar ? kMost : near[x];
    const std::int32_t least = std::min(here, std::min(up, down));
    return least == kMost ? -1 : least;
  };
  cpu::square_columns(near, before_strip_.data(), behind_strip_.data(), at, shape_.width, row.squared(), set_);
  if (cpu::look_around(row.squared(), shape_.width, row.least(), set_))
    cpu::put_roots(row.least(), shape_.width, roots_.empty() ? nullptr : roots_.data(), out, set_);
  else row.envelope(along, node_.pixel().size, out);
}

void Sweep::advance(std::int64_t y0, std::int64_t y1) {
  if (y0 >= ready_begin_ && y1 <= ready_end_) return;
  try {
    move_on(y0, y1);
  } catch (...) {  // the next one begins anew
    carries_.reset();
    block_ = strip_ = -1;
    ready_begin_ = ready_end_ = 0;
    throw;
  }
}

void Sweep::move_on(std::int64_t y0, std::int64_t y1) {
  if (!carries_ && !shape_.period) sweep_up();
  const bool goes_on = block_ >= 0 && y0 >= ready_begin_ && y0 <= ready_end_;
  if (!goes_on && (y0 < ready_end_ || block_ < 0)) {  // back to the top
    std::fill(before_block_.begin(), before_block_.end(), kNone);
    block_ = strip_ = -1;
  }
  std::int64_t y = goes_on ? ready_end_ : y0;
  if (goes_on && y0 > ready_begin_)
    std::move(ready_.begin() + (y0 - ready_begin_) * shape_.width,
              ready_.begin() + (ready_end_ - ready_begin_) * shape_.width, ready_.begin());
  ready_.resize(static_cast<std::size_t>((y1 - y0) * shape_.width));
  while (y < y1) {
    const std::int64_t block = y / shape_.block, strip = y % shape_.block / SweepShape::kStrip;
    // Strips that nobody asked for are passed, too: they move the last sites along.
    while (block_ != block || strip_ != strip) {
      const bool is_passed =
          block_ >= 0 && block_ * shape_.block + (strip_ + 1) * SweepShape::kStrip >= block_end(block_);
      if (block_ < 0 || is_passed) enter_block(block_ + 1);
      else enter_strip(strip_ + 1);
    }
    const std::int64_t first = y, strip_end = std::min(y1, block * shape_.block + (strip + 1) * SweepShape::kStrip);
    jobs_(strip_end - first, [&](int worker, std::int64_t job) {
      complete_row(worker, first + job, ready_.data() + (first + job - y0) * shape_.width);
    });
    y = strip_end;
  }
  ready_begin_ = y0;
  ready_end_ = y1;
}

void Sweep::read(const Rectangle& part, const AnyView& out) const {
  if (part.y0 < ready_begin_ || part.y1 > ready_end_) throw InternalError("rows of an exact distance are not there");
  const AnyConstView rows(reinterpret_cast<const std::byte*>(ready_.data()), DType::float32,
                          {ready_end_ - ready_begin_, shape_.width});
  copy(part_of(rows, part.y0 - ready_begin_, part.x0, size_of(part)), out);
}

NodeRef exact_distance(NodeRef mask, bool to_zero) {
  if (!mask) throw InvalidArgument("'exact_distance' has no child");
  return std::make_shared<ExactDistance>(mask, to_zero);
}

}  // namespace fathom::stream
