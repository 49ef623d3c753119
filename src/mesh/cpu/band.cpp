// The band, a row of tiles along x at a time: the tiles that the surface may be near, or in which inside
// and outside may meet, are found by bisecting the row, each is searched, and what it holds is signed. Rows are joined
// in the end.
#include "mesh/cpu/band.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mesh/band_forms.h"
#include "mesh/band_rule.h"
#include "mesh/cpu/search.h"
#include "mesh/cpu/sides.h"
#include "mesh/cpu/tile.h"
#include "mesh/cpu/tile_corners.h"

namespace fathom::mesh::cpu {

namespace {

using Mask = std::array<std::uint64_t, kTileSide>;

/// Of a row's points.
struct Values {
  std::vector<std::byte> distances;
  std::vector<std::int32_t> triangles;
  std::vector<float> closest;
};

/// Memory for values of rows.
class Pieces {
 public:
  /// @return memory for some bytes more, and what holds it
  std::pair<std::shared_ptr<Array>, std::byte*> take(std::size_t bytes) {
    if (!piece_ || used_ + bytes > piece_->bytes()) {
      piece_ = std::make_shared<Array>(DType::uint8, Shape{static_cast<std::int64_t>(std::max(bytes, kPieceBytes))});
      used_ = 0;
    }
    used_ += bytes;
    return {piece_, piece_->data() + (used_ - bytes)};
  }

 private:
  std::shared_ptr<Array> piece_;
  std::size_t used_ = 0;
};

/// What a row of tiles holds.
struct Row {
  std::vector<std::int32_t> tiles;  ///< along x
  std::vector<Mask> masks;
  std::vector<Mask> inside;      ///< of compact bands with sides
  std::shared_ptr<Array> piece;  ///< that the values lie in: distances, triangles, closest points
  const std::byte* values = nullptr;
  bool starts_inside = false;
  std::vector<std::uint8_t> after_inside;
  std::int64_t active = 0;
};

/// Spreads the sides of known points to their neighbours until all are known: between points that are farther from the
/// surface than a step is long, it cannot pass.
void spread_sides(Mask known, Mask& inside) {
  constexpr std::uint64_t kNotFirst = 0xfefefefefefefefe, kNotLast = 0x7f7f7f7f7f7f7f7f;
  const auto beside = [](const Mask& of, std::size_t z) {
    return (of[z] << 1 & kNotFirst) | (of[z] >> 1 & kNotLast) | of[z] << 8 | of[z] >> 8 | (z > 0 ? of[z - 1] : 0) |
           (z < 7 ? of[z + 1] : 0);
  };
  while (std::any_of(known.begin(), known.end(), [](std::uint64_t word) { return ~word != 0; })) {
    Mask next = known;
    for (std::size_t z = 0; z < kTileSide; ++z) next[z] |= beside(known, z);
    if (next == known) return;
    Mask next_inside = inside;
    for (std::size_t z = 0; z < kTileSide; ++z) next_inside[z] |= beside(inside, z) & next[z] & ~known[z];
    inside = next_inside;
    known = next;
  }
}

class RowWork {
 public:
  /// @param corners  null: they are not asked
  RowWork(const PreparedMesh& prepared, const Lattice& lattice, const BandOptions& options, const BandRule& rule,
          const TileCorners* corners, InstructionSet set)
      : prepared_(prepared),
        tree_(prepared.view()),
        lattice_(lattice),
        options_(options),
        set_(set),
        rule_(rule),
        corners_(corners),
        search_(prepared.tree, rule_.within, set),
        bundle_(tree_, lattice) {}

  Row run(std::int64_t ty, std::int64_t tz) {
    row_ = {};
    ty_ = ty;
    tz_ = tz;
    along_x_ = (lattice_.shape[0] + kTileSide - 1) / kTileSide;
    bundle_is_set_ = false;
    bisect(0, along_x_);
    if (prepared_.sign != Sign::none) sign_gaps();
    put_aside();
    return std::move(row_);
  }

 private:
  Vec3 point(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return {lattice_.at(0, x), lattice_.at(1, y), lattice_.at(2, z)};
  }

  /// Takes the row's values to where they wait.
  void put_aside() {
    std::byte* to = nullptr;
    const auto put = [&](const auto& from) {
      const std::size_t bytes = from.size() * sizeof(from[0]);
      if (bytes > 0) std::memcpy(to, from.data(), bytes);
      to += bytes;
    };
    const std::size_t bytes = values_.distances.size() + values_.triangles.size() * sizeof(std::int32_t) +
                              values_.closest.size() * sizeof(float);
    if (bytes == 0) return;
    std::tie(row_.piece, to) = pieces_.take(bytes);
    row_.values = to;
    put(values_.distances);
    put(values_.triangles);
    put(values_.closest);
    values_.distances.clear();
    values_.triangles.clear();
    values_.closest.clear();
  }

  void bisect(std::int64_t begin, std::int64_t end) {
    const auto last = [&](std::size_t axis, std::int64_t tile) {
      return lattice_.at(axis, tile * kTileSide + kTileSide - 1);
    };
    const Vec3 low = point(begin * kTileSide, ty_ * kTileSide, tz_ * kTileSide);
    const bool may_be_cut = corners_ != nullptr && !corners_->agree(begin, end, ty_, tz_, 1);
    if (!may_be_cut && !search_.is_near({{low.x, low.y, low.z}, {last(0, end - 1), last(1, ty_), last(2, tz_)}}))
      return;
    if (end - begin == 1) return add_tile(begin, may_be_cut);
    const std::int64_t middle = begin + (end - begin) / 2;
    bisect(begin, middle);
    bisect(middle, end);
  }

  /// @param may_be_cut  inside and outside may meet in it
  void add_tile(std::int64_t tx, bool may_be_cut) {
    const std::array<std::int64_t, 3> first{tx * kTileSide, ty_ * kTileSide, tz_ * kTileSide};
    const TilePlace place = tile_place(lattice_, first);
    if (!search_.search(place, found_)) {
      if (!may_be_cut) return;
      std::fill_n(found_.squared, kTilePoints, std::numeric_limits<double>::infinity());
    }
    Mask mask{};
    bool is_stored = false;
    double distances[kTilePoints];
    for (int i = 0; i < kTilePoints; ++i) {
      distances[i] = std::sqrt(found_.squared[i]);
      const bool exists = first[0] + i % 8 < lattice_.shape[0] && first[1] + i / 8 % 8 < lattice_.shape[1] &&
                          first[2] + i / 64 < lattice_.shape[2];
      is_stored |= exists && distances[i] <= rule_.within;
      mask[static_cast<std::size_t>(i / 64)] |= std::uint64_t{exists && distances[i] <= options_.cutoff} << i % 64;
    }
    if (!is_stored && !may_be_cut) return;
    Mask inside{};
    if (prepared_.sign == Sign::winding) inside = sides_by_lines(tx);
    else if (prepared_.sign != Sign::none) inside = sides_of(place, mask);
    if (!is_stored && !is_cut(tx, inside)) return;
    const int active = std::accumulate(mask.begin(), mask.end(), 0,
                                       [](int sum, std::uint64_t word) { return sum + std::popcount(word); });
    row_.active += active;
    row_.tiles.push_back(static_cast<std::int32_t>(tx));
    row_.masks.push_back(mask);
    store(place, mask, inside, distances);
  }

  /// Whether inside and outside meet in a tile.
  bool is_cut(std::int64_t tx, const Mask& inside) const {
    const std::uint64_t all = corners_->is_inside(tx, ty_, tz_) ? ~std::uint64_t{0} : 0;
    return !corners_->agree(tx, tx + 1, ty_, tz_, 0) ||
           std::any_of(inside.begin(), inside.end(), [&](std::uint64_t word) { return word != all; });
  }

  static bool bit(const Mask& mask, int i) { return mask[static_cast<std::size_t>(i / 64)] >> i % 64 & 1; }
  static Vec3 point_of(const TilePlace& place, int i) {
    return {place.at[0][i % 8], place.at[1][i / 8 % 8], place.at[2][i / 64]};
  }

  void store(const TilePlace& place, const Mask& mask, const Mask& inside, const double* distances) {
    if (options_.dtype == DType::float32) store_distances<float>(mask, inside, distances);
    else store_distances<double>(mask, inside, distances);
    if (options_.triangles)
      for (int i = 0; i < kTilePoints; ++i)
        if (is_kept(mask, i)) values_.triangles.push_back(bit(mask, i) ? tree_.mesh.ids[found_.place[i]] : -1);
    if (!options_.closest) return;
    for (int i = 0; i < kTilePoints; ++i) {
      if (!is_kept(mask, i)) continue;
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      const Vec3 at =
          bit(mask, i) ? closest_at(tree_.mesh, found_.place[i], point_of(place, i)) : Vec3{kNone, kNone, kNone};
      for (const double x : {at.x, at.y, at.z}) values_.closest.push_back(static_cast<float>(x));
    }
  }

  template <class T>
  void store_distances(const Mask& mask, const Mask& inside, const double* distances) {
    T values[kTilePoints];
    Mask not_outside{};
    int kept = 0;
    for (int i = 0; i < kTilePoints; ++i) {
      const auto distance = static_cast<T>(bit(mask, i) ? distances[i] : options_.cutoff);
      const T value = bit(inside, i) && distance > 0 ? -distance : distance;
      not_outside[static_cast<std::size_t>(i / 64)] |= std::uint64_t{value <= 0} << i % 64;
      if (is_kept(mask, i)) values[kept++] = value;
    }
    if (options_.compact && prepared_.sign != Sign::none) row_.inside.push_back(not_outside);
    const auto* bytes = reinterpret_cast<const std::byte*>(values);
    values_.distances.insert(values_.distances.end(), bytes, bytes + static_cast<std::size_t>(kept) * sizeof(T));
  }

  bool is_kept(const Mask& mask, int i) const { return !options_.compact || bit(mask, i); }

  /// Which points of a tile are inside.
  Mask sides_of(const TilePlace& place, const Mask& mask) const {
    Mask inside{};
    const auto take = [&](int i, bool is_in) {
      inside[static_cast<std::size_t>(i / 64)] |= std::uint64_t{is_in} << i % 64;
    };
    std::vector<int> far;
    std::vector<Vec3> points;
    for (int i = 0; i < kTilePoints; ++i) {
      const Vec3 at = point_of(place, i);
      if (bit(mask, i)) {
        take(i, is_inside(tree_, at, found_.place[i]));
      } else if (!rule_.spreads) {
        far.push_back(i);
        points.push_back(at);
      }
    }
    ask_sides(prepared_.tree, tree_, points, set_, [&](std::size_t n, bool is_in) { take(far[n], is_in); });
    if (rule_.spreads) spread_sides(mask, inside);
    return inside;
  }

  /// The same by winding numbers.
  Mask sides_by_lines(std::int64_t tx) {
    set_bundle();
    Mask inside{};
    for (int i = 0; i < kTilePoints; ++i) {
      const std::int64_t x = tx * kTileSide + i % 8;
      if (x < lattice_.shape[0])
        inside[static_cast<std::size_t>(i / 64)] |= std::uint64_t{bundle_.is_inside(x, i / 8 % 8, i / 64)} << i % 64;
    }
    return inside;
  }

  void set_bundle() {
    if (!bundle_is_set_) bundle_.set(ty_ * kTileSide, tz_ * kTileSide);
    bundle_is_set_ = true;
  }

  /// Sides of the tiles that are not stored.
  void sign_gaps() {
    const auto is_inside = [&](std::int64_t tx) {
      if (corners_ != nullptr) return corners_->is_inside(tx, ty_, tz_);
      bool inside = false;
      ask_sides(prepared_.tree, tree_, {point(tx * kTileSide, ty_ * kTileSide, tz_ * kTileSide)}, set_,
                [&](std::size_t, bool is_in) { inside = is_in; });
      return inside;
    };
    row_.starts_inside = (row_.tiles.empty() || row_.tiles[0] > 0) && is_inside(0);
    row_.after_inside.resize(row_.tiles.size());
    for (std::size_t i = 0; i < row_.tiles.size(); ++i) {
      const std::int64_t after = row_.tiles[i] + 1, next = i + 1 < row_.tiles.size() ? row_.tiles[i + 1] : along_x_;
      row_.after_inside[i] = after < next && is_inside(after);
    }
  }

  const PreparedMesh& prepared_;
  const TreeView tree_;
  const Lattice& lattice_;
  const BandOptions& options_;
  InstructionSet set_;
  const BandRule rule_;
  const TileCorners* const corners_;
  TileSearch search_;
  TileFound found_;
  Row row_;
  Values values_;  ///< of the row
  Pieces pieces_;
  Bundle bundle_;
  bool bundle_is_set_ = false;  ///< to the row
  std::int64_t ty_ = 0, tz_ = 0, along_x_ = 0;
};

/// All rows one after the other. Pieces are given back as soon as they are copied, so that no more than the band and a
/// piece of each thread is in memory.
Band join(std::vector<Row>& rows, const Lattice& lattice, const BandOptions& options, bool is_signed) {
  Band band;
  band.lattice = lattice;
  band.cutoff = options.cutoff;
  band.is_signed = is_signed;
  std::int64_t count = 0;
  for (const Row& row : rows) count += static_cast<std::int64_t>(row.tiles.size());
  const auto shape = band.tile_shape();
  band.tiles = Array(DType::int32, {count, 3});
  band.masks = Array(DType::uint64, {count, kTileSide});
  for (const Row& row : rows) band.active += row.active;
  const Shape points = options.compact ? Shape{band.active} : Shape{count, kTilePoints};
  Shape vectors = points;
  vectors.push_back(3);
  band.distances = Array(options.dtype, points);
  if (options.triangles) band.triangles = Array(DType::int32, points);
  if (options.closest) band.closest = Array(DType::float32, vectors);
  if (options.compact && is_signed) band.inside = Array(DType::uint64, {count, kTileSide});
  band.row_inside = Array(DType::uint8, {shape[2], shape[1]});
  std::fill_n(band.row_inside.data(), band.row_inside.bytes(), std::byte{0});  // there are no rows, if they are empty
  band.after_inside = Array(DType::uint8, {count});
  std::int64_t at = 0;
  std::byte* places[] = {band.distances.data(), band.triangles.data(), band.closest.data()};
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const Row row = std::move(rows[number]);
    const auto copy = [&](Array& to, const auto* from) {
      const std::size_t of_tile = count > 0 ? to.bytes() / static_cast<std::size_t>(count) : 0;
      const std::size_t bytes = row.tiles.size() * of_tile;
      if (bytes > 0) std::memcpy(to.data() + static_cast<std::size_t>(at) * of_tile, from, bytes);
    };
    for (std::size_t i = 0; i < row.tiles.size(); ++i) {
      std::int32_t* tile = band.tiles.as<std::int32_t>().data() + 3 * (at + static_cast<std::int64_t>(i));
      tile[0] = row.tiles[i];
      tile[1] = static_cast<std::int32_t>(static_cast<std::int64_t>(number) % shape[1]);
      tile[2] = static_cast<std::int32_t>(static_cast<std::int64_t>(number) / shape[1]);
    }
    copy(band.masks, row.masks.data());
    copy(band.inside, row.inside.data());
    const std::byte* from = row.values;
    const std::size_t kept = options.compact ? static_cast<std::size_t>(row.active) : row.tiles.size() * kTilePoints;
    const std::size_t sizes[] = {size_of(options.dtype), options.triangles ? sizeof(std::int32_t) : 0,
                                 options.closest ? 3 * sizeof(float) : 0};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t bytes = kept * sizes[k];
      if (bytes > 0) std::memcpy(places[k], from, bytes);
      from += bytes;
      places[k] += bytes;
    }
    if (row.after_inside.empty()) std::memset(band.after_inside.data() + at, 0, row.tiles.size());
    else copy(band.after_inside, row.after_inside.data());
    band.row_inside.as<std::uint8_t>().data()[number] = row.starts_inside;
    at += static_cast<std::int64_t>(row.tiles.size());
  }
  if (options.compact) band.first = points_before(band.masks);
  return band;
}

/// Scratch for all, and for each thread; beside it threads have the triangles of a tile in hand.
struct BandScratch {
  std::size_t of_all = 0, of_thread = 0;

  std::size_t bytes(int threads) const { return of_all + static_cast<std::size_t>(threads) * of_thread; }
  /// Threads that the limit leaves.
  int threads_within(const Execution& execution, int threads) const {
    const std::size_t limit = execution.scratch_limit.value_or(SIZE_MAX);
    while (threads > 1 && bytes(threads) > limit) --threads;
    if (bytes(threads) > limit)
      throw InvalidArgument("the limit of " + std::to_string(limit) + " bytes of scratch is too small; " +
                            std::to_string(bytes(threads)) + " are needed");
    return threads;
  }
};

}  // namespace

Band make_band(const PreparedMesh& prepared, const Lattice& lattice, const BandOptions& options, const Run& run) {
  Band shape_only;
  shape_only.lattice = lattice;
  const auto tiles = shape_only.tile_shape();
  const std::int64_t jobs = tiles[0] > 0 ? tiles[1] * tiles[2] : 0;
  const BandRule rule = band_rule(lattice, options.cutoff, prepared.view());
  const bool asks_corners = rule.asks_corners && jobs > 0;
  const BandScratch scratch{
      static_cast<std::size_t>(jobs) * sizeof(Row) + (asks_corners ? TileCorners::bytes(tiles) : 0),
      sizeof(RowWork) + (prepared.sign == Sign::winding ? Bundle::bytes(lattice) : 0)};
  const int threads = scratch.threads_within(run.execution, run.threads);
  std::vector<Row> rows(static_cast<std::size_t>(jobs));
  std::vector<std::unique_ptr<RowWork>> workers(static_cast<std::size_t>(std::min<std::int64_t>(threads, jobs)));
  Monitor monitor(run.execution, jobs + (asks_corners ? TileCorners::rows(tiles) : 0));
  std::optional<TileCorners> corners;
  if (asks_corners) corners.emplace(prepared, lattice, tiles, run, monitor);
  parallel_jobs(threads, jobs, [&](int worker, std::int64_t job) {
    std::unique_ptr<RowWork>& work = workers[static_cast<std::size_t>(worker)];
    if (!work)
      work = std::make_unique<RowWork>(prepared, lattice, options, rule, corners ? &*corners : nullptr, run.set);
    rows[static_cast<std::size_t>(job)] = work->run(job % tiles[1], job / tiles[1]);
    monitor.advance(1);
  });
  workers.clear();  // and what they hold of pieces
  Band band = join(rows, lattice, options, prepared.sign != Sign::none);
  band.instruction_set = run.set;
  band.threads = threads;
  band.scratch_bytes = scratch.bytes(threads);
  return band;
}

}  // namespace fathom::mesh::cpu
