// The module fathom-openvdb: writes VDB, the sparse grids of OpenVDB, through that library. What is not stored becomes
// inactive: outside by the background, inside by tiles of its negative, which then merge into larger ones. Source:
// Museth, VDB: high-resolution sparse volumes with dynamic topology, 2013.
#include "io/openvdb.h"

#include <openvdb/Grid.h>
#include <openvdb/io/Archive.h>
#include <openvdb/tools/Prune.h>
#include <openvdb/tree/Tree.h>

#include <ostream>
#include <streambuf>

#include "io/sparse_tiles.h"

namespace fathom::io {

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
  int_type overflow(int_type c) override {
    return traits_type::eq_int_type(c, traits_type::eof()) ? 0 : std::fputc(c, file_);
  }
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

template <class Grid>
typename Grid::Ptr grid_of(const SparseField& field) {
  using T = typename Grid::ValueType;
  using Leaf = typename Grid::TreeType::LeafNodeType;
  const auto background = static_cast<T>(field.background);
  auto grid = Grid::create(background);
  auto tree = grid->getAccessor();
  visit_tiles<openvdb::Coord>(
      field,
      [&](std::int64_t n, const openvdb::Coord& first) {
        auto* const leaf = new Leaf(first);
        T* const to = leaf->buffer().data();
        visit_leaf<T>(field, n, [&](std::uint32_t place, T distance, bool is_active) {
          to[place] = distance;
          if (is_active) leaf->setValueOn(place);
        });
        tree.addLeaf(leaf);
      },
      [&](const openvdb::Coord& first) { tree.addTile(1, first, -background, false); });
  openvdb::tools::prune(grid->tree());
  return grid;
}

template <class T>
void write(std::ostream& stream, bool is_seekable, const SparseField& field) {
  const auto grid = grid_of<openvdb::Grid<typename openvdb::tree::Tree4<T, 5, 4, 3>::Type>>(field);
  const auto transform = openvdb::math::Transform::createLinearTransform(field.spacing[0]);
  transform->postTranslate({field.origin[0], field.origin[1], field.origin[2]});
  grid->setTransform(transform);
  grid->setName("distance");
  grid->setGridClass(field.is_signed ? openvdb::GRID_LEVEL_SET : openvdb::GRID_UNKNOWN);
  if (!field.unit.empty()) grid->insertMeta("unit", openvdb::StringMetadata(field.unit));
  Archive().write(stream, openvdb::GridCPtrVec{grid}, is_seekable);
}

}  // namespace

}  // namespace fathom::io

void fathom_write_vdb(const fathom::io::SparseField& field, std::FILE* file, std::string& fault) {
  using namespace fathom;
  io::FileBuffer buffer(file);
  std::ostream stream(&buffer);
  try {
    const bool is_seekable = buffer.is_seekable();
    field.distances.dtype() == DType::float64 ? io::write<double>(stream, is_seekable, field)
                                              : io::write<float>(stream, is_seekable, field);
    if (!stream) fault = "cannot write it";
  } catch (const openvdb::IoError& error) {
    fault = error.what();
  }
}
