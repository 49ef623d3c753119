#include "reproduce/studies.h"

namespace fathom::cli {

namespace {

constexpr StudyRow kStudies[] = {
    {"cao", cao_study},
    {"man", man_study},
};

}  // namespace

std::span<const StudyRow> studies() { return kStudies; }

}  // namespace fathom::cli
