// Bytes, rates and times as people read them: three digits and a unit.
#pragma once

#include <string>

namespace fathom::cli {

/// "4.2 TB": powers of 1000, as rates and disks are counted.
std::string bytes_text(double bytes);
/// "226 MB/s"
std::string rate_text(double bytes_per_second);
/// "35 s", "12 min", "4 h 38 min", "5 d 2 h"
std::string duration_text(double seconds);

}  // namespace fathom::cli
