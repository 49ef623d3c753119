// Values and directions from the indices of nearest sites, of one image.
#pragma once

#include "apps/direction.hd.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps::cpu {

/// @param nearest  int32 or int64, dense, of the input's shape
/// @param value    of the input's type and shape
void carry(const AnyConstView& input, const AnyConstView& nearest, const AnyView& value, const Execution& execution,
           int threads);

/// @param nearest    int32 or int64, dense, two axes
/// @param direction  float32
void direct(const AnyConstView& nearest, const Compass& compass, const AnyView& direction, const Execution& execution,
            int threads);

}  // namespace fathom::apps::cpu
