// What is written is read back: every format, every type and many shapes, dense and strided.
#include "support.h"

#include <unistd.h>

#include <thread>

namespace fathom::io::test {
namespace {

constexpr DType kAllTypes[] = {DType::boolean, DType::uint8,  DType::int8,  DType::uint16,  DType::int16, DType::uint32,
                               DType::int32,   DType::uint64, DType::int64, DType::float32, DType::float64};

struct Target {
  const char* ending;
  int least_rank, most_rank;
};

/// NIfTI drops what are trailing axes of one element in its order.
Shape stored_shape(const std::string& ending, const Shape& shape) {
  if (!ending.starts_with(".nii")) return shape;
  int first = 0;
  while (first + 1 < shape.rank() && shape[first] == 1) ++first;
  return Shape(std::span(shape.begin() + first, shape.end()));
}

/// What a format makes of a type: some have no bool; PNG scales all but three.
DType stored_type(const std::string& ending, DType dtype) {
  const bool has_bool = ending == ".npy" || ending == ".tif" || ending == ".png";
  return dtype == DType::boolean && !has_bool ? DType::uint8 : dtype;
}

bool holds_exactly(const std::string& ending, DType dtype) {
  if (ending == ".png") return dtype == DType::boolean || dtype == DType::uint8 || dtype == DType::uint16;
  return ending != ".tif" || (dtype != DType::uint64 && dtype != DType::int64);
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{1},       {7},          {1, 1},       {1, 13},      {13, 1},
                                         {31, 33},  {64, 65},     {3, 5, 7},    {2, 1, 9},    {5, 300, 401},
                                         {2, 3, 4, 5}, {2, 2, 2, 2, 3}, {2, 1, 2, 3, 2, 2}, {2, 2, 1, 2, 2, 2, 3}};
  return all;
}

class RoundTrip : public ::testing::TestWithParam<Target> {};

TEST_P(RoundTrip, EveryTypeAndShape) {
  const Target target = GetParam();
  const TempDir dir;
  const fs::path path = dir / (std::string("file") + target.ending);
  for (DType dtype : kAllTypes) {
    if (!holds_exactly(target.ending, dtype)) continue;
    for (const Shape& shape : shapes()) {
      if (shape.rank() < target.least_rank || shape.rank() > target.most_rank) continue;
      const Array array = make_array(dtype, shape);
      write(path, array.view());
      const Image image = read(path);
      const Shape stored = stored_shape(target.ending, shape);
      const AnyConstView expected(array.data(), stored_type(target.ending, dtype), stored);
      EXPECT_TRUE(same(expected, image.data.view()))
          << target.ending << " " << name_of(dtype) << " " << to_string(shape);
      const ImageInfo info = probe(path);
      EXPECT_TRUE(info.shape == stored && info.dtype == image.data.dtype());
      EXPECT_EQ(info.meaning.spacing(), image.meaning.spacing());
    }
  }
  EXPECT_EQ(dir.count_files(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip,
                         ::testing::Values(Target{".npy", 0, 9}, Target{".png", 2, 2}, Target{".tif", 2, 3},
                                           Target{".nii", 1, 7}, Target{".nii.gz", 1, 7}, Target{".nrrd", 1, 8},
                                           Target{".mha", 1, 8}));

TEST(Npy, HoldsScalarsAndEmptyArrays) {
  const TempDir dir;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{0, 5}, Shape{3, 0, 2}, Shape{1, 2, 1, 2, 1, 2, 1, 2, 1}}) {
    const Array array = make_array(DType::float32, shape);
    write(dir / "a.npy", array.view());
    EXPECT_TRUE(same(array.view(), read(dir / "a.npy").data.view())) << to_string(shape);
  }
}

TEST(Write, FollowsStrides) {
  const TempDir dir;
  const Array padded = make_array(DType::uint16, {4, 6, 10});
  const auto* data = padded.data();
  const AnyConstView part(data, DType::uint16, {3, 5, 7}, {60, 10, 1});
  const AnyConstView reversed(data + 2 * 50, DType::uint16, {6, 10}, {-10, 1});
  for (const char* name : {"a.npy", "a.tif", "a.nii", "a.nii.gz", "a.nrrd", "a.mha"}) {
    write(dir / name, part);
    const Image image = read(dir / name);
    const auto* values = reinterpret_cast<const std::uint16_t*>(image.data.data());
    const auto* source = reinterpret_cast<const std::uint16_t*>(data);
    for (int z = 0; z < 3; ++z)
      for (int y = 0; y < 5; ++y)
        EXPECT_EQ(std::memcmp(values + (z * 5 + y) * 7, source + z * 60 + y * 10, 14), 0) << name;
  }
  for (const char* name : {"b.npy", "b.tif", "b.nii", "b.png"}) {
    write(dir / name, reversed);
    const Image image = read(dir / name);
    for (int y = 0; y < 6; ++y)
      EXPECT_EQ(std::memcmp(image.data.data() + y * 20, data + (5 - y) * 20, 20), 0) << name;
  }
}

TEST(Write, OntoItsOwnInput) {
  const TempDir dir;
  const Array array = make_array(DType::float32, {50, 60});
  write(dir / "a.npy", array.view());
  const Image image = read(dir / "a.npy");
  write(dir / "a.npy", image.data.view());
  EXPECT_TRUE(same(array.view(), read(dir / "a.npy").data.view()));
}

TEST(Png, ScalesToSixteenBits) {
  const TempDir dir;
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {-2, 0, 1, 2, inf, -inf, std::numeric_limits<float>::quiet_NaN(), -1};
  const WriteReport report = write(dir / "a.png", HostView<const float>(values, {2, 4}));
  EXPECT_TRUE(report.scaled);
  EXPECT_EQ(report.format, Format::png);
  EXPECT_EQ(report.offset, -2);
  EXPECT_EQ(report.scale, 65535 / 4.0);
  const Image image = read(dir / "a.png");
  ASSERT_EQ(image.data.dtype(), DType::uint16);
  const auto* stored = reinterpret_cast<const std::uint16_t*>(image.data.data());
  const std::uint16_t expected[] = {0, 32768, 49151, 65535, 65535, 0, 0, 16384};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(stored[i], expected[i]) << i;
}

TEST(Png, ScalesWhatHasNoRange) {
  const TempDir dir;
  const double most = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> cases = {{5, 5}, {inf, -inf}, {-most, most}, {0, tiny}, {inf, inf}};
  for (const auto& values : cases) {
    const WriteReport report = write(dir / "a.png", HostView<const double>(values.data(), {1, 2}));
    EXPECT_TRUE(std::isfinite(report.scale) && report.scale > 0 && std::isfinite(report.offset));
    const Image image = read(dir / "a.png");
    const auto* stored = reinterpret_cast<const std::uint16_t*>(image.data.data());
    EXPECT_EQ(stored[0], values[0] == inf ? 65535 : 0) << values[0];
    EXPECT_EQ(stored[1], values[1] == inf || values[1] == most ? 65535 : 0) << values[1];
  }
}

TEST(Png, ScalesIntegers) {
  const TempDir dir;
  for (DType dtype : {DType::int8, DType::int16, DType::uint32, DType::int32, DType::uint64, DType::int64}) {
    const Array array = make_array(dtype, {9, 11});
    const WriteReport report = write(dir / "a.png", array.view());
    EXPECT_TRUE(report.scaled);
    const Image image = read(dir / "a.png");
    const auto* stored = reinterpret_cast<const std::uint16_t*>(image.data.data());
    visit_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto* values = reinterpret_cast<const T*>(array.data());
      for (int i = 0; i < 99; ++i)
        EXPECT_EQ(stored[i], std::round((static_cast<double>(values[i]) - report.offset) * report.scale));
    });
  }
}

TEST(Nifti, KeepsSpacingAndOrientation) {
  const TempDir dir;
  const Array array = make_array(DType::int16, {3, 4, 5});
  nifti_2_header oriented{};
  oriented.pixdim[0] = -1;
  for (int i = 1; i <= 3; ++i) oriented.pixdim[i] = 1;
  oriented.sform_code = 2;
  oriented.qform_code = 1;
  oriented.quatern_c = 0.5;
  oriented.qoffset_z = -7;
  oriented.xyzt_units = 10;
  const double rows[3][4] = {{0, -1, 0, 10}, {1, 0, 0, 20}, {0, 0, 1, 30}};
  std::memcpy(oriented.srow_x, rows[0], sizeof rows[0]);
  std::memcpy(oriented.srow_y, rows[1], sizeof rows[1]);
  std::memcpy(oriented.srow_z, rows[2], sizeof rows[2]);
  Meaning meaning{4, 3, 2};
  meaning.native = std::make_shared<nifti::NativeHeader>(oriented);
  write(dir / "a.nii", array.view(), meaning);

  const Image image = read(dir / "a.nii");
  EXPECT_EQ(image.meaning.spacing(), (std::vector<double>{4, 3, 2}));
  write(dir / "b.nii.gz", image.data.view(), image.meaning);
  const Image again = read(dir / "b.nii.gz");
  EXPECT_EQ(again.meaning.spacing(), image.meaning.spacing());
  const nifti_2_header& h = dynamic_cast<const nifti::NativeHeader&>(*again.meaning.native).fields;
  EXPECT_EQ(h.sform_code, 2);
  EXPECT_EQ(h.qform_code, 1);
  EXPECT_EQ(h.pixdim[0], -1);
  EXPECT_EQ(h.quatern_c, 0.5);
  EXPECT_EQ(h.qoffset_z, -7);
  EXPECT_EQ(h.xyzt_units, 10);
  const double scaled[3][4] = {{0, -3, 0, 10}, {2, 0, 0, 20}, {0, 0, 4, 30}};  // columns by the new element sizes
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(h.srow_x[i], scaled[0][i]);
    EXPECT_EQ(h.srow_y[i], scaled[1][i]);
    EXPECT_EQ(h.srow_z[i], scaled[2][i]);
  }
}

TEST(Nifti, TakesVersionTwoForLongAxes) {
  const TempDir dir;
  const Array array = make_array(DType::uint8, {2, 40000});
  write(dir / "a.nii", array.view(), {1.5, 0.25});
  const Image image = read(dir / "a.nii");
  EXPECT_TRUE(same(array.view(), image.data.view()));
  EXPECT_EQ(image.meaning.spacing(), (std::vector<double>{1.5, 0.25}));
  EXPECT_EQ(load<std::int32_t>(read_bytes(dir / "a.nii").data()), 540);
}

TEST(Nifti, DropsTrailingAxesOfOneElement) {
  const TempDir dir;
  const Array array = make_array(DType::uint8, {1, 1, 4, 5});
  write(dir / "a.nii", array.view());
  EXPECT_TRUE(read(dir / "a.nii").data.shape() == (Shape{4, 5}));
}

TEST(Write, ChoosesTheFormatByTheEnding) {
  EXPECT_EQ(format_from_path("a/b.PNG"), Format::png);
  EXPECT_EQ(format_from_path("b.tif"), Format::tiff);
  EXPECT_EQ(format_from_path("b.TIFF"), Format::tiff);
  EXPECT_EQ(format_from_path("b.npy"), Format::npy);
  EXPECT_EQ(format_from_path("b.nii"), Format::nifti);
  EXPECT_EQ(format_from_path("b.nii.gz"), Format::nifti);
  EXPECT_EQ(format_from_path("b.nrrd"), Format::nrrd);
  EXPECT_EQ(format_from_path("b.mha"), Format::mha);
  EXPECT_EQ(format_from_path("b.vti"), Format::vti);
  EXPECT_EQ(format_from_path("b.mhd"), Format::automatic);
  EXPECT_EQ(format_from_path("b.jpg"), Format::automatic);
  EXPECT_EQ(format_from_path("b.gz"), Format::automatic);
  EXPECT_EQ(format_from_path("b"), Format::automatic);
  EXPECT_EQ(check_write("-", DType::uint8, {3}), Format::npy);
  EXPECT_EQ(check_write("/dev/null", DType::uint8, {3}), Format::npy);
  EXPECT_EQ(check_write("x.jpg", DType::uint8, {3, 3}, {}, {Format::tiff}), Format::tiff);
  const std::string message = message_of<InvalidArgument>([] { check_write("x.jpg", DType::uint8, {3, 3}); });
  EXPECT_NE(message.find(".npy"), std::string::npos) << message;
}

TEST(Write, RefusesWhatAFormatCannotHold) {
  const std::vector<std::pair<const char*, Shape>> refused = {
      {"a.png", {3}},     {"a.png", {3, 3, 3}}, {"a.png", {0, 3}},    {"a.tif", {3}},
      {"a.tif", {2, 2, 2, 2}}, {"a.tif", {3, 0}}, {"a.nii", {}}, {"a.nii", {2, 2, 2, 2, 2, 2, 2, 2}},
      {"a.nii", {0}}, {"a.nrrd", {}}, {"a.nrrd", {2, 0}}, {"a.mha", {2, 2, 2, 2, 2, 2, 2, 2, 2}}, {"a.vti", {2, 2, 2, 2}},
      {"a.tif", {std::int64_t{1} << 40, 2}}, {"a.png", {2, std::int64_t{1} << 31}}};
  for (const auto& [name, shape] : refused) {
    const Shape& extents = shape;
    const char* file = name;
    const std::string message = message_of<InvalidArgument>([&] { check_write(file, DType::uint8, extents); });
    EXPECT_NE(message.find(".npy"), std::string::npos) << message;
  }
  for (DType dtype : {DType::int64, DType::uint64})
    EXPECT_NE(message_of<InvalidArgument>([&] {
                check_write("a.tif", dtype, {2, 2});
              }).find(".npy"),
              std::string::npos);
  const TempDir dir;
  const Array array = make_array(DType::uint8, {2, 2});
  message_of<InvalidArgument>([&] { write(dir / "a.npy", array.view(), {1, 1, 1}); });
  EXPECT_EQ(dir.count_files(), 0u);
}

TEST(Threads, ReadAndWriteAtOnce) {
  const TempDir dir;
  const Array array = make_array(DType::float32, {64, 65});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i)
        for (const char* ending : {".npy", ".tif", ".nii.gz"}) {
          const fs::path path = dir / (std::to_string(t) + ending);
          write(path, array.view());
          EXPECT_TRUE(same(array.view(), read(path).data.view()));
          write(dir / (std::string("shared") + ending), array.view());
          EXPECT_TRUE(same(array.view(), read(dir / (std::string("shared") + ending)).data.view()));
          write_text(dir / (std::to_string(t) + "bad.tif"), "II*");
          EXPECT_THROW(read(dir / (std::to_string(t) + "bad.tif")), IoError);
        }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fathom::io::test
