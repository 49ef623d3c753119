// VDB, OpenVDB's sparse grids, and NVDB, the same laid out for GPUs by NanoVDB: written alone, through those libraries. A
// tile of 8 × 8 × 8 is a leaf of their trees. What is not stored becomes inactive: outside by the background, inside by tiles
// of its negative, which then merge into larger ones. Source: Museth, VDB: high-resolution sparse volumes with dynamic
// topology, 2013; Museth, NanoVDB, 2021.
#include <algorithm>
#include <ostream>
#include <streambuf>
#include <string>

#include "fathom/core/error.h"
#include "io/sparse_formats.h"

#ifdef FATHOM_HAS_OPENVDB
#include <nanovdb/util/IO.h>
#include <nanovdb/util/OpenToNanoVDB.h>
#include <openvdb/io/Archive.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/Prune.h>
#endif

namespace fathom::io::vdb {

#ifdef FATHOM_HAS_OPENVDB

namespace {

/// A C stream as one of C++'s.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(std::FILE* file) : file_(file) {}
  bool is_seekable() const { return ftello(file_) >= 0; }

 protected:
  std::streamsize xsputn(const char* from, std::streamsize size) override {
    return static_cast<std::streamsize>(std::fwrite(from, 1, static_cast<std::size_t>(size), file_));
  }
  int_type overflow(int_type c) override { return traits_type::eq_int_type(c, traits_type::eof()) ? 0 : std::fputc(c, file_); }
  int sync() override { return std::fflush(file_); }
  pos_type seekoff(off_type by, std::ios_base::seekdir from, std::ios_base::openmode) override {
    const int whence = from == std::ios_base::beg ? SEEK_SET : from == std::ios_base::cur ? SEEK_CUR : SEEK_END;
    return fseeko(file_, by, whence) == 0 ? pos_type(ftello(file_)) : pos_type(off_type(-1));
  }
  pos_type seekpos(pos_type at, std::ios_base::openmode mode) override { return seekoff(at, std::ios_base::beg, mode); }

 private:
  std::FILE* file_;
};

/// Writes to any stream as openvdb::io::File does to a name: with the offsets that let readers skip grids.
struct Archive : openvdb::io::Archive {
  using openvdb::io::Archive::write;
};

openvdb::Coord first_of_tile(std::int64_t x, std::int64_t y, std::int64_t z) {
  return {static_cast<int>(x * kTileSide), static_cast<int>(y * kTileSide), static_cast<int>(z * kTileSide)};
}

/// Tile n as a leaf, in which z runs fastest.
template <class Tree>
typename Tree::LeafNodeType* leaf_of(const SparseField& field, std::int64_t n, const openvdb::Coord& first) {
  using T = typename Tree::ValueType;
  auto* const leaf = new typename Tree::LeafNodeType(first);
  T* const to = leaf->buffer().data();
  const T* const from = elements<T>(field.distances) + n * kTilePoints;
  const auto* const masks = elements<std::uint64_t>(field.masks) + n * kTileSide;
  for (std::int64_t at = 0; at < kTilePoints; ++at) {
    const std::int64_t x = at % kTileSide, y = at / kTileSide % kTileSide, z = at / (kTileSide * kTileSide);
    const auto place = static_cast<openvdb::Index>((x * kTileSide + y) * kTileSide + z);
    to[place] = from[at];
    if (masks[z] >> (at % (kTileSide * kTileSide)) & 1) leaf->setValueOn(place);
  }
  return leaf;
}

template <class Grid>
typename Grid::Ptr grid_of(const SparseField& field) {
  using T = typename Grid::ValueType;
  const auto background = static_cast<T>(field.background);
  auto grid = Grid::create(background);
  auto tree = grid->getAccessor();
  const auto* const tiles = elements<std::int32_t>(field.tiles);
  const auto *const row_inside = elements<std::uint8_t>(field.row_inside),
             *const after_inside = elements<std::uint8_t>(field.after_inside);
  const std::int64_t along_x = (field.shape[0] + kTileSide - 1) / kTileSide, rows = field.row_inside.shape()[1],
                     count = field.tiles.shape()[0];
  std::int64_t n = 0;
  for (std::int64_t row = 0; row < element_count(field.row_inside.shape()); ++row) {
    const std::int64_t y = row % rows, z = row / rows;
    bool is_inside = row_inside[row] != 0;
    for (std::int64_t x = 0; x < along_x; ++x) {
      const bool is_in_row = n < count && tiles[3 * n + 1] == y && tiles[3 * n + 2] == z;
      const std::int64_t next = is_in_row ? tiles[3 * n] : along_x;
      for (; is_inside && x < next; ++x) tree.addTile(1, first_of_tile(x, y, z), -background, false);
      x = next;
      if (!is_in_row) break;
      tree.addLeaf(leaf_of<typename Grid::TreeType>(field, n, first_of_tile(x, y, z)));
      is_inside = after_inside[n++] != 0;
    }
  }
  openvdb::tools::prune(grid->tree());
  return grid;
}

void write_nano(std::ostream& stream, const nanovdb::GridHandle<>& grid) {
  nanovdb::io::Segment head(nanovdb::io::Codec::NONE);
  head.add(grid);
  head.meta[0].fileSize = grid.size();
  head.write(stream);
  stream.write(reinterpret_cast<const char*>(grid.data()), static_cast<std::streamsize>(grid.size()));
}

template <class Grid>
void write_grid(std::ostream& stream, bool is_seekable, const SparseField& field, SparseFormat format) {
  const auto grid = grid_of<Grid>(field);
  const auto transform = openvdb::math::Transform::createLinearTransform(field.spacing[0]);
  transform->postTranslate({field.origin[0], field.origin[1], field.origin[2]});
  grid->setTransform(transform);
  grid->setName("distance");
  grid->setGridClass(field.is_signed ? openvdb::GRID_LEVEL_SET : openvdb::GRID_UNKNOWN);
  if (!field.unit.empty()) grid->insertMeta("unit", openvdb::StringMetadata(field.unit));
  if (format == SparseFormat::nvdb) write_nano(stream, nanovdb::openToNanoVDB(*grid));
  else Archive().write(stream, openvdb::GridCPtrVec{grid}, is_seekable);
}

}  // namespace

void check_build(SparseFormat) {}

void write(const AtomicFile& file, const SparseField& field, SparseFormat format) {
  std::string fault = "cannot write it";
  FileBuffer buffer(file.stream());
  std::ostream stream(&buffer);
  try {
    openvdb::initialize();
    const bool is_double = field.distances.dtype() == DType::float64, is_seekable = buffer.is_seekable();
    is_double ? write_grid<openvdb::DoubleGrid>(stream, is_seekable, field, format)
              : write_grid<openvdb::FloatGrid>(stream, is_seekable, field, format);
  } catch (const openvdb::IoError& error) {
    stream.setstate(std::ios::badbit);
    fault = error.what();
  }
  if (!stream) throw IoError(file.target().string() + ": " + fault);
}

#else

void check_build(SparseFormat format) {
  throw InvalidArgument("this build has no OpenVDB, which ." + std::string(name_of(format)) +
                        " takes: install libopenvdb-dev and libnanovdb-dev and build again, or write .vtu");
}

void write(const AtomicFile&, const SparseField&, SparseFormat format) { check_build(format); }

#endif

}  // namespace fathom::io::vdb
