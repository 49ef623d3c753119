#include "apps/cpu/morphology.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "apps/rows.h"
#include "fathom/core/error.h"

namespace fathom::apps::cpu {

namespace {

/// Calls work(the run in each array, n) for runs of n elements.
template <class Work, class... Pointers>
void by_runs(const Shape& shape, const std::array<Strides, sizeof...(Pointers)>& strides, const Crew& crew,
             const Work& work, Pointers... begin) {
  for_each_run(shape, strides, crew.execution, crew.threads, [&](const auto& offsets, std::int64_t n) {
    const auto call = [&]<std::size_t... K>(std::index_sequence<K...>) { work(begin + offsets[K]..., n); };
    call(std::index_sequence_for<Pointers...>());
  });
}

std::uint8_t* mask_of(const AnyView& view) { return reinterpret_cast<std::uint8_t*>(view.data()); }
const std::uint8_t* mask_of(const AnyConstView& view) { return reinterpret_cast<const std::uint8_t*>(view.data()); }

/// Calls work(pointer to the distances).
template <class Work>
void with_field(const AnyConstView& field, const Work& work) {
  if (field.dtype() == DType::float32) work(field.as<float>().data());
  else work(field.as<double>().data());
}

template <class V>
bool is_finite(V distance) {
  return distance <= std::numeric_limits<V>::max();
}

/// Calls work(pointer to elements of T, pointer to those of `out`).
template <class Work>
void with_input(const AnyConstView& input, bool is_mask, const AnyView& out, const Work& work) {
  visit_dtype(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* from = input.as<T>().data();
    if (is_mask) work(from, mask_of(out));
    else work(from, reinterpret_cast<T*>(out.data()));
  });
}

/// Calls work(pointer to the elements, the label as one of them); only of integers and bool.
template <class Work>
void with_label(const grid::Sites::Value& label, const AnyView& out, const Work& work) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    work(reinterpret_cast<T*>(out.data()),
         std::visit([](auto number) { return static_cast<T>(number); }, label.number));
  });
}

template <class Work>
void with_squares(const AnyConstView& squared, const AnyView& best, const Work& work) {
  if (squared.dtype() == DType::uint32) work(squared.as<std::uint32_t>().data(), best.as<std::uint32_t>().data());
  else if (squared.dtype() == DType::uint64) work(squared.as<std::uint64_t>().data(), best.as<std::uint64_t>().data());
  else work(squared.as<double>().data(), best.as<double>().data());
}

template <class V>
constexpr V most_of() {
  return std::is_floating_point_v<V> ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::max();
}

grid::Range element_at(const std::vector<std::int64_t>& index, int axis) {
  const std::int64_t at = index[static_cast<std::size_t>(axis)];
  return {at, at + 1};
}

}  // namespace

void threshold(const AnyConstView& field, bool finite, const AnyView& mask, const Crew& crew) {
  with_field(field, [&]<class V>(const V* distances) {
    const auto of_run = [far = static_cast<std::uint8_t>(!finite)](const V* distance, std::uint8_t* out,
                                                                   std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(is_finite(distance[i]) ? !far : far);
    };
    by_runs(field.shape(), {field.strides(), mask.strides()}, crew, of_run, distances, mask_of(mask));
  });
}

void clear_far(const AnyConstView& field, const AnyView& out, const Crew& crew) {
  with_field(field, [&](const auto* distances) {
    visit_dtype(out.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto of_run = [](const auto* distance, T* to, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = is_finite(distance[i]) ? to[i] : T{};
      };
      by_runs(field.shape(), {field.strides(), out.strides()}, crew, of_run, distances,
              reinterpret_cast<T*>(out.data()));
    });
  });
}

void keep_far(const AnyConstView& field, const AnyConstView& labels, const AnyView& out, const Crew& crew) {
  with_field(field, [&](const auto* distances) {
    visit_dtype(labels.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto of_run = [](const auto* distance, const T* label, T* kept, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) kept[i] = is_finite(distance[i]) ? T{} : label[i];
      };
      by_runs(field.shape(), {field.strides(), labels.strides(), out.strides()}, crew, of_run, distances,
              labels.as<T>().data(), out.as<T>().data());
    });
  });
}

void clear_object(const AnyConstView& input, const AnyView& out, const Crew& crew) {
  with_input(input, size_of(out.dtype()) == 1, out, [&]<class T, class Out>(const T* from, Out* to) {
    const auto of_run = [](const T* element, Out* result, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) result[i] = element[i] != T{} ? Out{} : result[i];
    };
    by_runs(input.shape(), {input.strides(), out.strides()}, crew, of_run, from, to);
  });
}

void keep_what_lacks(const AnyConstView& input, bool is_mask, const AnyView& out, const Crew& crew) {
  with_input(input, is_mask, out, [&]<class T, class Out>(const T* from, Out* to) {
    const auto of_run = [is_mask](const T* element, Out* result, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        result[i] = result[i] != Out{} ? Out{}
                    : is_mask          ? static_cast<Out>(element[i] != T{})
                                       : static_cast<Out>(element[i]);
    };
    by_runs(input.shape(), {input.strides(), out.strides()}, crew, of_run, from, to);
  });
}

void mark(const AnyConstView& input, const grid::Sites& object, const AnyView& mask, const Crew& crew) {
  visit_dtype(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool one = object.rule == grid::Sites::Rule::equal;
    const T label = std::visit([](auto number) { return static_cast<T>(number); }, object.value.number);
    const auto of_run = [one, label](const T* element, std::uint8_t* out, std::int64_t n) {
      if (one)
        for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(element[i] == label);
      else
        for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(element[i] != T{});
    };
    by_runs(input.shape(), {input.strides(), mask.strides()}, crew, of_run, input.as<T>().data(), mask_of(mask));
  });
}

void copy_mask(const AnyConstView& from, const AnyView& to, const Crew& crew) {
  const auto of_run = [](const std::uint8_t* mask, std::uint8_t* copy, std::int64_t n) { std::copy_n(mask, n, copy); };
  by_runs(from.shape(), {from.strides(), to.strides()}, crew, of_run, mask_of(from), mask_of(to));
}

std::vector<LabelBox> find_labels(const AnyConstView& labels, const Crew& crew) {
  return visit_dtype(labels.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto view = labels.as<T>();
    const int last = view.shape().rank() - 1;
    std::unordered_map<T, std::vector<grid::Range>> boxes;
    const std::int64_t n = view.shape()[last];
    std::vector<std::int64_t> index(static_cast<std::size_t>(last), 0);
    for (std::int64_t left = n == 0 ? 0 : element_count(view.shape()) / n; left > 0; --left) {
      if (crew.execution.stop.stop_requested()) throw Cancelled();
      const T* row = view.data();
      for (int axis = 0; axis < last; ++axis) row += index[static_cast<std::size_t>(axis)] * view.strides()[axis];
      for (std::int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && row[end] == row[begin];) ++end;
        if (row[begin] == T{}) continue;
        auto& box = boxes[row[begin]];
        const bool is_new = box.empty();
        box.resize(static_cast<std::size_t>(last) + 1);
        for (int axis = 0; axis <= last; ++axis) {
          const grid::Range here = axis == last ? grid::Range{begin, end} : element_at(index, axis);
          grid::Range& range = box[static_cast<std::size_t>(axis)];
          range = is_new ? here : grid::Range{std::min(range.begin, here.begin), std::max(range.end, here.end)};
        }
      }
      for (int axis = last; axis-- > 0 && ++index[static_cast<std::size_t>(axis)] == view.shape()[axis];)
        index[static_cast<std::size_t>(axis)] = 0;
    }
    std::vector<std::pair<T, std::vector<grid::Range>>> sorted(boxes.begin(), boxes.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<LabelBox> found;
    for (auto& [label, box] : sorted) found.push_back({label, std::move(box)});
    return found;
  });
}

void claim(const grid::Sites::Value& label, const AnyConstView& mask, const AnyConstView& squared, const AnyView& best,
           const AnyView& out, const Crew& crew) {
  with_squares(squared, best, [&]<class V>(const V* from, V* least) {
    with_label(label, out, [&]<class T>(T* to, T value) {
      const auto take = [value](V here, V& so_far, T& result) {
        if (!(here < so_far)) return;
        so_far = here;
        result = value;
      };
      const auto of_run = [take](const V* here, V* so_far, T* result, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) take(here[i], so_far[i], result[i]);
      };
      const auto of_masked_run = [take](const V* here, V* so_far, T* result, const std::uint8_t* covered,
                                        std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i)
          if (covered[i] != 0) take(here[i], so_far[i], result[i]);
      };
      const Shape& shape = squared.shape();
      if (mask.present())
        by_runs(shape, {squared.strides(), best.strides(), out.strides(), mask.strides()}, crew, of_masked_run, from,
                least, to, mask_of(mask));
      else by_runs(shape, {squared.strides(), best.strides(), out.strides()}, crew, of_run, from, least, to);
    });
  });
}

void claim(const grid::Sites::Value& label, const AnyConstView& mask, const AnyView& out, const Crew& crew) {
  with_label(label, out, [&]<class T>(T* to, T value) {
    const auto of_run = [value](const std::uint8_t* covered, T* result, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) result[i] = covered[i] != 0 ? value : result[i];
    };
    by_runs(mask.shape(), {mask.strides(), out.strides()}, crew, of_run, mask_of(mask), to);
  });
}

double farthest(const AnyConstView& field, const Crew& crew) {
  double most = 0;
  with_field(field, [&](const auto* distances) {
    const auto of_run = [&](const auto* distance, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        if (is_finite(distance[i])) most = std::max(most, static_cast<double>(distance[i]));
    };
    by_runs(field.shape(), {field.strides()}, {crew.execution, 1}, of_run, distances);
  });
  return most;
}

void fill(bool most, const AnyView& array, const Crew& crew) {
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = most ? most_of<T>() : T{};
    const auto of_run = [value](T* to, std::int64_t n) { std::fill_n(to, n, value); };
    by_runs(array.shape(), {array.strides()}, crew, of_run, reinterpret_cast<T*>(array.data()));
  });
}

}  // namespace fathom::apps::cpu
