// Many files: patterns of inputs, and outputs named after them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fathom::cli {

/// The inputs that a command line names: patterns such as 'c*.tif' that are no file's name become the files that they
/// match, in the order of their numbers (slice2 before slice10).
/// @throws IoError a pattern matches nothing
std::vector<std::string> expanded(const std::vector<std::string>& inputs);

/// The files of a folder, in the order of their numbers; hidden ones are left out.
/// @throws IoError it cannot be read, or holds none
std::vector<std::string> files_in(const std::string& folder);

/// "out/{stem}_edt.tif" for an input: {stem} is its name without folder and ending, {name} with the ending, {folder}
/// the folder.
/// @throws InvalidArgument another word in braces
std::string named_after(const std::string& pattern, const std::string& input);

/// Calls work(k) for all k < count, `jobs` at a time. An error of one is printed and does not stop the others.
/// @return the exit code: 0, or that of data where one failed
int for_each_file(const std::vector<std::string>& inputs, int jobs, const std::function<void(std::size_t)>& work);

}  // namespace fathom::cli
