#include "reproduce/studies.h"

namespace fathom::cli {

namespace {

constexpr StudyRow kStudies[] = {
    {"khan", khan_study},
    {"pellet", pellet_study},
    {"cao", cao_study},
    {"landgraf", landgraf_study},
    {"man", man_study},
};

}  // namespace

std::span<const StudyRow> studies() { return kStudies; }

}  // namespace fathom::cli
