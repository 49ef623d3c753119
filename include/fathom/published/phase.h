// How long a part of a published algorithm took.
#pragma once

#include <string>

namespace fathom::published {

struct Phase {
  std::string name;
  double seconds = 0;
};

}  // namespace fathom::published
