// Rasters in parts: what is read equals the whole, what is written row after row equals what is written at once, also
// after a crash; sizes that no memory holds.
#include "fathom/io/raster.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support.h"

namespace fathom::io::test {
namespace {

Array read_part(const RasterSource& source, const Rectangle& part) {
  Array array(source.dtype(), part.shape());
  source.read(part, array.view());
  return array;
}

/// A part of an array of two axes, as a view.
AnyConstView part_of(const Array& whole, const Rectangle& part) {
  const std::int64_t first = part.y0 * whole.shape()[1] + part.x0;
  return {whole.data() + static_cast<std::size_t>(first) * size_of(whole.dtype()), whole.dtype(), part.shape(),
          dense_strides(whole.shape())};
}

::testing::AssertionResult same_part(const Array& whole, const RasterSource& source, const Rectangle& part) {
  const Array read = read_part(source, part);
  const std::size_t bytes = static_cast<std::size_t>(part.width()) * size_of(whole.dtype());
  const AnyConstView expected = part_of(whole, part);
  for (std::int64_t y = 0; bytes > 0 && y < part.height(); ++y)
    if (std::memcmp(read.data() + static_cast<std::size_t>(y) * bytes,
                    expected.data() + static_cast<std::size_t>(y * whole.shape()[1]) * size_of(whole.dtype()),
                    bytes) != 0)
      return ::testing::AssertionFailure() << "row " << part.y0 + y << " of columns " << part.x0 << " to " << part.x1;
  return ::testing::AssertionSuccess();
}

Rectangle random_part(std::mt19937& random, const Shape& shape) {
  const auto between = [&](std::int64_t extent) {
    const auto a = static_cast<std::int64_t>(random() % static_cast<unsigned>(extent + 1));
    const auto b = static_cast<std::int64_t>(random() % static_cast<unsigned>(extent + 1));
    return std::pair(std::min(a, b), std::max(a, b));
  };
  const std::pair<std::int64_t, std::int64_t> y = between(shape[0]), x = between(shape[1]);
  return {y.first, x.first, y.second, x.second};
}

void expect_parts(const fs::path& path, int count = 20) {
  const Array whole = read(path).data;
  const auto source = open_raster(path).source;
  ASSERT_EQ(source->dtype(), whole.dtype()) << path;
  ASSERT_EQ(whole.shape().rank(), 2) << path;
  ASSERT_EQ(source->height(), whole.shape()[0]) << path;
  ASSERT_EQ(source->width(), whole.shape()[1]) << path;
  std::mt19937 random(1);
  for (int k = 0; k < count; ++k) EXPECT_TRUE(same_part(whole, *source, random_part(random, whole.shape()))) << path;
}

/// Writes rows `from` to the last, some steps at a time.
void write_rows(RasterSink& sink, const Array& array, std::int64_t from, std::int64_t to, bool finish = true) {
  std::mt19937 random(2);
  for (std::int64_t y = from; y < to;) {
    const std::int64_t rows = std::min<std::int64_t>(to - y, sink.row_step() * (1 + random() % 3));
    sink.write(part_of(array, {y, 0, y + rows, array.shape()[1]}));
    y += rows;
  }
  if (finish) sink.finish();
}

void write_in_parts(const fs::path& path, const Array& array, const RasterWriteOptions& options) {
  AtomicFile file(path);
  const auto sink = create_raster(file, array.dtype(), array.shape()[0], array.shape()[1], options);
  write_rows(*sink, array, 0, array.shape()[0]);
  file.commit();
}

constexpr DType kTypes[] = {DType::boolean, DType::uint8, DType::uint16, DType::int32, DType::float32, DType::float64};
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{1, 1}, {1, 13}, {17, 1}, {16, 32}, {45, 47}, {131, 300}};
  return all;
}

TEST(Raster, PartsOfFilesWrittenAtOnce) {
  const TempDir dir;
  for (DType dtype : kTypes)
    for (const Shape& shape : shapes()) {
      const Array array = make_array(dtype, shape);
      for (const bool compress : {false, true}) {
        write(dir / "a.tif", array.view(), {}, {Format::automatic, compress});
        expect_parts(dir / "a.tif");
      }
      write(dir / "a.npy", array.view());
      expect_parts(dir / "a.npy");
    }
  write(dir / "a.png", make_array(DType::uint16, {33, 44}).view());
  expect_parts(dir / "a.png");
}

TEST(Raster, WrittenInParts) {
  const TempDir dir;
  const auto expect_written = [&](const fs::path& path, const Array& array, const RasterWriteOptions& options) {
    write_in_parts(path, array, options);
    EXPECT_TRUE(same(array.view(), read(path).data.view())) << path << to_string(array.shape());
    expect_parts(path, 8);
  };
  for (DType dtype : kTypes)
    for (const Shape& shape : shapes()) {
      const Array array = make_array(dtype, shape);
      expect_written(dir / "a.npy", array, {});
      EXPECT_EQ(read_bytes(dir / "a.npy"), (write(dir / "b.npy", array.view()), read_bytes(dir / "b.npy")));
      for (const bool compress : {false, true})
        expect_written(dir / "a.tif", array, {.compress = compress, .tile = 16});
      for (const bool packed : {false, dtype == DType::boolean}) {
        write_in_parts(dir / "a.raw", array, {.raw = true, .packed = packed});
        const auto source = open_raw_raster(dir / "a.raw", {dtype, shape, false}, packed);
        EXPECT_TRUE(same_part(array, *source, {0, 0, shape[0], shape[1]}));
        EXPECT_TRUE(same_part(array, *source, {shape[0] / 2, shape[1] / 3, shape[0], shape[1]}));
      }
    }
  expect_written(dir / "large.tif", make_array(DType::uint8, {300, 700}), {});
}

TEST(Raster, MeaningIsKept) {
  const TempDir dir;
  Meaning meaning({1.5, 0.25});
  for (Axis& axis : meaning.axes) axis.unit = "µm";
  meaning.no_data = "255";
  const Array array = make_array(DType::uint8, {40, 50});
  write_in_parts(dir / "a.tif", array, {.tile = 32, .meaning = meaning});
  write(dir / "b.tif", array.view(), meaning);
  for (const char* name : {"a.tif", "b.tif"}) {
    const RasterFile file = open_raster(dir / name);
    EXPECT_EQ(file.meaning.spacing(), meaning.spacing()) << name;
    EXPECT_EQ(file.meaning.unit(), "µm") << name;
    EXPECT_EQ(file.meaning.no_data, "255") << name;
    EXPECT_TRUE(file.warnings.empty());
  }
}

TEST(Raster, ManyThreads) {
  const TempDir dir;
  const Array array = make_array(DType::uint16, {400, 500});
  write_in_parts(dir / "a.tif", array, {.compress = true, .tile = 64});
  const auto source = open_raster(dir / "a.tif").source;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int k = 0; k < 40; ++k) wrong += !same_part(array, *source, random_part(random, array.shape()));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Raster, FirstPageAndChannel) {
  const TempDir dir;
  const Array pages = make_array(DType::uint8, {3, 20, 30});
  write(dir / "a.tif", pages.view());
  const RasterFile file = open_raster(dir / "a.tif");
  const Array first = read_part(*file.source, {0, 0, 20, 30});
  EXPECT_EQ(std::memcmp(first.data(), pages.data(), 600), 0);
  ASSERT_EQ(file.warnings.size(), 1u);
  EXPECT_EQ(file.warnings[0], "holds 3 pages, of which the first is read");
  EXPECT_EQ(file.meaning.axes.size(), 2u);
}

/// A sparse file of that size, or nothing where the disk cannot have it.
bool lengthen(const fs::path& path, std::uint64_t size) {
  return truncate(path.c_str(), static_cast<off_t>(size)) == 0;
}

void poke(const fs::path& path, std::uint64_t offset, std::uint8_t value) {
  const int file = open(path.c_str(), O_WRONLY);
  EXPECT_EQ(pwrite(file, &value, 1, static_cast<off_t>(offset)), 1);
  close(file);
}

TEST(Raster, LargerThanAnyMemory) {
  const TempDir dir;
  constexpr std::int64_t kSide = 2000000, kTile = 8192, kTiles = (kSide + kTile - 1) / kTile;
  constexpr std::int64_t y = 1999990, x = 1999993;
  for (const char* name : {"a.npy", "a.tif", "a.raw"}) {
    const fs::path path = dir / name;
    const bool tiff = path.extension() == ".tif", raw = path.extension() == ".raw";
    resume_raster(path, DType::uint8, kSide, kSide, {.raw = raw, .tile = kTile}, 0);
    const std::uint64_t start = fs::file_size(path);
    const std::uint64_t pixels = tiff ? std::uint64_t{kTiles} * kTiles * kTile * kTile : std::uint64_t{kSide} * kSide;
    if (!lengthen(path, start + pixels)) GTEST_SKIP() << "the disk takes no files of 4 TB";
    const std::uint64_t at = tiff ? std::uint64_t{y / kTile * kTiles + x / kTile} * kTile * kTile +
                                        std::uint64_t{y % kTile} * kTile + x % kTile
                                  : std::uint64_t{y} * kSide + x;
    poke(path, start + at, 77);
    const auto source = raw ? open_raw_raster(path, {DType::uint8, {kSide, kSide}, false}) : open_raster(path).source;
    EXPECT_LT(source->kept_bytes() + source->bytes_of_read(), std::size_t{1} << 20);
    const Array corner = read_part(*source, {y - 1, x - 1, kSide, kSide});
    for (std::int64_t k = 0; k < corner.size(); ++k)
      EXPECT_EQ(std::to_integer<int>(corner.data()[k]), k == corner.shape()[1] + 1 ? 77 : 0) << name;
  }
}

TEST(Raster, PlacesOfManyTilesAreNotKept) {
  const TempDir dir;
  constexpr std::int64_t kWidth = 1000000, kHeight = 16 * 1000;  // 62,500,000 tiles, of which one row is written
  const Array rows = make_array(DType::uint8, {16, kWidth});
  const RasterWriteOptions options{.compress = true, .tile = 16};
  const auto sink = resume_raster(dir / "a.tif", DType::uint8, kHeight, kWidth, options, 0);
  sink->write(rows.view());
  sink->sync();
  const auto source = open_raster(dir / "a.tif", {.memory_limit = std::size_t{8} << 20}).source;
  EXPECT_TRUE(same_part(rows, *source, {3, 999900, 16, kWidth}));
  const std::string missing = message_of<IoError>([&] { read_part(*source, {16, 5, 17, 6}); });
  EXPECT_NE(missing.find("a.tif lacks the elements in the tile at row 16, column 0"), std::string::npos) << missing;
}

TEST(Raster, GoesOnAfterACrash) {
  const TempDir dir;
  const Array array = make_array(DType::uint16, {83, 50});
  for (const RasterWriteOptions& options :
       {RasterWriteOptions{.format = Format::npy}, RasterWriteOptions{.raw = true},
        RasterWriteOptions{.format = Format::tiff, .tile = 16},
        RasterWriteOptions{.format = Format::tiff, .compress = true, .tile = 16},
        RasterWriteOptions{.format = Format::tiff, .compress = true, .tile = 128}}) {
    const auto open_at = [&](const fs::path& path, std::int64_t rows) {
      return resume_raster(path, array.dtype(), 83, 50, options, rows);
    };
    write_rows(*open_at(dir / "whole", 0), array, 0, 83);
    const std::int64_t step = open_at(dir / "part", 0)->row_step();
    for (std::int64_t rows = 0; rows <= 83; rows = rows < 83 && rows + step > 83 ? 83 : rows + step) {
      const std::int64_t beyond = std::min<std::int64_t>(83, rows + 2 * step);  // lost, since nobody noted it
      write_rows(*open_at(dir / "part", 0), array, 0, beyond, false);
      write_rows(*open_at(dir / "part", rows), array, rows, 83);
      EXPECT_EQ(read_bytes(dir / "part"), read_bytes(dir / "whole")) << rows << " rows";
    }
    const std::string other =
        message_of<IoError>([&] { resume_raster(dir / "part", array.dtype(), 99, 50, options, 99); });
    expect_good_message(other, (dir / "part").string());
  }
}

TEST(Raster, ThroughPipes) {
  const TempDir dir;
  const Array array = make_array(DType::uint8, {90, 70});
  for (const RasterWriteOptions& options : {RasterWriteOptions{}, RasterWriteOptions{.raw = true},
                                            RasterWriteOptions{.format = Format::tiff, .tile = 16}}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::vector<std::byte> got;
    std::thread reader([&] {
      std::byte chunk[4096];
      for (ssize_t count; (count = ::read(ends[0], chunk, sizeof chunk)) > 0;)
        got.insert(got.end(), chunk, chunk + count);
    });
    write_in_parts("/dev/fd/" + std::to_string(ends[1]), array, options);
    close(ends[1]);
    reader.join();
    close(ends[0]);
    write_in_parts(dir / (options.format == Format::tiff ? "a.tif" : "a.npy"), array, options);
    EXPECT_EQ(got, read_bytes(dir / (options.format == Format::tiff ? "a.tif" : "a.npy")));
  }
}

TEST(Raster, FullDisk) {
  AtomicFile file("/dev/full");
  const Array array = make_array(DType::uint8, {300, 300});
  const auto sink = create_raster(file, DType::uint8, 300, 300);
  EXPECT_NE(message_of<IoError>([&] { write_rows(*sink, array, 0, 300); }).find("/dev/full cannot be written"),
            std::string::npos);
}

TEST(Raster, FilesThatChange) {
  const TempDir dir;
  const Array array = make_array(DType::uint8, {64, 64});
  for (const char* name : {"a.npy", "a.tif"}) {
    write(dir / name, array.view());
    const RasterFile file = open_raster(dir / name);
    const std::string before = file.source->fingerprint();
    EXPECT_EQ(before, open_raster(dir / name).source->fingerprint());
    fs::resize_file(dir / name, fs::file_size(dir / name) - 1);
    const std::string message = message_of<IoError>([&] { read_part(*file.source, {0, 0, 1, 1}); });
    EXPECT_NE(message.find("was changed while it was read"), std::string::npos) << message;
    const std::string truncated = message_of<IoError>([&] {
      read_part(*open_raster(dir / name).source, {0, 0, 64, 64});
    });
    EXPECT_NE(truncated.find("is truncated"), std::string::npos) << truncated;
  }
}

TEST(Raster, Refused) {
  const TempDir dir;
  write(dir / "a.npy", make_array(DType::uint8, {2, 3, 4}).view());
  EXPECT_NE(message_of<IoError>([&] { open_raster(dir / "a.npy"); }).find("a raster has two axes"), std::string::npos);
  expect_good_message(message_of<IoError>([&] { open_raster(dir / "none.tif"); }), (dir / "none.tif").string());
  write(dir / "strip.tif", Array(make_array(DType::uint8, {900, 900})).view(), {}, {Format::automatic, true});
  EXPECT_NE(
      message_of<IoError>([&] { open_raster(dir / "strip.tif", {.memory_limit = 1 << 20}); }).find("save it in tiles"),
      std::string::npos);
  write_bytes(dir / "a.raw", std::vector<std::byte>(11));
  EXPECT_NE(message_of<IoError>([&] {
              open_raw_raster(dir / "a.raw", {DType::uint8, {3, 4}, false});
            }).find("holds 11 bytes"),
            std::string::npos);
  const auto refuse = [&](const char* name, DType dtype, const RasterWriteOptions& options) {
    const std::string message =
        message_of<InvalidArgument>([&] { resume_raster(dir / name, dtype, 32, 32, options, 0); });
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_FALSE(fs::exists(dir / name)) << message;
  };
  refuse("b.png", DType::uint8, {});
  refuse("b.tif", DType::uint8, {.tile = 20});
  refuse("b.tif", DType::int64, {});
  refuse("b.npy", DType::boolean, {.packed = true});
  refuse("b.raw", DType::uint8, {.raw = true, .packed = true});
  refuse("b.raw", DType::uint8, {.raw = true, .compress = true});
  const auto sink = resume_raster(dir / "c.tif", DType::uint8, 40, 32, {.tile = 32}, 0);
  const Array rows = make_array(DType::uint8, {33, 32});
  EXPECT_EQ(message_of<InvalidArgument>([&] { sink->write(rows.view()); }),
            "the next rows must be a multiple of 32 or the last 40, not 33");
  EXPECT_NE(message_of<InvalidArgument>([&] { sink->finish(); }).find("has 0 of 40 rows"), std::string::npos);
}

}  // namespace
}  // namespace fathom::io::test
