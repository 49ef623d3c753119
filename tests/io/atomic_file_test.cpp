// Files appear whole or not at all: commit, no commit, failure, kill; links, permissions, devices.
#include "support.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace fathom::io::test {
namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_whole(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  std::fputs(text.c_str(), file.stream());
  file.commit();
}

mode_t mode_of(const fs::path& path) {
  struct stat state {};
  EXPECT_EQ(stat(path.c_str(), &state), 0);
  return state.st_mode & 07777;
}

TEST(AtomicFile, AppearsOnCommitOnly) {
  const TempDir dir;
  {
    AtomicFile file(dir / "a");
    std::fputs("new", file.stream());
    EXPECT_FALSE(fs::exists(dir / "a"));
    file.commit();
    EXPECT_EQ(text_of(dir / "a"), "new");
  }
  {
    AtomicFile file(dir / "a");
    std::fputs("newer", file.stream());
    std::fflush(file.stream());
    EXPECT_EQ(text_of(dir / "a"), "new");
  }
  EXPECT_EQ(text_of(dir / "a"), "new");
  write_whole(dir / "a", "newest");
  EXPECT_EQ(text_of(dir / "a"), "newest");
  EXPECT_EQ(dir.count_files(), 1u);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TempDir dir;
  {
    AtomicFile file(dir / "a");
    std::fputs("new", file.stream());
  }
  EXPECT_EQ(dir.count_files(), 0u);
}

TEST(AtomicFile, KeepsPermissionsAndFollowsTheUmask) {
  const TempDir dir;
  const mode_t old = umask(027);
  write_whole(dir / "a", "x");
  umask(old);
  EXPECT_EQ(mode_of(dir / "a"), 0640u);
  chmod((dir / "a").c_str(), 0604);
  write_whole(dir / "a", "y");
  EXPECT_EQ(mode_of(dir / "a"), 0604u);
}

TEST(AtomicFile, FollowsLinks) {
  const TempDir dir;
  fs::create_directory(dir / "sub");
  write_whole(dir / "sub/target", "old");
  fs::create_symlink("sub/target", dir / "link");
  fs::create_symlink("link", dir / "link2");
  write_whole(dir / "link2", "new");
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(text_of(dir / "sub/target"), "new");
  fs::create_symlink("sub/later", dir / "dangling");
  write_whole(dir / "dangling", "made");
  EXPECT_TRUE(fs::is_symlink(dir / "dangling"));
  EXPECT_EQ(text_of(dir / "sub/later"), "made");
  fs::create_symlink("loop", dir / "loop");
  message_of<IoError>([&] { AtomicFile file(dir / "loop"); });
}

TEST(AtomicFile, RefusesWhatCannotBeWritten) {
  const TempDir dir;
  expect_good_message(message_of<IoError>([&] { AtomicFile file(dir.path()); }), dir.path().string());
  expect_good_message(message_of<IoError>([&] { AtomicFile file(dir / "none/a"); }), (dir / "none/a").string());
  message_of<IoError>([&] { AtomicFile file(dir / "new/"); });
  message_of<InvalidArgument>([&] { AtomicFile file(""); });
  write_whole(dir / "file", "x");
  message_of<IoError>([&] { AtomicFile file(dir / "file/a"); });
  message_of<IoError>([&] { AtomicFile file("/proc/fathom-cannot-write-here"); });
  message_of<IoError>([&] {
    AtomicFile file(dir / std::string(300, 'n'));
    write_text("/dev/null", "");
    file.commit();
  });
  EXPECT_EQ(dir.count_files(), 1u);
}

/// Runs an action in another process as a user who is not root. Returns its exit status.
template <class Action>
int run_unprivileged(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(99);
    _exit(action());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

TEST(AtomicFile, RespectsProtection) {
  const TempDir dir;
  chmod(dir.path().c_str(), 0777);
  write_whole(dir / "protected", "old");
  chmod((dir / "protected").c_str(), 0444);
  const auto refused = [](const fs::path& path) {
    return [path] {
      try {
        AtomicFile file(path);
      } catch (const IoError&) {
        return 1;
      }
      return 0;
    };
  };
  EXPECT_EQ(run_unprivileged(refused(dir / "protected")), 1);
  EXPECT_EQ(run_unprivileged(refused(dir / "free")), 0);
  chmod(dir.path().c_str(), 0555);
  EXPECT_EQ(run_unprivileged(refused(dir / "free")), 1);
  chmod(dir.path().c_str(), 0777);
  EXPECT_EQ(text_of(dir / "protected"), "old");
}

TEST(AtomicFile, WritesToDevicesDirectly) {
  write_whole("/dev/null", "gone");
  const std::string message = message_of<IoError>([] { write_whole("/dev/full", std::string(100000, 'x')); });
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
  message_of<IoError>([] { write_whole("/dev/full", "x"); });
}

TEST(AtomicFile, WritesToFifosAndDescriptors) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = text_of(dir / "fifo"); });
  write_whole(dir / "fifo", "through");
  reader.join();
  EXPECT_EQ(got, "through");

  const int descriptor = open((dir / "open").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(::write(descriptor, "head ", 5), 5);
  write_whole("/dev/fd/" + std::to_string(descriptor), "tail");
  close(descriptor);
  EXPECT_EQ(text_of(dir / "open"), "head tail");
  message_of<IoError>([] { AtomicFile file("/dev/fd/987"); });
}

TEST(AtomicFile, ReportsAFullDisk) {
  const TempDir dir;
  write_whole(dir / "a.npy", "old");
  // A limit of the file size fails as a full disk does: part of a write succeeds.
  const auto fill = [&](const std::string& name) {
    return [path = dir / name] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{20000, 20000};
      setrlimit(RLIMIT_FSIZE, &limit);
      const Array array = make_array(DType::float32, {100, 100, 3});
      const Array flat = make_array(DType::float32, {100, 300});
      try {
        write(path, path.extension() == ".png" ? flat.view() : array.view());
      } catch (const IoError& error) {
        return std::string(error.what()).find(path.string()) == 0 ? 1 : 2;
      } catch (...) {
        return 3;
      }
      return 0;
    };
  };
  chmod(dir.path().c_str(), 0777);
  chmod((dir / "a.npy").c_str(), 0666);
  for (const char* name : {"a.npy", "b.npy", "b.tif", "b.nii", "b.nii.gz", "b.png"})
    EXPECT_EQ(run_unprivileged(fill(name)), 1) << name;
  EXPECT_EQ(text_of(dir / "a.npy"), "old");
  EXPECT_EQ(dir.count_files(), 1u);
}

TEST(AtomicFile, EveryFormatReportsAFullDevice) {
  const Array array = make_array(DType::float32, {30, 50});
  for (Format format : {Format::npy, Format::png, Format::tiff, Format::nifti}) {
    const std::string message = message_of<IoError>([&] { write("/dev/full", array.view(), {}, nullptr, {format}); });
    expect_good_message(message, "/dev/full");
    EXPECT_NE(message.find("No space left"), std::string::npos) << message;
  }
}

/// Files in the directory that are neither of the two.
int strays(const TempDir& dir) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(dir.path()))
    if (entry.path().filename() != "a.npy") ++count;
  return count;
}

TEST(AtomicFile, SurvivesKillAtAnyMoment) {
  const TempDir dir;
  const Array first = make_array(DType::uint8, {400, 500}, 1);
  const Array second = make_array(DType::uint8, {400, 500}, 2);
  write(dir / "a.npy", first.view());
  int replaced = 0;
  for (int round = 0; round < 60; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        write(dir / "a.npy", second.view());
        write(dir / "a.npy", first.view());
      }
    }
    usleep(static_cast<useconds_t>(500 + 211 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const Image image = read(dir / "a.npy");
    const bool old_one = bool(same(first.view(), image.data.view()));
    ASSERT_TRUE(old_one || same(second.view(), image.data.view()));
    replaced += !old_one;
    // A kill between naming and renaming leaves a complete file under a hidden name.
    for (const auto& entry : fs::directory_iterator(dir.path())) {
      if (entry.path().filename() == "a.npy") continue;
      EXPECT_TRUE(entry.path().filename().string().starts_with(".fathom-")) << entry.path();
    }
  }
  EXPECT_LT(strays(dir), 30);
  RecordProperty("second_file_found", replaced);
}

/// Without /proc a file cannot be nameless. Only root can look at the world so.
TEST(AtomicFile, LeavesNothingWhenItsProcessEndsAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may hide /proc";
  const TempDir dir;
  fs::create_directory(dir / "disk");
  const pid_t child = fork();
  if (child == 0) {
    if (chroot(dir.path().c_str()) != 0) _exit(1);
    AtomicFile first("/disk/a"), second("/disk/b");
    second.commit();
    AtomicFile third("/disk/b");
    if (std::distance(fs::directory_iterator("/disk"), fs::directory_iterator()) != 3) _exit(2);
    remove_temporary_files();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(fs::exists(dir / "disk/b"));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir / "disk"), fs::directory_iterator()), 1);
}

TEST(AtomicFile, ChecksWithoutOpeningAFifo) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  AtomicFile::check(dir / "fifo");  // would wait for a reader
  AtomicFile::check(dir / "new");
  AtomicFile::check("-");
  EXPECT_EQ(dir.count_files(), 1u);
  message_of<IoError>([&] { AtomicFile::check(dir / "none/new"); });
}

TEST(AtomicFile, SeveralArePreparedBeforeAnyIsInPlace) {
  const TempDir dir;
  AtomicFile first(dir / "a"), second(dir / "b");
  std::fputs("x", first.stream());
  std::fputs("y", second.stream());
  first.prepare();
  second.prepare();
  EXPECT_FALSE(fs::exists(dir / "a"));
  first.commit();
  second.commit();
  EXPECT_EQ(text_of(dir / "a") + text_of(dir / "b"), "xy");
}

TEST(AtomicFile, LeavesNothingWhenKilledBeforeCommit) {
  const TempDir dir;
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(dir / "a");
    std::fputs(std::string(1 << 20, 'x').c_str(), file.stream());
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const int probe = open(dir.path().c_str(), O_TMPFILE | O_RDWR, 0600);
  if (probe < 0) GTEST_SKIP() << "this file system has no nameless files";
  close(probe);
  EXPECT_EQ(dir.count_files(), 0u);
}

}  // namespace
}  // namespace fathom::io::test
