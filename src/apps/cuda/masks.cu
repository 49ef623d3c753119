// Thresholds of distances, and what is made of them (masks.h). Thread = element, of thresholds four: 16 bytes are read,
// and 4 written, at once. Elements that are only copied, or asked whether they are 0, are bits of their size.
#include <limits>
#include <type_traits>

#include "apps/cuda/elements.cuh"
#include "apps/cuda/masks.h"
#include "fathom/core/error.h"

namespace fathom::apps::cuda {

namespace {

template <class Float>
struct Threshold {
  static constexpr int kElements = 4;

  const Float* distances;
  std::uint8_t* mask;
  Float most;
  bool near;

  __device__ void operator()(const Place<2>& place) const {
    const Float* const from = distances + place.at[0];
    std::uint8_t* const to = mask + place.at[1];
    if constexpr (sizeof(Float) == 4) {
      if (place.count == 4 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0 &&
          reinterpret_cast<std::uintptr_t>(to) % 4 == 0) {
        const float4 four = __ldcs(reinterpret_cast<const float4*>(from));
        const auto at = [&](float distance) { return unsigned{(distance <= most) == near}; };
        *reinterpret_cast<unsigned*>(to) = at(four.x) | at(four.y) << 8 | at(four.z) << 16 | at(four.w) << 24;
        return;
      }
    }
    for (int k = 0; k < place.count; ++k) to[k] = (from[k] <= most) == near;
  }
};

template <class Float, class Bits>
struct Keep {
  static constexpr int kElements = 1;

  const Float* distances;
  const Bits* from;
  Bits* to;
  Float most;
  bool near;

  __device__ void operator()(const Place<3>& place) const {
    to[place.at[2]] = (distances[place.at[0]] <= most) == near ? from[place.at[1]] : Bits{};
  }
};

/// What is left of an array without another.
template <class Bits, class Out>
struct Difference {
  static constexpr int kElements = 1;

  const Bits* input;
  Out* out;
  Bits significant;  ///< bits of the input that are not all 0 where an element is not
  bool of_input;     ///< the input without `out`; else `out` without the input
  bool is_mask;

  __device__ void operator()(const Place<2>& place) const {
    const Bits element = input[place.at[0]];
    Out& result = out[place.at[1]];
    const bool some = (element & significant) != 0;
    if (!of_input) result = some ? Out{} : result;
    else result = result != Out{} ? Out{} : is_mask ? static_cast<Out>(some) : static_cast<Out>(element);
  }
};

template <class Bits>
struct Copy {
  static constexpr int kElements = 1;

  const Bits* from;
  Bits* to;

  __device__ void operator()(const Place<2>& place) const { to[place.at[1]] = from[place.at[0]]; }
};

template <class Bits>
struct Fill {
  static constexpr int kElements = 1;

  Bits* to;
  Bits value;

  __device__ void operator()(const Place<1>& place) const { to[place.at[0]] = value; }
};

template <class Square, class Bits>
struct Claim {
  static constexpr int kElements = 1;

  const std::uint8_t* mask;
  const Square* squared;
  Square* best;
  Bits* out;
  Bits label;

  __device__ void operator()(const Place<4>& place) const {
    if (mask && mask[place.at[0]] == 0) return;
    if (squared) {
      const Square here = squared[place.at[1]];
      if (!(here < best[place.at[2]])) return;
      best[place.at[2]] = here;
    }
    out[place.at[3]] = label;
  }
};

/// Calls work(pointer to the distances, the last near one as one of them).
template <class Work>
void with_field(const Field& field, const Work& work) {
  if (field.distances.dtype() == DType::float32)
    work(field.distances.as<float>().data(), static_cast<float>(field.most));
  else work(field.distances.as<double>().data(), field.most);
}

template <class Bits, class View>
auto* bits_of(const View& view) {
  using Pointed = std::remove_pointer_t<decltype(view.data())>;
  return reinterpret_cast<std::conditional_t<std::is_const_v<Pointed>, const Bits, Bits>*>(view.data());
}

void subtract(const AnyConstDeviceView& input, bool of_input, bool is_mask, const AnyDeviceView& out,
              cudaStream_t stream) {
  with_bits(size_of(input.dtype()), [&]<class Bits>(Bits) {
    const bool is_float = input.dtype() == DType::float32 || input.dtype() == DType::float64;
    const auto significant = static_cast<Bits>(is_float ? ~Bits{} >> 1 : ~Bits{});  // zeros may have a sign
    const auto run = [&]<class Out>(Out* to) {
      for_each_element<2>(input.shape(), {input.strides(), out.strides()},
                          Difference<Bits, Out>{bits_of<Bits>(input), to, significant, of_input, is_mask},
                          "subtracting masks", stream);
    };
    if (size_of(out.dtype()) == 1) run(bits_of<std::uint8_t>(out));
    else run(bits_of<Bits>(out));
  });
}

}  // namespace

void threshold(const Field& field, bool near, const AnyDeviceView& mask, cudaStream_t stream) {
  with_field(field, [&]<class Float>(const Float* distances, Float most) {
    for_each_element<2>(mask.shape(), {field.distances.strides(), mask.strides()},
                        Threshold<Float>{distances, bits_of<std::uint8_t>(mask), most, near}, "thresholding", stream);
  });
}

void keep(const Field& field, bool near, const AnyConstDeviceView& from, const AnyDeviceView& to, cudaStream_t stream) {
  with_field(field, [&]<class Float>(const Float* distances, Float most) {
    with_bits(size_of(to.dtype()), [&]<class Bits>(Bits) {
      for_each_element<3>(to.shape(), {field.distances.strides(), from.strides(), to.strides()},
                          Keep<Float, Bits>{distances, bits_of<Bits>(from), bits_of<Bits>(to), most, near},
                          "thresholding", stream);
    });
  });
}

void clear_object(const AnyConstDeviceView& input, const AnyDeviceView& out, cudaStream_t stream) {
  subtract(input, false, false, out, stream);
}

void keep_what_lacks(const AnyConstDeviceView& input, bool is_mask, const AnyDeviceView& out, cudaStream_t stream) {
  subtract(input, true, is_mask, out, stream);
}

void copy_elements(const AnyConstDeviceView& from, const AnyDeviceView& to, cudaStream_t stream) {
  with_bits(size_of(to.dtype()), [&]<class Bits>(Bits) {
    for_each_element<2>(to.shape(), {from.strides(), to.strides()}, Copy<Bits>{bits_of<Bits>(from), bits_of<Bits>(to)},
                        "copying", stream);
  });
}

void fill_elements(bool most, const AnyDeviceView& array, cudaStream_t stream) {
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<T>;
    const T value = !most ? T{} : Limits::has_infinity ? Limits::infinity() : Limits::max();
    for_each_element<1>(array.shape(), {array.strides()}, Fill<T>{bits_of<T>(array), value}, "filling", stream);
  });
}

void claim(const grid::Sites::Value& label, const AnyConstDeviceView& mask, const AnyConstDeviceView& squared,
           const AnyDeviceView& best, const AnyDeviceView& out, cudaStream_t stream) {
  const auto strides = [](const auto& view) { return view.present() ? view.strides() : Strides(); };
  const auto run = [&]<class Square>(const Square* distances, Square* least) {
    with_bits(size_of(out.dtype()), [&]<class Bits>(Bits) {
      const auto value = std::visit([](auto number) { return static_cast<Bits>(number); }, label.number);
      const Strides& of_out = out.strides();
      const auto or_out = [&](const Strides& some) { return some.empty() ? of_out : some; };
      for_each_element<4>(out.shape(), {or_out(strides(mask)), or_out(strides(squared)), or_out(strides(best)), of_out},
                          Claim<Square, Bits>{mask.present() ? bits_of<std::uint8_t>(mask) : nullptr, distances, least,
                                              bits_of<Bits>(out), value},
                          "giving elements to a label", stream);
    });
  };
  if (!squared.present()) run(static_cast<const std::uint32_t*>(nullptr), static_cast<std::uint32_t*>(nullptr));
  else if (squared.dtype() == DType::uint32) run(squared.as<std::uint32_t>().data(), best.as<std::uint32_t>().data());
  else if (squared.dtype() == DType::uint64) run(squared.as<std::uint64_t>().data(), best.as<std::uint64_t>().data());
  else run(squared.as<double>().data(), best.as<double>().data());
}

}  // namespace fathom::apps::cuda
