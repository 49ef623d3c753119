// Whatever bytes a file holds, a reader returns an image within the limit or throws one IoError that names the file.
#include "samples.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace fathom::io::test {
namespace {

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
