// What the command tells the shell.
#pragma once

namespace fathom::cli {

inline constexpr int kDone = 0;
inline constexpr int kDifferent = 1;  ///< `compare` alone: the files differ
inline constexpr int kUsage = 2;
inline constexpr int kData = 3;
inline constexpr int kDevice = 4;
inline constexpr int kInternal = 70;
inline constexpr int kSignalBase = 128;  ///< + the signal's number: 130 for Ctrl-C

}  // namespace fathom::cli
