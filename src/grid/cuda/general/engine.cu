// The general engine: the last axis from line words, then one pass per remaining axis, from the fastest to the slowest.
//
// With this order the tie rule needs no care beyond "the lowest coordinate wins" within each pass: among equal
// distances the slowest axis decides last and so first, and the nearest site comes out as the one with the lowest
// linear index.
//
// Labels and signed fields: an element looks for the nearest element of another class. Along a line that is a source of
// value 0 at each end of the run of equal classes around the element. All other sources of the line may stay: beyond
// the ends of the run they are farther than the ends themselves. So these transforms are ordinary passes that start
// from the distance to the ends of the run (Pass::start).
//
// Source and cost: see general/search.cuh and general/line_words.cu. Memory: two values (and two indices) per element;
// a batch is worked on in groups of items, so that its size does not matter. Once the words are there, columns – places
// along the last axis – have nothing to do with one another: only those of the region are worked on.
#include <algorithm>

#include "core/cuda/runtime.h"
#include "grid/cuda/engine.h"
#include "grid/cuda/general/search.cuh"
#include "grid/cuda/output/results.cuh"

namespace fathom::grid::cuda::general {

namespace {

/// Values (and sites, where they are wanted) of the last axis, from its words. Thread = element.
template <class V>
__global__ void __launch_bounds__(kGeneralBlock)
    find_row_values(const __grid_constant__ LineWords words, Columns columns, AxisCost<V> cost, V* value,
                    std::int64_t* site) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  if (i >= words.lines.outer * columns.count) return;
  const Division by_row(i, columns.count);
  const auto x = static_cast<std::int32_t>(columns.first + by_row.remainder);
  const InLine nearest = words.nearest(by_row.quotient, 0, x);
  const bool none = nearest.steps >> 31;
  value[i] = none ? no_value<V>() : cost(nearest.steps);
  if (site) site[i] = none ? -1 : nearest.site;
}

/// From values and sites to outputs. Thread = element.
template <class V>
struct Emission {
  const V* value = nullptr;
  const std::int64_t* site = nullptr;  ///< null: not wanted
  Columns columns;
  std::int64_t elements = 0;  ///< of an item, in these columns
  std::int64_t count = 0;     ///< of all items
  V cap = 0;
  Emitter<V> emitter;
  bool search_chessboard = false;  ///< `site` holds coordinates along the slowest axis
  ChessboardBoxes<V, kMaxSpaceRank> boxes;
  LineWords rows;  ///< along the last axis, as far as they are searched

  /// As boxes.find().
  FATHOM_HD std::int64_t nearest(std::int64_t item, const std::int64_t* at, V value, std::int64_t slowest) const {
    const std::int64_t first_row = item * (elements / columns.count);
    return boxes.find(at, value, slowest,
                      [&](const std::int64_t* here, std::int64_t row, std::int64_t x, std::int64_t end) {
                        row += first_row;
                        const auto word_of = [&](std::int64_t c) {
                          const std::int64_t i = rows.at(row, 0, static_cast<std::int32_t>(c));
                          return LineWord{.bits = rows.bits[i], .right = rows.right[i]};
                        };
                        return first_site_in_row(x, end, rows.lines.extent, word_of, [&](std::int64_t c) {
                          if (emitter.classes.boundaries) return differs(item, at, here, c);
                          return (word_of(c).bits >> (c % kWordElements) & 1) != 0;
                        });
                      });
  }

 private:
  /// Whether the element at x of a row is of another class than that at `at`. @param here  the row
  FATHOM_HD bool differs(std::int64_t item, const std::int64_t* at, const std::int64_t* here, std::int64_t x) const {
    const Input& input = emitter.input;
    std::int64_t own = input.items.offset(emitter.first_item + item), other = own;
    bool same = true;
    for (int k = 0; k < input.rank; ++k) {
      const std::int64_t to = k == input.rank - 1 ? x : here[k];
      own += at[k] * input.stride[k];
      other += to * input.stride[k];
      same &= to == at[k];
    }
    // Where label 0 is pinned, an element with distance 0 finds itself.
    if (same) return emitter.classes.pins && fulfils(emitter.classes.background, input.data, own);
    return emitter.classes.differ(input.data, own, other);
  }
};

template <class V>
__global__ void __launch_bounds__(kGeneralBlock) emit(const __grid_constant__ Emission<V> p) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  if (i >= p.count) return;
  const Division of_item(i, p.elements);
  const std::int64_t item = of_item.quotient;
  const int last = p.emitter.input.rank - 1;
  const Division of_row(of_item.remainder, p.columns.count);
  std::int64_t rest = of_row.quotient, at[kMaxSpaceRank];
  at[last] = p.columns.first + of_row.remainder;
  for (int k = last - 1; k >= 0; --k) {
    const Division division(rest, p.emitter.input.extent[k]);
    at[k] = division.remainder;
    rest = division.quotient;
  }
  if (!p.emitter.in_region(at)) return;
  const V value = p.value[i];
  std::int64_t site = p.site ? p.site[i] : -1;
  if (p.search_chessboard) site = value < p.cap ? p.nearest(item, at, value, site) : -1;
  p.emitter.emit(item, at, value, site, p.emitter.is_inside(item, at));
}

bool is_periodic_along(const Problem& p, int axis) {
  return p.border[static_cast<std::size_t>(axis)] == Border::periodic;
}

/// The words of all rows of some items, and how many bytes they take.
LineWords make_rows(const Problem& p, std::int64_t items, std::byte* base, std::size_t* bytes = nullptr) {
  const Classes classes = Classes::of(p);
  LineWords words{.lines = Lines::of(p, p.rank - 1, items),
                  .changes = classes.boundaries,
                  .periodic = is_periodic_along(p, p.rank - 1)};
  Scratch s(base);
  words.take(s, words.count(), classes.pins);
  if (bytes) *bytes = s.bytes();
  return words;
}

/// What is needed besides the words of rows.
template <class V>
struct Memory {
  LineWords columns;
  V *value[2], *block_least, *super_least;
  std::int64_t* site[2];

  std::size_t take(std::byte* base, const Problem& p, std::int64_t items) {
    Scratch s(base);
    const Classes classes = Classes::of(p);
    const Lines all_rows = Lines::of(p, p.rank - 1, items);
    const std::int64_t elements = all_rows.outer * p.region_extent(p.rank - 1);
    std::int64_t words = 0, blocks = 0, supers = 0;
    for (int k = 0; k < p.rank - 1; ++k) {
      const std::int64_t lines = elements / p.extent(k);
      if (classes.boundaries) words = std::max(words, lines * words_of(p.extent(k)));
      blocks = std::max(blocks, lines * source_blocks(p.extent(k)));
      supers = std::max(supers, lines * source_superblocks(p.extent(k)));
    }
    columns.take(s, words, classes.pins);
    for (int k = 0; k < 2; ++k) {
      const std::int64_t buffered = p.rank > k ? elements : 0;
      value[k] = s.take<V>(buffered);
      site[k] = s.take<std::int64_t>(wants_site(p) ? buffered : 0);
    }
    block_least = s.take<V>(blocks);
    super_least = s.take<V>(supers);
    return s.bytes();
  }
};

template <class V>
class Solver {
 public:
  Solver(const Problem& problem, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
         std::byte* scratch, cudaStream_t stream)
      : p_(problem),
        stream_(stream),
        items_(items),
        columns_(Columns::of(problem)),
        emitter_(Emitter<V>::of(problem, batch, first_item)),
        rows_(make_rows(problem, items, words)) {
    memory_.take(scratch, problem, items);
  }

  void run() {
    find_rows();
    for (int axis = p_.rank - 2; axis >= 0; --axis) pass(axis);
    emit_all();
  }

 private:
  /// Sites are carried through the passes; in the chessboard metric they are found at the end.
  bool carries_site() const { return wants_site(p_) && !searches_chessboard(); }
  bool searches_chessboard() const { return wants_site(p_) && p_.metric == Metric::chessboard && p_.rank > 1; }

  void find_rows() const {
    const std::int64_t elements = rows_.lines.outer * columns_.count;
    find_row_values<V><<<blocks_for(elements, kGeneralBlock), kGeneralBlock, 0, stream_>>>(
        rows_, columns_, axis_cost<V>(p_, p_.rank - 1), memory_.value[from_],
        carries_site() ? memory_.site[from_] : nullptr);
    fathom::cuda::check_launch("finding distances in rows");
  }

  /// The words of the starts along an axis; none for masks.
  LineWords starts_along(const Lines& lines) const {
    if (!emitter_.classes.boundaries) return {};
    LineWords words = memory_.columns;
    words.lines = lines;
    words.changes = true;
    words.periodic = is_periodic_along(p_, lines.axis);
    Input input = emitter_.input;
    input.data += columns_.first * static_cast<std::int64_t>(size_of(input.dtype));
    input.extent[input.rank - 1] = columns_.count;
    fill_line_words(words, input, emitter_.classes, emitter_.first_item, stream_);
    return words;
  }

  void find_minima(const Lines& lines) const {
    const auto run = [&](const V* source, V* least, const Lines& of, int step) {
      const std::int64_t count = of.count() * ((of.extent + step - 1) / step);
      find_least<V><<<blocks_for(count, kGeneralBlock), kGeneralBlock, 0, stream_>>>(source, least, of, step);
    };
    run(memory_.value[from_], memory_.block_least, lines, kTargets);
    Lines of_blocks = lines;
    of_blocks.extent = source_blocks(lines.extent);
    run(memory_.block_least, memory_.super_least, of_blocks, kSuperblock);
    fathom::cuda::check_launch("finding bounds");
  }

  void pass(int axis) {
    Pass<V> pass;
    pass.lines = Lines::of(p_, axis, items_);
    find_minima(pass.lines);
    pass.start = starts_along(pass.lines);
    pass.source = memory_.value[from_];
    pass.source_site = carries_site() ? memory_.site[from_] : nullptr;
    pass.block_least = memory_.block_least;
    pass.super_least = memory_.super_least;
    const Range targets = axis == 0 ? p_.range(0) : Range{0, p_.extent(axis)};
    pass.first_block = static_cast<std::int32_t>(targets.begin / kTargets);
    pass.blocks = source_blocks(targets.end) - pass.first_block;
    pass.columns = columns_;
    for (int k = axis + 1; k < p_.rank; ++k) pass.site_step *= p_.extent(k);
    pass.cost = axis_cost<V>(p_, axis);
    pass.cap = cap_above(largest_kept<V>(p_));
    pass.chessboard = p_.metric == Metric::chessboard;
    pass.periodic = is_periodic_along(p_, axis);
    pass.result = memory_.value[1 - from_];
    pass.result_site = memory_.site[1 - from_];
    const std::int64_t warps = (pass.lines.count() + 31) / 32 * pass.blocks;
    const unsigned blocks = blocks_for(warps * 32, kSearchBlock);
    if (carries_site() || (searches_chessboard() && axis == 0))
      search<V, true><<<blocks, kSearchBlock, 0, stream_>>>(pass);
    else search<V, false><<<blocks, kSearchBlock, 0, stream_>>>(pass);
    fathom::cuda::check_launch("searching along an axis");
    from_ = 1 - from_;
  }

  void emit_all() const {
    const std::int64_t count = rows_.lines.outer * columns_.count;
    const Emission<V> emission{.value = memory_.value[from_],
                               .site = wants_site(p_) ? memory_.site[from_] : nullptr,
                               .columns = columns_,
                               .elements = count / items_,
                               .count = count,
                               .cap = cap_above(largest_kept<V>(p_)),
                               .emitter = emitter_,
                               .search_chessboard = searches_chessboard(),
                               .boxes = chessboard_boxes<V>(p_),
                               .rows = rows_};
    emit<V><<<blocks_for(count, kGeneralBlock), kGeneralBlock, 0, stream_>>>(emission);
    fathom::cuda::check_launch("writing results");
  }

  const Problem& p_;
  const cudaStream_t stream_;
  const std::int64_t items_;
  const Columns columns_;
  const Emitter<V> emitter_;
  const LineWords rows_;
  Memory<V> memory_;
  int from_ = 0;  ///< which of the two buffers holds the sources
};

class GeneralEngine final : public Engine {
 public:
  explicit GeneralEngine(const Problem& problem) : p_(problem), classes_(Classes::of(problem)) {}

  Cut cut() const override {
    constexpr int kLeastColumns = 8;
    return {p_.rank - 1, reads_rows() ? p_.extent(p_.rank - 1) : kLeastColumns};
  }
  std::int64_t packed_unit() const override { return p_.rank == 1 ? p_.extent(0) : 1; }
  bool reads_input() const override { return classes_.boundaries; }
  Range columns_read(const Range& part) const override {
    return reads_rows() ? Range{0, p_.extent(p_.rank - 1)} : part;
  }
  /// As many as make the device busy.
  std::int64_t group_of(std::int64_t items) const override {
    return std::clamp<std::int64_t>(kGeneralGroup / element_count(p_.input.shape()), 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override {
    std::size_t bytes = 0;
    make_rows(p_, items, nullptr, &bytes);
    return bytes;
  }
  std::size_t scratch_bytes(const Problem& part, std::int64_t items) const override {
    return with_value_type(p_,
                           [&](auto tag) { return Memory<typename decltype(tag)::type>().take(nullptr, part, items); });
  }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    LineWords rows = make_rows(p_, items, words);
    const std::int64_t of_item = rows.lines.outer / items,
                       first = packing.to_item * of_item + packing.to * of_item / p_.extent(0);
    rows.begin_at(first);
    rows.lines.outer = packing.items;
    for (int k = 0; k + 1 < p_.rank; ++k) rows.lines.outer *= packing.input.extent[k];
    fill_line_words(rows, packing.input, classes_, packing.first_item, stream);
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte* scratch, cudaStream_t stream) const override {
    with_value_type(p_, [&](auto tag) {
      Solver<typename decltype(tag)::type>(part, batch, first_item, items, words, scratch, stream).run();
      return 0;
    });
  }

 private:
  /// Nearest sites in the chessboard metric are looked for in whole rows; where classes differ, of the input.
  bool reads_rows() const { return classes_.boundaries && p_.metric == Metric::chessboard && wants_site(p_); }

  const Problem& p_;
  const Classes classes_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Problem& problem) { return std::make_unique<GeneralEngine>(problem); }

}  // namespace fathom::grid::cuda::general
