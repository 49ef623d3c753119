// Readers of points as C++ calls them: what they return besides the points, and how they keep to the memory limit.
#include "fathom/io/points.h"

#include "io/point_formats.h"
#include "support.h"

namespace fathom::io::test {
namespace {

Points read_text(const std::string& text, const PointOptions& options = {}, std::uint64_t limit = 1 << 20) {
  MemorySource source("memory", std::as_bytes(std::span(text)));
  return read_points(source, {limit, true}, options, false);
}

template <class T>
std::vector<T> values(const Points& points) {
  const auto* data = reinterpret_cast<const T*>(points.data.data());
  return {data, data + points.data.size()};
}

TEST(Points, SayWhatTheyAre) {
  const Points points = read_text("id,lat (deg),lon (deg)\n7,47.5,8.25\n");
  EXPECT_EQ(points.data.shape(), (Shape{1, 2}));
  EXPECT_EQ(values<double>(points), (std::vector<double>{8.25, 47.5}));
  EXPECT_EQ(points.columns, (std::vector<std::string>{"lon (deg)", "lat (deg)"}));
  EXPECT_TRUE(points.chosen);
  EXPECT_EQ(points.unit, "°");
  EXPECT_EQ(points.warnings,
            std::vector<std::string>{"memory: 'lon (deg)', 'lat (deg)' are taken as x, y: distances in degrees are not "
                                     "on the ground; project the points first"});
}

TEST(Points, WithoutAChoice) {
  const Points points = read_text("1 2 3\n4 5 6\n");
  EXPECT_EQ(values<std::int32_t>(points), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(points.columns, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_FALSE(points.chosen);
  EXPECT_EQ(points.unit, "");
  EXPECT_TRUE(points.warnings.empty());
}

TEST(Points, UnitsInNames) {
  const auto unit = [](const std::string& header) { return read_text(header + "\n1,2\n").unit; };
  EXPECT_EQ(unit("x (m),y (m)"), "m");
  EXPECT_EQ(unit("X [µm],Y [micron]"), "µm");
  EXPECT_EQ(unit("easting_ft,northing_feet"), "ft");
  EXPECT_EQ(unit("pos_x_mm,pos_y_mm"), "mm");
  EXPECT_EQ(unit("x (px),y (pixel)"), "px");
  EXPECT_EQ(unit("x (local),y (local)"), "");
  EXPECT_EQ(message_of<IoError>([&] { unit("x (mm),y (cm)"); }),
            "memory has coordinates in cm and mm ('x (mm)', 'y (cm)'); bring them to one unit");
}

/// int32 where all are such integers, else float64.
TEST(Points, TypesOfText) {
  EXPECT_EQ(read_text("1,2\n2147483647,-2147483647\n").data.dtype(), DType::int32);
  EXPECT_EQ(read_text("1,2\n2147483648,0\n").data.dtype(), DType::float64);
  EXPECT_EQ(read_text("1,2\n-0,0\n").data.dtype(), DType::float64);
}

TEST(Points, OptionsThatContradict) {
  EXPECT_EQ(message_of<InvalidArgument>([] { read_text("1,2\n", {{"1"}, 0, 0}); }),
            "points have 2 or 3 coordinates; 1 columns were asked for");
  EXPECT_EQ(message_of<InvalidArgument>([] { read_text("1,2\n", {{}, ',', ','}); }),
            "',' cannot be the decimal mark and the delimiter");
}

/// Text takes twice its coordinates, and a line no more than a quarter of the limit.
TEST(Points, KeepToTheMemoryLimit) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "1.5,2.5\n";  // 640,000 bytes of coordinates
  EXPECT_EQ(read_text(text, {}, 4 << 20).data.shape(), (Shape{40000, 2}));
  EXPECT_EQ(message_of<IoError>([&] { read_text(text, {}, 1 << 20); }),
            "memory is larger than the memory limit of 1.0 MiB");
  const std::string line = "x,y,n\n1,2," + std::string(3 << 20, 'n') + "\n";
  EXPECT_EQ(read_text(line, {}, 32 << 20).data.shape(), (Shape{1, 2}));
  EXPECT_EQ(message_of<IoError>([&] { read_text(line, {}, 1 << 20); }), "memory has a line of more than 256.0 KiB");
}

/// A file that cannot seek, such as what comes out of gzip.
TEST(Points, FromAPipe) {
  class Pipe final : public ByteSource {
   public:
    explicit Pipe(std::string text) : ByteSource("pipe"), text_(std::move(text)) {}
    std::optional<std::uint64_t> size() const override { return std::nullopt; }

   private:
    std::size_t read_raw(void* out, std::size_t count) override {
      const std::size_t got = std::min<std::size_t>({count, 3, text_.size() - at_});
      std::memcpy(out, text_.data() + at_, got);
      at_ += got;
      return got;
    }
    std::string text_;
    std::size_t at_ = 0;
  };
  Pipe text("x,y\r\n1,2\r\n3,4\r\n");
  EXPECT_EQ(values<std::int32_t>(read_points(text, {1 << 20, true}, {}, false)), (std::vector<std::int32_t>{1, 2, 3, 4}));
  Pipe ply("ply\rformat ascii 1.0\relement e 1\rproperty int a\relement vertex 1\rproperty float x\rproperty float y\r"
           "end_header\r9\r1.5 2\r");
  EXPECT_EQ(values<float>(read_points(ply, {1 << 20, true}, {}, false)), (std::vector<float>{1.5F, 2}));
}

}  // namespace
}  // namespace fathom::io::test
