#include "files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include "exit_code.h"
#include "fathom/core/error.h"
#include "progress.h"
#include "report.h"

namespace fathom::cli {

namespace {

namespace fs = std::filesystem;

/// Where digits stand in both, their numbers decide.
bool numbers_first(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto number_at = [&](const std::string& text, std::size_t& at) {
    while (at + 1 < text.size() && text[at] == '0' && digit(text[at + 1])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && digit(text[at])) ++at;
    return std::string_view(text).substr(begin, at - begin);
  };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const std::string_view x = number_at(a, i), y = number_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
    }
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

bool is_pattern(const std::string& path) {
  std::error_code ignored;
  return path.find_first_of("*?[") != std::string::npos && !fs::exists(path, ignored);
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  const int failed = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + (failed == 0 ? found.gl_pathc : 0));
  globfree(&found);
  if (paths.empty()) throw IoError(pattern + " matches no file");
  std::sort(paths.begin(), paths.end(), numbers_first);
  return paths;
}

/// The name without its ending; .nii.gz is one.
std::string stem_of(const fs::path& path) {
  std::string stem = path.stem().string();
  if (path.extension() == ".gz") stem = fs::path(stem).stem().string();
  return stem;
}

/// What failed, in one line; empty: nothing.
std::string failure_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::vector<std::string> expanded(const std::vector<std::string>& inputs) {
  std::vector<std::string> paths;
  for (const std::string& input : inputs) {
    if (!is_pattern(input)) {
      paths.push_back(input);
      continue;
    }
    const std::vector<std::string> found = matches(input);
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with('.'))
      paths.push_back(entry.path().string());
  if (error) throw IoError(fmt::format("{} cannot be read: {}", folder, error.message()));
  if (paths.empty()) throw IoError(fmt::format("{} holds no files", folder));
  std::sort(paths.begin(), paths.end(), numbers_first);
  return paths;
}

std::string named_after(const std::string& pattern, const std::string& input) {
  const fs::path path(input);
  std::string name;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '{' ? pattern.find('}', at) : std::string::npos;
    if (end == std::string::npos) {
      name += pattern[at++];
      continue;
    }
    const std::string word = pattern.substr(at, end + 1 - at);
    if (word == "{stem}") name += stem_of(path);
    else if (word == "{name}") name += path.filename().string();
    else if (word == "{folder}") name += path.has_parent_path() ? path.parent_path().string() : ".";
    else throw InvalidArgument(fmt::format("names of outputs take {{stem}}, {{name}} and {{folder}}, not '{}'", word));
    at = end + 1;
  }
  return name;
}

int for_each_file(const std::vector<std::string>& inputs, int jobs, const std::function<void(std::size_t)>& work) {
  Progress progress;
  progress.begin(fmt::format("{} files", inputs.size()));
  std::atomic<std::size_t> next{0}, done{0}, failed{0};
  const auto run = [&] {
    for (std::size_t k = next++; k < inputs.size(); k = next++) {
      std::string failure = failure_of([&] { work(k); });
      // Most messages begin with the file's name.
      if (!failure.empty() && !failure.starts_with(inputs[k])) failure.insert(0, inputs[k] + ": ");
      if (!failure.empty()) print_message(failure);
      failed += failure.empty() ? 0 : 1;
      progress.advance(static_cast<double>(++done) / static_cast<double>(inputs.size()));
    }
  };
  {
    std::vector<std::jthread> others;
    for (int job = 1; job < jobs; ++job) others.emplace_back(run);
    run();
  }
  progress.end();
  if (failed > 0) print_message(fmt::format("{} of {} files failed", failed.load(), inputs.size()));
  return failed > 0 ? kData : kDone;
}

}  // namespace fathom::cli
