// Whatever bytes a file holds, a reader returns an image within the limit or throws one IoError that names the file.
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "io/npy_header.h"

namespace fathom::io::test {
namespace {

using Bytes = std::vector<std::byte>;

struct Sample {
  std::string name;
  Bytes bytes;
};

Bytes bytes_of(const std::string& name, const Array& array, const WriteOptions& options = {}) {
  const TempDir dir;
  const std::vector<double> spacing = array.shape().rank() == 3 ? std::vector<double>{3, 2, 1} : std::vector<double>{};
  write(dir / name, array.view(), spacing, options);
  return read_bytes(dir / name);
}

/// A header and bytes behind it, none of which looks like the start of another image.
Bytes pnm_of(const std::string& header, std::size_t count) {
  Bytes bytes = bytes_of_text(header);
  for (std::size_t k = 0; k < count; ++k) bytes.push_back(std::byte(0x81 + 5 * k % 64));
  return bytes;
}

/// A gray ramp of 8 × 8, as Pillow writes it at the lowest quality: all steps of quantization are 255.
Bytes small_jpeg() {
  const std::string hex =
      "ffd8ffe000104a46494600010100000100010000ffdb004300" + std::string(128, 'f') +
      "ffc0000b080008000801011100ffc40014000100000000000000000000000000000001ffc400151001010000000000000000000000000000"
      "0002ffda0008010100003f0025ffd9";
  Bytes bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2)
    bytes.push_back(std::byte(std::stoi(hex.substr(at, 2), nullptr, 16)));
  return bytes;
}

/// Small valid files of every format.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> made;
    for (const char* name : {"a.npy", "a.tif", "a.nii", "a.nii.gz"}) {
      made.push_back({name, bytes_of(name, make_array(DType::float32, {2, 5, 6}))});
      made.push_back({name, bytes_of(name, make_array(DType::boolean, {7, 9}))});
    }
    for (const char* name : {"a.nrrd", "a.mha"})
      made.push_back({name, bytes_of(name, make_array(DType::uint16, {2, 5, 6}))});
    made.push_back({"gzip.nrrd", bytes_of("a.nrrd", make_array(DType::float32, {2, 5, 6}), {.compress = true})});
    made.push_back({"a.jpg", small_jpeg()});
    made.push_back({"a.pgm", pnm_of("P5 # a comment\n4 3\n255\n", 12)});
    made.push_back({"a.ppm", pnm_of("P6\n4 3\n65535\n", 72)});
    made.push_back({"a.pbm", pnm_of("P4 9 3\n", 6)});
    made.push_back({"a.png", bytes_of("a.png", make_array(DType::boolean, {7, 9}))});
    made.push_back({"a.png", bytes_of("a.png", make_array(DType::uint16, {7, 9}))});
    return made;
  }();
  return all;
}

TEST(BadInput, TruncatedAtEveryByte) {
  for (const Sample& sample : samples()) {
    ASSERT_NO_THROW(read_memory(sample.bytes));
    for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
      const std::string message =
          message_of<IoError>([&] { read_memory(std::span(sample.bytes).first(length)); });
      ASSERT_FALSE(message.empty()) << sample.name << " cut to " << length << " of " << sample.bytes.size();
      expect_good_message(message, "memory");
    }
  }
}

/// Reads bytes that may be anything; true if they were an image.
bool survives(std::span<const std::byte> bytes, const std::string& what) {
  ReadOptions options;
  options.memory_limit = std::size_t{1} << 20;
  try {
    const Image image = read_memory(bytes, options);
    EXPECT_LE(image.data.bytes(), *options.memory_limit);
    return true;
  } catch (const IoError& error) {
    expect_good_message(error.what(), "memory");
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
  return false;
}

TEST(BadInput, EveryByteFlipped) {
  for (const Sample& sample : samples())
    for (std::size_t at = 0; at < sample.bytes.size(); ++at)
      for (unsigned flip : {0x01u, 0x80u, 0xffu}) {
        Bytes broken = sample.bytes;
        broken[at] ^= std::byte(flip);
        survives(broken, sample.name + " flipped at " + std::to_string(at));
      }
}

TEST(BadInput, ManyBytesReplaced) {
  std::mt19937 random(7);
  for (const Sample& sample : samples())
    for (int round = 0; round < 2000; ++round) {
      Bytes broken = sample.bytes;
      for (unsigned n = 1 + random() % 8; n > 0; --n) broken[random() % broken.size()] = std::byte(random());
      survives(broken, sample.name + " round " + std::to_string(round));
    }
}

TEST(BadInput, CompressedFilesProtectTheirContent) {
  for (const Sample& sample : samples()) {
    if (sample.name != "a.png" && sample.name != "a.nii.gz") continue;
    Bytes broken = sample.bytes;
    const std::size_t middle = sample.name == "a.png" ? 45 : broken.size() - 6;  // in IDAT; in the gzip's CRC
    broken[middle] ^= std::byte{0x10};
    EXPECT_THROW(read_memory(broken), IoError) << sample.name;
  }
}

TEST(BadInput, SaysWhatItIs) {
  const TempDir dir;
  const std::pair<const char*, const char*> files[] = {{"GIF89a....", "GIF"},
                                                       {"BM......", "BMP"},
                                                       {"PK\x03\x04zip", ".npz"},
                                                       {"\x89HDF\r\n\x1a\n", "HDF5"},
                                                       {"%PDF-1.4", "PDF"},
                                                       {"<?xml version", "XML"},
                                                       {"P7\nWIDTH 2\n", "PAM"},
                                                       {"Pf\n2 2\n-1\n", "PFM"},
                                                       {"ZISRAWFILE", "OME-TIFF"},
                                                       {"CDF\x01", "NetCDF"},
                                                       {"SIMPLE  = T", "FITS"},
                                                       {"{\"zarr_format\": 3}", "Zarr"},
                                                       {"# vtk DataFile Version 3.0", "NRRD or MetaImage"},
                                                       {"<?xml version=\"1.0\"?>\n<VTKFile", "NRRD or MetaImage"},
                                                       {"\x80\x04\x95pickle", "pickle"},
                                                       {"some words", "known"}};
  for (const auto& [content, kind] : files) {
    write_text(dir / "a.png", content);
    const std::string message = message_of<IoError>([&] { read(dir / "a.png"); });
    expect_good_message(message, (dir / "a.png").string());
    EXPECT_NE(message.find(kind), std::string::npos) << message;
    EXPECT_NE(message.find("NPY"), std::string::npos) << message;
    EXPECT_EQ(message_of<IoError>([&] { probe(dir / "a.png"); }), message);
  }
  Bytes dicom(200, std::byte{0});
  std::memcpy(dicom.data() + 128, "DICM", 4);
  EXPECT_NE(message_of<IoError>([&] { read_memory(dicom); }).find("DICOM"), std::string::npos);
}

TEST(BadInput, ZarrFoldersAreNamed) {
  const TempDir dir;
  for (const char* name : {".zarray", ".zgroup", "zarr.json"}) {
    fs::create_directories(dir / "a.zarr");
    write_text(dir / "a.zarr" / name, "{}");
    const std::string message = message_of<IoError>([&] { read(dir / "a.zarr"); });
    EXPECT_EQ(message,
              (dir / "a.zarr").string() + " is a Zarr folder, which is not read; save the array with numpy.save");
    fs::remove_all(dir / "a.zarr");
  }
}

TEST(BadInput, PnmHeaders) {
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

TEST(BadInput, NrrdHeaders) {
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

TEST(BadInput, MetaImageHeaders) {
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

TEST(BadInput, ElementsInAnotherFile) {
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

TEST(BadInput, ReadsByContentNotByName) {
  const TempDir dir;
  const Array array = make_array(DType::uint8, {4, 5});
  write(dir / "a.npy", array.view());
  fs::rename(dir / "a.npy", dir / "a.png");
  EXPECT_TRUE(same(array.view(), read(dir / "a.png").data.view()));
  EXPECT_EQ(probe(dir / "a.png").format, Format::npy);
  for (Format wrong : {Format::png, Format::tiff, Format::nifti, Format::nrrd, Format::mha, Format::vti, Format::jpeg,
                       Format::pnm})
    expect_good_message(message_of<IoError>([&] { read(dir / "a.png", {wrong, {}}); }), (dir / "a.png").string());
}

TEST(BadInput, MissingEmptyAndDirectories) {
  const TempDir dir;
  write_text(dir / "empty.png", "");
  for (const fs::path& path : {dir / "missing.png", dir / "empty.png", dir.path()}) {
    expect_good_message(message_of<IoError>([&] { read(path); }), path.string());
    expect_good_message(message_of<IoError>([&] { probe(path); }), path.string());
  }
}

// ---- headers that promise too much ----

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

TEST(BadInput, NpyHeaders) {
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

TEST(BadInput, ObjectsAreNeverUnpickled) {
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

TEST(BadInput, PngHeaders) {
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

TEST(BadInput, NiftiHeaders) {
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

TEST(BadInput, HugeNiftiTwo) {
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

TEST(BadInput, TiffTags) {
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

TEST(BadInput, MemoryLimit) {
  const TempDir dir;
  const Array flat = make_array(DType::uint16, {100, 100});
  for (const char* name : {"a.npy", "a.tif", "a.nii", "a.nii.gz", "a.png", "a.nrrd", "a.mha"}) {
    write(dir / name, flat.view());
    const std::string message = message_of<IoError>([&] { read(dir / name, {Format::automatic, 19999}); });
    expect_good_message(message, (dir / name).string());
    EXPECT_NE(message.find("limit"), std::string::npos) << message;
    EXPECT_NO_THROW(read(dir / name, {Format::automatic, 60000}));
    EXPECT_NO_THROW(probe(dir / name, {Format::automatic, 60000}));
  }
  EXPECT_GT(memory_limit({}).bytes, std::uint64_t{1} << 20);
  EXPECT_FALSE(memory_limit({}).from_caller);
}

TEST(BadInput, DecompressionBombs) {
  const TempDir dir;
  Array zeros(DType::uint8, {4000, 4000});
  std::memset(zeros.data(), 0, zeros.bytes());
  for (const char* name : {"a.nii.gz", "a.png"}) {
    write(dir / name, zeros.view());
    EXPECT_LT(fs::file_size(dir / name), 200000u);
    const std::string message = message_of<IoError>([&] {
      read(dir / name, {Format::automatic, std::size_t{1} << 20});
    });
    EXPECT_NE(message.find("limit"), std::string::npos) << message;
  }
}

TEST(BadInput, ReadsFromPipes) {
  for (const Sample& sample : samples()) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], sample.bytes.data(), sample.bytes.size()), static_cast<ssize_t>(sample.bytes.size()));
    close(ends[1]);
    const Image image = read("/dev/fd/" + std::to_string(ends[0]));
    close(ends[0]);
    EXPECT_TRUE(same(read_memory(sample.bytes).data.view(), image.data.view())) << sample.name;
  }
}

/// Runs an action with `bytes` on standard input, in another process.
template <class Action>
int with_standard_input(const Bytes& bytes, bool seekable, Action action) {
  const TempDir dir;
  int ends[2] = {-1, -1};
  if (seekable) {
    write_bytes(dir / "in", bytes);
    ends[0] = open((dir / "in").c_str(), O_RDONLY);
  } else if (pipe(ends) != 0 || ::write(ends[1], bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return 97;
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], 0);
    close(ends[1]);
    _exit(action());
  }
  close(ends[0]);
  close(ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

TEST(StandardInput, IsKeptForTheReadBehindAProbe) {
  for (const Sample& sample : samples())
    for (bool seekable : {false, true}) {
      const Image expected = read_memory(sample.bytes);
      EXPECT_EQ(with_standard_input(sample.bytes, seekable,
                                    [&] {
                                      const ImageInfo first = probe("-");
                                      const ImageInfo second = probe("-");
                                      if (!(first.shape == second.shape)) return 1;
                                      return same(expected.data.view(), read("-").data.view()) ? 0 : 2;
                                    }),
                0)
          << sample.name << seekable;
    }
}

TEST(Fifo, IsKeptOpenForTheReadBehindAProbe) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", dir / "link");
  for (const Sample& sample : samples()) {
    const Image expected = read_memory(sample.bytes);
    std::thread writer([&] { write_bytes(dir / "fifo", sample.bytes); });
    const ImageInfo first = probe(dir / "fifo");
    EXPECT_EQ(probe(dir / "link").shape, first.shape) << sample.name;
    EXPECT_TRUE(same(expected.data.view(), read(dir / "fifo").data.view())) << sample.name;
    writer.join();
  }
}

TEST(StandardInput, IsNamedInErrors) {
  EXPECT_EQ(with_standard_input(Bytes(10, std::byte{'x'}), false,
                                [] {
                                  try {
                                    read("-");
                                  } catch (const IoError& error) {
                                    return std::string(error.what()).starts_with("standard input ") ? 0 : 1;
                                  }
                                  return 2;
                                }),
            0);
}

}  // namespace
}  // namespace fathom::io::test
