// NVDB, the sparse grids of OpenVDB laid out for GPUs: written alone, by the headers of NanoVDB. What is not stored
// becomes inactive: outside by the background, inside by its negative. NanoVDB's builder takes single values alone, of
// which it makes leaves, so tiles inside are set when it is done: in the nodes of 128 × 128 × 128 points that leaves
// have made, and where there are none one leaf makes one. Source: Museth, NanoVDB, 2021.
#include "fathom/core/error.h"
#include "io/sparse_formats.h"

#ifdef FATHOM_HAS_NANOVDB
#include <nanovdb/util/GridBuilder.h>
#include <nanovdb/util/IO.h>

#include <set>
#include <sstream>
#endif

namespace fathom::io::nvdb {

#ifdef FATHOM_HAS_NANOVDB

namespace {

using nanovdb::Coord;

template <class T>
nanovdb::GridHandle<> grid_of(const SparseField& field) {
  using Node = nanovdb::NanoLower<T>;
  const auto background = static_cast<T>(field.background);
  nanovdb::GridBuilder<T> builder(background,
                                  field.is_signed ? nanovdb::GridClass::LevelSet : nanovdb::GridClass::Unknown);
  builder.setChecksum(nanovdb::ChecksumMode::Disable);  // until the tiles inside are set
  auto tree = builder.getAccessor();
  std::set<Coord> nodes;
  const auto node_of = [](const Coord& point) { return point & ~static_cast<int>(Node::MASK); };
  visit_tiles<Coord>(
      field,
      [&](std::int64_t n, const Coord& first) {
        auto* const leaf = tree.setValue(first, background);
        visit_leaf<T>(field, n, [&](std::uint32_t place, T distance, bool is_active) {
          leaf->mValues[place] = distance;
          leaf->mValueMask.set(place, is_active);
        });
        nodes.insert(node_of(first));
      },
      [&](const Coord& first) {
        if (!nodes.insert(node_of(first)).second) return;
        auto* const leaf = tree.setValue(first, -background);
        std::fill_n(leaf->mValues, kTilePoints, -background);
        leaf->mValueMask.setOff();
      });
  auto handle = builder.getHandle(field.spacing[0], {field.origin[0], field.origin[1], field.origin[2]}, "distance");
  auto* const grid = handle.template grid<T>();
  const auto made = grid->getAccessor();
  visit_tiles<Coord>(
      field, [](std::int64_t, const Coord&) {},
      [&](const Coord& first) {
        made.getValue(first);
        auto* const node = const_cast<Node*>(made.template getNode<Node>());
        const std::uint32_t place = Node::CoordToOffset(first);
        if (!node->data()->mChildMask.isOn(place)) node->data()->setValue(place, -background);
      });
  nanovdb::updateChecksum(*grid);
  return handle;
}

}  // namespace

void check_build() {}

void write(ByteSink& sink, const SparseField& field) {
  const auto grid = field.distances.dtype() == DType::float64 ? grid_of<double>(field) : grid_of<float>(field);
  nanovdb::io::Segment head(nanovdb::io::Codec::NONE);
  head.add(grid);
  head.meta[0].fileSize = grid.size();
  std::ostringstream bytes;
  head.write(bytes);
  sink.write(bytes.view().data(), bytes.view().size());
  sink.write(grid.data(), grid.size());
}

#else

void check_build() {
  throw InvalidArgument(
      "this build has no NanoVDB, which .nvdb takes: install libnanovdb-dev and build again, or write .vtu");
}

void write(ByteSink&, const SparseField&) { check_build(); }

#endif

}  // namespace fathom::io::nvdb
