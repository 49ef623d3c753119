// Bands in files, read back by the libraries that the formats are of; and what is refused.
#include "fathom/io/sparse.h"

#include <gtest/gtest.h>

#include "fathom/mesh/triangle_set.h"
#include "support.h"

#ifdef FATHOM_HAS_NANOVDB
#include <nanovdb/util/IO.h>
#endif
#ifdef FATHOM_HAS_OPENVDB
#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>
#endif

namespace fathom::io::test {
namespace {

using mesh::Band;

/// The band of a box with a smaller one in it, turned over: hollow by the rule even-odd. Inside and outside have tiles that
/// are not stored.
Band band_of_boxes(double cutoff, DType dtype, mesh::Sign sign = mesh::Sign::winding) {
  std::vector<double> vertices;
  std::vector<std::int32_t> triangles;
  constexpr std::int32_t kFaces[12][3] = {{0, 3, 1}, {0, 2, 3}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                          {2, 7, 3}, {2, 6, 7}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  for (const auto& [low, high] : {std::pair{0.0, 60.0}, std::pair{20.0, 22.0}}) {
    const auto first = static_cast<std::int32_t>(vertices.size() / 3);
    for (int c = 0; c < 8; ++c)
      for (int k = 0; k < 3; ++k) vertices.push_back((c >> k & 1) != 0 ? high : low);
    for (const auto& face : kFaces)
      for (const std::int32_t corner : face) triangles.push_back(first + corner);
  }
  mesh::TriangleSetOptions options;
  options.sign = sign;
  options.rule = mesh::WindingRule::even_odd;
  const mesh::Triangles model{HostView<const double>(vertices.data(), {16, 3}), HostView<const std::int32_t>(triangles.data(), {24, 3})};
  const mesh::TriangleSet set(model, options);
  mesh::LatticeOptions around;
  around.spacing = {1.0, 1.0, 1.0};
  around.margin = 11;
  mesh::BandOptions band;
  band.cutoff = cutoff;
  band.dtype = dtype;
  return set.band(lattice_around(set.bounds(), around), band);
}

void save(const std::filesystem::path& path, const SparseField& field) {
  AtomicFile file(path);
  write_sparse(file, field, SparseFormat::automatic);
  file.commit();
}

TEST(Sparse, RefusesWhatDoesNotFit) {
  const TempDir folder;
  const Band band = band_of_boxes(2, DType::float32);
  const auto refused = [&](auto change) {
    SparseField field = sparse_field(band);
    change(field);
    EXPECT_THROW(save(folder / "a.vtu", field), InvalidArgument);
    EXPECT_FALSE(std::filesystem::exists(folder / "a.vtu"));
  };
  refused([](SparseField& field) { field.tiles = field.masks; });
  refused([](SparseField& field) { field.masks = {}; });
  refused([](SparseField& field) { field.after_inside = field.row_inside; });
  refused([](SparseField& field) { field.background = 0; });
  refused([](SparseField& field) { field.shape = {8, 8, 8}; });
  Array tiles(DType::int32, band.tiles.shape());
  std::copy_n(band.tiles.data(), band.tiles.bytes(), tiles.data());
  std::swap_ranges(tiles.as<std::int32_t>().data(), tiles.as<std::int32_t>().data() + 3, tiles.as<std::int32_t>().data() + 3);
  refused([&](SparseField& field) { field.tiles = std::as_const(tiles).view(); });
  EXPECT_THROW(check_sparse("a.txt", SparseFormat::automatic, {1, 1, 1}), InvalidArgument);
  EXPECT_EQ(check_sparse("a.VTU", SparseFormat::automatic, {1, 2, 3}), SparseFormat::vtu);
}

/// Compares a grid that was read with the band: `value(i, j, k)` and `is_active(i, j, k)`.
template <class T, class Value, class Active>
void expect_band(const Band& band, const Value& value, const Active& is_active) {
  Array dense(band.distances.dtype(), band.lattice.array_shape());
  band.to_dense(dense.view());
  Array places(DType::int32, {band.active, 3});
  band.to_list(places.view(), {});
  const auto [nx, ny, nz] = band.lattice.shape;
  std::vector<bool> active(static_cast<std::size_t>(dense.size()));
  for (std::int64_t n = 0; n < band.active; ++n) {
    const auto* const p = places.as<std::int32_t>().data() + 3 * n;
    active[static_cast<std::size_t>((p[2] * ny + p[1]) * nx + p[0])] = true;
  }
  std::int64_t wrong = 0, at = 0, inside = 0;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i, ++at) {
        const T expected = std::as_const(dense).as<T>().data()[at];
        wrong += value(i, j, k) != expected || is_active(i, j, k) != active[static_cast<std::size_t>(at)];
        inside += expected == static_cast<T>(-band.cutoff);
      }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(inside, band.is_signed ? 30000 : -1);  // tiles without a point in the band
  EXPECT_EQ(value(-1000, 5, 5), static_cast<T>(band.cutoff));
  EXPECT_EQ(value(1000, 5, 5), static_cast<T>(band.cutoff));
}

#ifdef FATHOM_HAS_OPENVDB

template <class Grid>
void check_vdb(double cutoff, DType dtype, mesh::Sign sign) {
  const TempDir folder;
  const Band band = band_of_boxes(cutoff, dtype, sign);
  SparseField field = sparse_field(band);
  field.unit = "mm";
  field.origin = {0.25, -3, 7};
  field.spacing = {0.5, 0.5, 0.5};
  save(folder / "a.vdb", field);
  openvdb::initialize();
  openvdb::io::File file((folder / "a.vdb").string());
  file.open();
  EXPECT_TRUE(file.hasGrid("distance"));
  const auto grid = openvdb::gridPtrCast<Grid>(file.readGrid("distance"));
  ASSERT_TRUE(grid);
  using T = typename Grid::ValueType;
  EXPECT_EQ(grid->background(), static_cast<T>(cutoff));
  EXPECT_EQ(grid->getGridClass(), sign == mesh::Sign::none ? openvdb::GRID_UNKNOWN : openvdb::GRID_LEVEL_SET);
  EXPECT_EQ(grid->template metaValue<std::string>("unit"), "mm");
  EXPECT_EQ(grid->indexToWorld(openvdb::Coord(2, 4, 6)), openvdb::Vec3d(1.25, -1, 10));
  EXPECT_EQ(static_cast<std::int64_t>(grid->activeVoxelCount()), band.active);
  const auto tree = grid->getConstAccessor();
  expect_band<T>(
      band, [&](int i, int j, int k) { return tree.getValue({i, j, k}); },
      [&](int i, int j, int k) { return tree.isValueOn({i, j, k}); });
}

TEST(Sparse, Vdb) {
  check_vdb<openvdb::FloatGrid>(3, DType::float32, mesh::Sign::winding);
  check_vdb<openvdb::DoubleGrid>(1.5, DType::float64, mesh::Sign::winding);
  check_vdb<openvdb::FloatGrid>(0.5, DType::float32, mesh::Sign::winding);  // tiles without a point in the band
  check_vdb<openvdb::FloatGrid>(3, DType::float32, mesh::Sign::none);
}

TEST(Sparse, VdbTakesCubesAlone) {
  EXPECT_EQ(message_of<InvalidArgument>([] { check_sparse("a.vdb", SparseFormat::automatic, {1, 1, 2}); }),
            "the voxels of .vdb are cubes; take the same spacing along x, y and z, or write .vtu");
}

#else

TEST(Sparse, WithoutOpenVdb) {
  EXPECT_EQ(message_of<InvalidArgument>([] { check_sparse("a.vdb", SparseFormat::automatic, {1, 1, 1}); }),
            "this build has no OpenVDB, which .vdb takes: install libopenvdb-dev and build again, or write .nvdb or .vtu");
}

#endif

#ifdef FATHOM_HAS_NANOVDB

template <class T>
void check_nvdb(DType dtype) {
  const TempDir folder;
  const Band band = band_of_boxes(3, dtype);
  SparseField field = sparse_field(band);
  field.origin = {0.25, -3, 7};
  field.spacing = {0.5, 0.5, 0.5};
  save(folder / "a.nvdb", field);
  const auto handle = nanovdb::io::readGrid((folder / "a.nvdb").string());
  const auto* const grid = handle.template grid<T>();
  ASSERT_NE(grid, nullptr);
  EXPECT_TRUE(grid->isLevelSet());
  EXPECT_STREQ(grid->gridName(), "distance");
  EXPECT_EQ(grid->tree().background(), T{3});
  EXPECT_EQ(static_cast<std::int64_t>(grid->activeVoxelCount()), band.active);
  EXPECT_EQ(grid->indexToWorld(nanovdb::Vec3d(2, 4, 6)), nanovdb::Vec3d(1.25, -1, 10));
  const auto tree = grid->getAccessor();
  expect_band<T>(
      band, [&](int i, int j, int k) { return tree.getValue({i, j, k}); },
      [&](int i, int j, int k) { return tree.isActive({i, j, k}); });
}

TEST(Sparse, Nvdb) {
  check_nvdb<float>(DType::float32);
  check_nvdb<double>(DType::float64);
}

TEST(Sparse, NvdbFarInside) {
  constexpr std::int64_t kAlong = 50;  // tiles along x, of which those at the ends are stored
  std::vector<std::int32_t> tiles = {0, 0, 0, kAlong - 1, 0, 0};
  std::vector<std::uint64_t> masks(2 * 8, 1);
  std::vector<float> distances(2 * 512, -0.5f);
  const std::uint8_t row_inside = 0, after_inside[] = {1, 0};
  SparseField field;
  field.shape = {8 * kAlong, 8, 8};
  field.background = 2;
  field.tiles = HostView<const std::int32_t>(tiles.data(), {2, 3});
  field.masks = HostView<const std::uint64_t>(masks.data(), {2, 8});
  field.distances = HostView<const float>(distances.data(), {2, 512});
  field.row_inside = HostView<const std::uint8_t>(&row_inside, {1, 1});
  field.after_inside = HostView<const std::uint8_t>(after_inside, {2});
  const TempDir folder;
  save(folder / "a.nvdb", field);
  const auto handle = nanovdb::io::readGrid((folder / "a.nvdb").string());
  const auto* const grid = handle.grid<float>();
  EXPECT_EQ(grid->activeVoxelCount(), 16u);
  EXPECT_EQ(grid->indexBBox(), nanovdb::CoordBBox({0, 0, 0}, {8 * kAlong - 8, 0, 7}));
  const auto tree = grid->getAccessor();
  for (int x = -8; x < 8 * (kAlong + 1); ++x) {
    const bool is_stored = x >= 0 && x < 8 * kAlong && (x < 8 || x >= 8 * (kAlong - 1)), is_beyond = x < 0 || x >= 8 * kAlong;
    EXPECT_EQ(tree.getValue({x, 3, 5}), is_stored ? -0.5f : is_beyond ? 2.0f : -2.0f) << x;
  }
}

#else

TEST(Sparse, WithoutNanoVdb) {
  EXPECT_EQ(message_of<InvalidArgument>([] { check_sparse("a.nvdb", SparseFormat::automatic, {1, 1, 1}); }),
            "this build has no NanoVDB, which .nvdb takes: install libnanovdb-dev and build again, or write .vtu");
}

#endif

}  // namespace
}  // namespace fathom::io::test
