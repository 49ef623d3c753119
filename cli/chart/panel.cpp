#include "chart/panel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace fathom::cli {

namespace {

/// More samples than this along an axis of a box change no colour that an eye could see.
constexpr std::int64_t kSamplesPerAxis = 8;

template <class T>
bool has_distance(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isfinite(value);
  else return value != std::numeric_limits<T>::max();
}

/// Elements [begin, end) of an axis that fall into a cell, and the step between those looked at.
struct Box {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t step;
};

Box box_of(int cell, int cells, std::int64_t extent) {
  const auto edge = [&](int k) {
    return static_cast<std::int64_t>(static_cast<double>(extent) * k / cells);
  };
  const std::int64_t begin = edge(cell);
  const std::int64_t end = std::max(cell + 1 == cells ? extent : edge(cell + 1), begin + 1);
  return {begin, end, (end - begin + kSamplesPerAxis - 1) / kSamplesPerAxis};
}

template <class T>
void fill_cell(const HostView<const T>& plane, const Box& rows, const Box& columns, Panel& panel, std::size_t cell) {
  std::int64_t looked_at = 0;
  std::int64_t reached = 0;
  std::int64_t zeros = 0;
  double sum = 0;
  for (std::int64_t y = rows.begin; y < rows.end; y += rows.step) {
    const T* row = plane.data() + y * plane.strides()[0];
    for (std::int64_t x = columns.begin; x < columns.end; x += columns.step) {
      ++looked_at;
      if (!has_distance(row[x])) continue;
      ++reached;
      zeros += row[x] == T{};
      sum += static_cast<double>(row[x]);
    }
  }
  const auto of = [](std::int64_t part, std::int64_t whole) {
    return static_cast<float>(part) / static_cast<float>(std::max<std::int64_t>(whole, 1));
  };
  panel.value[cell] = reached == 0 ? std::numeric_limits<float>::quiet_NaN()
                                   : static_cast<float>(sum / static_cast<double>(reached));
  panel.reached[cell] = of(reached, looked_at);
  panel.at_site[cell] = of(zeros, reached);
}

}  // namespace

AnyConstView middle_slice(const AnyConstView& field, int axes) {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;
  for (int axis = 0; axis < field.rank(); ++axis) {
    if (axis < field.rank() - axes) {
      offset += field.shape()[axis] / 2 * field.strides()[axis];
    } else {
      shape.push_back(field.shape()[axis]);
      strides.push_back(field.strides()[axis]);
    }
  }
  const auto bytes = offset * static_cast<std::int64_t>(size_of(field.dtype()));
  return {field.data() + bytes, field.dtype(), shape, strides};
}

Panel sample(const AnyConstView& plane, int width, int height) {
  Panel panel{width, height, {}, {}, {}};
  const std::size_t cells = panel.index(0, height);
  panel.value.resize(cells);
  panel.reached.resize(cells);
  panel.at_site.resize(cells);
  visit_dtype(plane.dtype(), [&](auto tag) {
    const auto typed = plane.as<typename decltype(tag)::type>();
    for (int y = 0; y < height; ++y) {
      const Box rows = box_of(y, height, plane.shape()[0]);
      for (int x = 0; x < width; ++x)
        fill_cell(typed, rows, box_of(x, width, plane.shape()[1]), panel, panel.index(x, y));
    }
  });
  return panel;
}

Panel interpolate(const AnyConstView& plane, int width, int height) {
  Panel panel{width, height, {}, {}, {}};
  const std::size_t cells = panel.index(0, height);
  panel.value.resize(cells);
  panel.reached.assign(cells, 1);
  panel.at_site.assign(cells, 0);
  struct Place {
    std::int64_t low, high;
    float share;
  };
  const auto place_of = [](int pixel, int pixels, std::int64_t extent) {
    const double at =
        std::clamp((pixel + 0.5) / pixels * static_cast<double>(extent) - 0.5, 0.0, static_cast<double>(extent - 1));
    const auto low = static_cast<std::int64_t>(at);
    return Place{low, std::min(low + 1, extent - 1), static_cast<float>(at - static_cast<double>(low))};
  };
  const auto values = plane.as<float>();
  for (int y = 0; y < height; ++y) {
    const Place row = place_of(y, height, plane.shape()[0]);
    for (int x = 0; x < width; ++x) {
      const Place column = place_of(x, width, plane.shape()[1]);
      const auto along = [&](std::int64_t line) {
        const float* const from = values.data() + line * plane.strides()[0];
        return std::lerp(from[column.low], from[column.high], column.share);
      };
      panel.value[panel.index(x, y)] = std::lerp(along(row.low), along(row.high), row.share);
    }
  }
  return panel;
}

Envelope sample_line(const AnyConstView& line, int columns) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Envelope envelope{std::vector<double>(static_cast<std::size_t>(columns), kNone), {}};
  envelope.high = envelope.low;
  visit_dtype(line.dtype(), [&](auto tag) {
    const auto typed = line.as<typename decltype(tag)::type>();
    for (int column = 0; column < columns; ++column) {
      const Box box = box_of(column, columns, line.shape()[0]);
      double& low = envelope.low[static_cast<std::size_t>(column)];
      double& high = envelope.high[static_cast<std::size_t>(column)];
      for (std::int64_t k = box.begin; k < box.end; ++k) {
        const auto element = typed.data()[k];
        if (!has_distance(element)) continue;
        const auto value = static_cast<double>(element);
        low = std::isnan(low) ? value : std::min(low, value);
        high = std::isnan(high) ? value : std::max(high, value);
      }
    }
  });
  return envelope;
}

}  // namespace fathom::cli
