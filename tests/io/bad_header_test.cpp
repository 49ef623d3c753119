// Headers that contradict themselves, promise too much or say what is not read end in one clear error.
#include "samples.h"

namespace fathom::io::test {
namespace {

TEST(BadHeader, PnmHeaders) {
  const auto read_text = [](const std::string& text) { return read_memory(bytes_of_text(text)); };
  const Image gray = read_text("P2\n# made by hand\n3 2 # sizes\n9\n1 2 3\n4 5 9");
  EXPECT_TRUE(gray.data.shape() == (Shape{2, 3}) && gray.data.dtype() == DType::uint8);
  EXPECT_EQ(gray.data.data()[5], std::byte{9});
  const Image bits = read_text("P1 3 2 101\n0 1 1");  // 1 is black
  EXPECT_EQ(bits.data.dtype(), DType::boolean);
  EXPECT_EQ(bits.data.data()[0], std::byte{0});
  EXPECT_EQ(bits.data.data()[1], std::byte{1});
  for (const char* text : {"P2 3 2 9 1 2 3 4 5 10", "P2 3 2 9 1 2 3 4 5 ", "P2 0 2 9 ", "P2 3 2 0 1 2 3", "P2 3 2 65536 1",
                           "P2 -3 2 9 1", "P2 3 x 9 1", "P2 3", "P5 3000000000 2 9 ", "P5 2147483647 2147483647 9 abc",
                           "P5 2 1 9 \x01\x7f", "P1 2 1 12", "P6 1 1 255 ab", "P2 1 1 9 1 P2 1 1 9 1",
                           "P5 1 1 9 \x01P5 1 1 9 \x01", "P2 1000 1000 9 1 1 1"})
    expect_good_message(message_of<IoError>([&] { read_text(text); }), "memory");
}

const std::string kNrrd = "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 3 2\nencoding: raw\n";

TEST(BadHeader, NrrdHeaders) {
  const auto read_text = [](const std::string& text) { return read_memory(bytes_of_text(text)); };
  EXPECT_NO_THROW(read_text(kNrrd + "\nabcdef"));
  EXPECT_NO_THROW(read_text(kNrrd + "# a comment\nkey:=value: x\ncontent: y\n\nabcdef"));
  EXPECT_NO_THROW(read_text(kNrrd + "line skip: 1\nbyte skip: 2\n\nfirst\n..abcdef"));
  EXPECT_NO_THROW(read_text(kNrrd + "byteskip: -1\n\n.......abcdef"));
  for (const char* more :
       {"", "\nabcde", "units: mm\n\nabcdef", "spacings: 1\n\nabcdef", "spacings: 1 x\n\nabcdef",
        "space: nowhere\n\nabcdef", "space dimension: 2\nspace directions: (1,0)\n\nabcdef",
        "space dimension: 2\nspace directions: (1,0,0) (0,1,0)\n\nabcdef",
        "space dimension: 2\nspace directions: (0,0) (0,1)\n\nabcdef", "space dimension: 99\n\nabcdef",
        "space dimension: 2\nspace directions: (1,0 (0,1)\n\nabcdef", "byte skip: -2\n\nabcdef",
        "line skip: 9\n\nabcdef", "line skip: -1\n\nabcdef", "byte skip: 1000\n\nabcdef", "data file: a.raw\n\nabcdef",
        "data file: LIST\na.raw\n", "data file: a%03d.raw 1 2 1\n\n"})
    expect_good_message(message_of<IoError>([&] { read_text(kNrrd + more); }), "memory");
  const auto with = [&](const std::string& field, const std::string& value) {
    std::string text = kNrrd;
    const std::size_t at = text.find(field);
    return text.replace(at, text.find('\n', at) - at, field + ": " + value) + "\nabcdef";
  };
  for (const auto& [field, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"type", "block"}, {"type", "uint16"}, {"type", ""}, {"dimension", "0"}, {"dimension", "17"}, {"dimension", "x"},
           {"sizes", "3"}, {"sizes", "3 -2"}, {"sizes", "0 2"}, {"sizes", "9223372036854775807 2"}, {"sizes", "3 2 1"},
           {"sizes", "99999999999999999999 1"}, {"encoding", "bzip2"}, {"encoding", "hex"}, {"encoding", "gzip"},
           {"encoding", "ascii"}})
    expect_good_message(message_of<IoError>([&, text = with(field, value)] { read_text(text); }), "memory");
}

const std::string kMha = "ObjectType = Image\nNDims = 2\nDimSize = 3 2\nElementType = MET_UCHAR\n";

TEST(BadHeader, MetaImageHeaders) {
  const auto read_text = [](const std::string& text) { return read_memory(bytes_of_text(text)); };
  EXPECT_NO_THROW(read_text(kMha + "ElementDataFile = LOCAL\nabcdef"));
  EXPECT_NO_THROW(read_text(kMha + "BinaryData = False\nElementDataFile = LOCAL\n1 2 3\n4 5 255"));
  for (const char* more :
       {"", "ElementDataFile = LOCAL\nabcde", "ElementDataFile =\nabcdef", "ElementDataFile = a.raw\n",
        "ElementDataFile = LIST\na.raw\n", "ElementDataFile = a%03d.raw 1 2 1\n",
        "CompressedData = True\nElementDataFile = LOCAL\nabcdef", "ElementSpacing = 1\nElementDataFile = LOCAL\nabcdef",
        "ElementSpacing = 1 0\nElementDataFile = LOCAL\nabcdef", "ElementSpacing = 1 inf\nElementDataFile = LOCAL\nabcdef",
        "TransformMatrix = 1 0 0\nElementDataFile = LOCAL\nabcdef", "HeaderSize = -2\nElementDataFile = LOCAL\nabcdef",
        "BinaryData = False\nElementDataFile = LOCAL\n1 2 3 4 5 256", "BinaryData = False\nElementDataFile = LOCAL\n1 2 3",
        "ElementNumberOfChannels = 0\nElementDataFile = LOCAL\nabcdef",
        "ElementNumberOfChannels = 9223372036854775807\nElementDataFile = LOCAL\nabcdef"})
    expect_good_message(message_of<IoError>([&] { read_text(kMha + more); }), "memory");
  for (const char* text : {"ObjectType = Mesh\nElementDataFile = LOCAL\n", "NDims = 2\nElementDataFile = LOCAL\n",
                           "NDims = 0\nDimSize =\nElementType = MET_CHAR\nElementDataFile = LOCAL\n",
                           "NDims = 1\nDimSize = 3\nElementType = MET_STRING\nElementDataFile = LOCAL\nabc"})
    expect_good_message(message_of<IoError>([&] { read_text(text); }), "memory");
}

TEST(BadHeader, ElementsInAnotherFile) {
  const TempDir dir;
  write_text(dir / "a.raw", "abcdef");
  write_text(dir / "a.nhdr", kNrrd + "data file: a.raw\n");
  write_text(dir / "a.mhd", kMha + "ElementDataFile = a.raw\n");
  write_text(dir / "none.mhd", kMha + "ElementDataFile = none.raw\n");
  write_text(dir / "self.mhd", kMha + "ElementDataFile = .\n");
  for (const char* name : {"a.nhdr", "a.mhd"}) {
    EXPECT_EQ(std::memcmp(read(dir / name).data.data(), "abcdef", 6), 0) << name;
    EXPECT_TRUE(probe(dir / name).warnings.empty());
  }
  EXPECT_EQ(message_of<IoError>([&] { probe(dir / "none.mhd"); }),
            (dir / "none.mhd").string() + " names a file for its elements that is not there: " +
                (dir / "none.raw").string());
  EXPECT_THROW(probe(dir / "self.mhd"), IoError);
  write_text(dir / "a.raw", "abcdefgh");
  EXPECT_EQ(probe(dir / "a.mhd").warnings, (std::vector<std::string>{
      "promises fewer elements than its file of elements has: 2 bytes of it are left out"}));
  write_text(dir / "a.raw", "abcde");
  EXPECT_EQ(message_of<IoError>([&] { probe(dir / "a.mhd"); }),
            (dir / "a.raw").string() + " is truncated: its header promises 6 bytes of elements, it holds 5");
  EXPECT_EQ(message_of<IoError>([&] { read_memory(read_bytes(dir / "a.mhd")); }),
            "memory names another file for its elements (a.raw), which what comes out of a pipe has not; give the file's "
            "path");
}

Bytes npy_with(const std::string& dictionary) {
  std::string text = dictionary + "\n";
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(text.size() & 0xff);
  file += static_cast<char>(text.size() >> 8);
  file += text + std::string(64, '\1');
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  return {bytes, bytes + file.size()};
}

Bytes npy_of(const std::string& descr, const std::string& shape) {
  return npy_with("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }");
}

TEST(BadHeader, NpyHeaders) {
  EXPECT_NO_THROW(read_memory(npy_of("'<f4'", "(4, 4)")));
  EXPECT_NO_THROW(read_memory(npy_of("'<f4'", "(4L, 4L,)")));
  EXPECT_NO_THROW(read_memory(npy_with("{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"|u1\"}")));
  for (const char* descr : {"'|O'", "'<c8'", "'<U3'", "'|S1'", "'<M8[s]'", "'<f16'", "'f'", "''", "'<u3'",
                            "[('a', '<f4')]", "3", "'<f4", "('<f4', (2,))"})
    expect_good_message(message_of<IoError>([&] { read_memory(npy_of(descr, "(2, 2)")); }), "memory");
  for (const char* shape :
       {"(1099511627776, 1099511627776)", "(9223372036854775807,)", "(9223372036854775808,)", "(-1, 2)", "(2 2)",
        "(2,2", "2", "(1,1,1,1,1,1,1,1,1,1)", "(4611686018427387904, 4)", "(1000,)", "(2.0,)", "(0x2,)", "(a,)", "()x"})
    expect_good_message(message_of<IoError>([&] { read_memory(npy_of("'<f4'", shape)); }), "memory");
  for (const char* text : {"", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "[]",
                           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'extra': 1}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + f()"})
    expect_good_message(message_of<IoError>([&] { read_memory(npy_with(text)); }), "memory");
  Bytes version = npy_of("'<f4'", "(2, 2)");
  version[6] = std::byte{4};
  message_of<IoError>([&] { read_memory(version); });
  version[6] = std::byte{2};  // now the length has four bytes, and is absurd
  message_of<IoError>([&] { read_memory(version); });
}

TEST(BadHeader, ObjectsAreNeverUnpickled) {
  EXPECT_NE(message_of<IoError>([] { read_memory(npy_of("'|O'", "(1,)")); }).find("never unpickled"),
            std::string::npos);
}

Bytes png_of(std::uint32_t width, std::uint32_t height) {
  Bytes bytes = bytes_of("a.png", make_array(DType::uint16, {3, 3}));
  const auto put = [&](std::size_t at, std::uint32_t value) {
    const std::uint32_t big = swap_bytes(value);
    std::memcpy(bytes.data() + at, &big, 4);
  };
  put(16, width);
  put(20, height);
  std::uint32_t crc = 0xffffffff;  // of the chunk's name and data
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= std::to_integer<std::uint32_t>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320 : 0);
  }
  put(29, ~crc);
  return bytes;
}

TEST(BadHeader, PngHeaders) {
  EXPECT_NO_THROW(read_memory(png_of(3, 3)));
  for (const auto& [width, height] : {std::pair{0x7fffffffu, 0x7fffffffu}, {0xffffffffu, 1u}, {0u, 3u}, {1u << 30, 4u}})
    expect_good_message(message_of<IoError>([w = width, h = height] { read_memory(png_of(w, h)); }), "memory");
}

template <class T>
Bytes nifti_with(std::size_t offset, T value, const char* name = "a.nii") {
  Bytes bytes = bytes_of(name, make_array(DType::int16, {2, 3, 4}));
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

TEST(BadHeader, NiftiHeaders) {
  const auto refuse = [](const Bytes& bytes) {
    expect_good_message(message_of<IoError>([&] { read_memory(bytes); }), "memory");
  };
  for (int rank : {0, -1, 8, 32767}) refuse(nifti_with(40, static_cast<std::int16_t>(rank)));
  for (int extent : {0, -5, 32767}) refuse(nifti_with(42, static_cast<std::int16_t>(extent)));
  for (int type : {0, 1, 32, 1536, 2048, -3}) refuse(nifti_with(70, static_cast<std::int16_t>(type)));
  for (float offset : {-1.f, 12.f, 1e9f, 1e30f, std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()})
    refuse(nifti_with(108, offset));
  Bytes intercept = nifti_with(112, 2.f);
  const float inf = std::numeric_limits<float>::infinity();
  std::memcpy(intercept.data() + 116, &inf, 4);
  refuse(intercept);
  refuse(nifti_with(344, std::uint32_t{0x0031696e}));  // "ni1": a pair of files
  refuse(nifti_with(344, std::uint32_t{0}));
  EXPECT_NO_THROW(read_memory(nifti_with(112, 0.f)));  // slope 0: no scaling
  EXPECT_NO_THROW(read_memory(nifti_with(108, 0.f)));  // offset 0: right behind the header
  EXPECT_EQ(read_memory(nifti_with(84, -5.f)).meaning.spacing()[1], 5);
  EXPECT_EQ(read_memory(nifti_with(80, std::numeric_limits<float>::quiet_NaN())).meaning.spacing().back(), 1);
}

TEST(BadHeader, HugeNiftiTwo) {
  const TempDir dir;
  write(dir / "a.nii", make_array(DType::uint8, {1, 40000}).view());
  Bytes bytes = read_bytes(dir / "a.nii");
  for (std::size_t axis : {1, 2, 3}) {
    const std::int64_t extent = std::int64_t{1} << 40;
    std::memcpy(bytes.data() + 16 + 8 * axis, &extent, 8);
    const std::int64_t rank = 3;
    std::memcpy(bytes.data() + 16, &rank, 8);
    expect_good_message(message_of<IoError>([&] { read_memory(bytes); }), "memory");
  }
}

/// Tags of a little-endian TIFF with one strip of 12 bytes, uncompressed, 4 × 3 uint8.
Bytes tiff_with(std::uint16_t tag, std::uint16_t type, std::uint32_t value) {
  struct Entry {
    std::uint16_t tag, type;
    std::uint32_t count, value;
  };
  std::vector<Entry> entries = {{256, 4, 1, 4},  {257, 4, 1, 3}, {258, 3, 1, 8}, {259, 3, 1, 1},  {262, 3, 1, 1},
                                {273, 4, 1, 200}, {277, 3, 1, 1}, {278, 4, 1, 3}, {279, 4, 1, 12}, {284, 3, 1, 1},
                                {339, 3, 1, 1}};
  auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.tag >= tag; });
  if (tag == 0) at = entries.begin();
  else if (at != entries.end() && at->tag == tag) *at = {tag, type, 1, value};
  else entries.insert(at, {tag, type, 1, value});
  Bytes bytes(212, std::byte{0x5a});
  std::memcpy(bytes.data(), "II*\0\x08\0\0\0", 8);
  const auto count = static_cast<std::uint16_t>(entries.size());
  std::memcpy(bytes.data() + 8, &count, 2);
  for (std::size_t i = 0; i < entries.size(); ++i) std::memcpy(bytes.data() + 10 + 12 * i, &entries[i], 12);
  std::memset(bytes.data() + 10 + 12 * entries.size(), 0, 4);
  return bytes;
}

TEST(BadHeader, TiffTags) {
  const Image image = read_memory(tiff_with(278, 4, 3));
  EXPECT_TRUE(image.data.shape() == (Shape{3, 4}) && image.data.dtype() == DType::uint8);
  struct Attack {
    std::uint16_t tag, type;
    std::uint32_t value;
  };
  const Attack attacks[] = {
      {256, 4, 0},          {256, 4, 0xffffffff}, {256, 4, 1u << 30},  {257, 4, 0},      {257, 4, 0xffffffff},
      {257, 4, 1u << 31},   {258, 3, 3},          {258, 3, 24},        {258, 3, 0xffff}, {258, 3, 128},
      {259, 3, 1234},       {262, 3, 5},          {262, 3, 8},         {262, 3, 6},      {262, 3, 2},
      {262, 3, 32844},      {277, 3, 3},          {277, 3, 0},         {277, 3, 0xffff}, {273, 4, 0xfffffff0},
      {278, 4, 0},          {322, 4, 1u << 31},  {322, 4, 16},     {339, 3, 5},
      {339, 3, 3},          {32997, 4, 7},        {257, 4, 4}};
  for (const Attack& attack : attacks) {
    const std::string message =
        message_of<IoError>([&] { read_memory(tiff_with(attack.tag, attack.type, attack.value)); });
    EXPECT_FALSE(message.empty()) << "tag " << attack.tag << " = " << attack.value;
    expect_good_message(message, "memory");
  }
  // What libtiff mends: byte counts it estimates anew, one strip of any number of rows, gray for want of a palette.
  EXPECT_TRUE(survives(tiff_with(279, 4, 5), "strip byte count"));
  EXPECT_TRUE(survives(tiff_with(278, 4, 0xffffffff), "rows per strip"));
  EXPECT_TRUE(survives(tiff_with(262, 3, 3), "no palette"));
}

}  // namespace
}  // namespace fathom::io::test
