// The medial axis, its balls and local thickness on a device against the CPU, byte for byte: between arrays of the host,
// and between those of the device. Devices that are emulated pass these tests, too.
#include <cuda_runtime_api.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "apps/axis_cases.h"
#include "apps/device_spread.h"
#include "fathom/core/error.h"
#include "oracle.h"

namespace fathom::test {
namespace {

using namespace apps;

Spread spread_of(const Array& array, Random& random) {
  const Spread spread(array.dtype(), array.shape(), random);
  spread.each([&](std::int64_t i, auto& element) {
    element = static_cast<std::remove_reference_t<decltype(element)>>(value_at(array, i));
  });
  return copy_of(spread);
}

/// The first axes count images, at times.
template <class Options>
void maybe_batch(Options& options, int rank, Random& random) {
  if (rank == 1 || chance(random, .6)) return;
  options.batch_axes = static_cast<int>(1 + below(random, rank - 1));
  if (options.spacing.size() > 1)
    options.spacing.erase(options.spacing.begin(), options.spacing.begin() + options.batch_axes);
}

/// Arrays that a call writes: as they were, and what the CPU makes of them.
struct Written {
  std::vector<Spread> before, expected;

  std::size_t add(DType dtype, const Shape& shape, Random& random) {
    before.push_back(Spread(dtype, shape, random));
    expected.push_back(copy_of(before.back()));
    return before.size() - 1;
  }
};

/// Calls on_device(views there) and on_host(views), which write what was expected.
template <class OnDevice, class OnHost>
void compare(const Written& written, const OnDevice& on_device, const OnHost& on_host) {
  std::vector<SpreadThere> there;
  std::vector<AnyDeviceView> views;
  for (const Spread& one : written.before) views.push_back(there.emplace_back(one).view());
  on_device(views);
  for (std::size_t k = 0; k < there.size(); ++k) ASSERT_TRUE(there[k].equals(written.expected[k])) << "output " << k;

  std::vector<Spread> here;
  std::vector<AnyView> host_views;
  for (const Spread& one : written.before) host_views.push_back(here.emplace_back(copy_of(one)).view);
  on_host(host_views);
  for (std::size_t k = 0; k < here.size(); ++k) ASSERT_TRUE(equal(here[k], written.expected[k])) << "output " << k;
}

/// Runs a call between arrays of the host on a device, in no more memory than it said.
/// @param bytes, run  what it says, and the call, by the options
template <class Options, class Bytes, class Run>
void run_there(Options options, const Bytes& bytes, const Run& run) {
  options.execution.backend = Backend::cuda;
  options.execution.scratch_limit = bytes(options);
  const auto report = run(options);
  EXPECT_EQ(report.scratch_bytes, *options.execution.scratch_limit);
  EXPECT_EQ(report.backend, Backend::cuda);
  EXPECT_EQ(report.device, describe_device(current_device()).name);
  options.execution.scratch_limit = report.scratch_bytes - 1;
  EXPECT_THROW(run(options), InvalidArgument);
}

template <MemorySpace Space>
BasicMedialAxisOutputs<Space> outputs_of(const std::vector<BasicAnyView<std::byte, Space>>& views,
                                         const std::vector<int>& which) {
  BasicMedialAxisOutputs<Space> outputs;
  BasicAnyView<std::byte, Space>* const all[] = {&outputs.axis, &outputs.distance, &outputs.nearest, &outputs.witness};
  for (std::size_t k = 0; k < which.size(); ++k) *all[which[k]] = views[k];
  return outputs;
}

std::vector<AnyView> views_of(const std::vector<Spread>& spreads) {
  std::vector<AnyView> views;
  for (const Spread& one : spreads) views.push_back(one.view);
  return views;
}

void check_axis(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  AxisProblem p = axis_problem(seed);
  Random random(seed + 1);
  const Shape& shape = p.mask.shape();
  maybe_batch(p.options, shape.rank(), random);
  const Spread input = spread_of(p.mask, random);
  const DType types[][2] = {{DType::boolean, DType::uint8},
                            {DType::float32, DType::float64},
                            {DType::int32, DType::int64},
                            {DType::int32, DType::int64}};
  Written written;
  std::vector<int> which;
  for (int k = 0; k < 4; ++k)
    if (chance(random, .6) || (k == 3 && which.empty())) {
      which.push_back(k);
      written.add(types[k][below(random, 2)], shape, random);
    }
  medial_axis(input.view, p.options, outputs_of(views_of(written.expected), which));
  const SpreadThere there(input);
  compare(
      written,
      [&](const std::vector<AnyDeviceView>& views) {
        const DeviceMedialAxisOutputs outputs = outputs_of(views, which);
        const MedialAxisReport report = medial_axis(there.view(), p.options, outputs);
        EXPECT_EQ(report.scratch_bytes, scratch_bytes(there.view(), p.options, outputs));
      },
      [&](const std::vector<AnyView>& views) {
        const MedialAxisOutputs outputs = outputs_of(views, which);
        run_there(
            p.options, [&](const auto& options) { return scratch_bytes(input.view, options, outputs); },
            [&](const auto& options) { return medial_axis(input.view, options, outputs); });
      });
}

TEST_F(AppsOnDevice, MedialAxisAsOnTheCpu) {
  if (const auto seed = seed_to_replay()) return check_axis(*seed);
  for (int k = 0; k < scaled(1500) && !HasFatalFailure(); ++k) check_axis(static_cast<std::uint64_t>(k));
}

/// From nearest sites: the axis, and then the balls of some of its elements.
void check_of_nearest(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  AxisProblem p = axis_problem(seed);
  Random random(seed + 1);
  const Shape& shape = p.mask.shape();
  maybe_batch(p.options, shape.rank(), random);
  const DType index = chance(random, .5) ? DType::int32 : DType::int64;
  const Spread nearest(index, shape, random);
  medial_axis(p.mask.view(), p.options, {{}, {}, nearest.view, {}});
  const SpreadThere sites(nearest);

  Written axis;
  axis.add(DType::uint8, shape, random);
  axis.add(DType::int32, shape, random);
  const std::vector<int> which = {0, 3};
  medial_axis_of_nearest(nearest.view, p.options, outputs_of(views_of(axis.expected), which));
  compare(
      axis,
      [&](const std::vector<AnyDeviceView>& views) {
        EXPECT_EQ(medial_axis_of_nearest(sites.view(), p.options, outputs_of(views, which)).scratch_bytes, 0U);
      },
      [&](const std::vector<AnyView>& views) {
        MedialAxisOptions options = p.options;
        options.execution.backend = Backend::cuda;
        medial_axis_of_nearest(nearest.view, options, outputs_of(views, which));
      });

  AxisBallsOptions options;
  options.spacing = p.options.spacing;
  options.batch_axes = p.options.batch_axes;
  const Spread chosen(pick<DType>(random, {DType::uint8, DType::float32, DType::int16}), shape, random);
  const double density = pick<double>(random, {.02, .3, 1});
  chosen.each([&](std::int64_t, auto& element) {
    element = static_cast<std::remove_reference_t<decltype(element)>>(chance(random, density) ? 1 : 0);
  });
  const SpreadThere chosen_there(chosen);
  Written covered;
  covered.add(chance(random, .5) ? DType::uint8 : DType::boolean, shape, random);
  axis_balls(chosen.view, nearest.view, options, covered.expected[0].view);
  compare(
      covered,
      [&](const std::vector<AnyDeviceView>& views) {
        const MedialAxisReport report = axis_balls(chosen_there.view(), sites.view(), options, views[0]);
        EXPECT_EQ(report.scratch_bytes, scratch_bytes(chosen_there.view(), sites.view(), options, views[0]));
      },
      [&](const std::vector<AnyView>& views) {
        run_there(
            options, [&](const auto& own) { return scratch_bytes(chosen.view, nearest.view, own, views[0]); },
            [&](const auto& own) { return axis_balls(chosen.view, nearest.view, own, views[0]); });
      });
}

TEST_F(AppsOnDevice, AxisOfNearestAndItsBallsAsOnTheCpu) {
  if (const auto seed = seed_to_replay()) return check_of_nearest(*seed);
  for (int k = 0; k < scaled(700) && !HasFatalFailure(); ++k) check_of_nearest(static_cast<std::uint64_t>(10000 + k));
}

/// @param inlets  absent: balls are everywhere
void check_thickness(const Array& mask, LocalThicknessOptions options, Random& random, const Array* inlets = nullptr) {
  const Spread input = spread_of(mask, random);
  std::optional<Spread> entrances;
  std::optional<SpreadThere> entrances_there;
  if (inlets) options.inlets = entrances.emplace(spread_of(*inlets, random)).view;
  Written written;
  written.add(chance(random, .5) ? DType::float32 : DType::float64, mask.shape(), random);
  local_thickness(input.view, options, written.expected[0].view);
  const SpreadThere there(input);
  DeviceLocalThicknessOptions of_device{options.spacing, options.batch_axes, {}, options.from_faces, options.execution};
  if (inlets) of_device.inlets = entrances_there.emplace(*entrances).view();
  compare(
      written,
      [&](const std::vector<AnyDeviceView>& views) {
        const LocalThicknessReport report = local_thickness(there.view(), of_device, views[0]);
        EXPECT_EQ(report.scratch_bytes, scratch_bytes(there.view(), of_device, views[0]));
      },
      [&](const std::vector<AnyView>& views) {
        run_there(
            options, [&](const auto& own) { return scratch_bytes(input.view, own, views[0]); },
            [&](const auto& own) { return local_thickness(input.view, own, views[0]); });
      });
}

TEST_F(AppsOnDevice, LocalThicknessAsOnTheCpu) {
  for (int k = 0; k < scaled(1000) && !HasFatalFailure(); ++k) {
    const std::uint64_t seed = seed_to_replay().value_or(static_cast<std::uint64_t>(20000 + k));
    SCOPED_TRACE(seed);
    ThicknessProblem p = thickness_problem(seed);
    Random random(seed + 1);
    maybe_batch(p.options, p.mask.shape().rank(), random);
    check_thickness(p.mask, p.options, random, p.options.inlets.present() ? &p.inlets : nullptr);
    if (seed_to_replay()) break;
  }
}

/// Balls in many parts, tiles that many cover, and squares of all types.
TEST_F(AppsOnDevice, LocalThicknessOfLargerImages) {
  struct Case {
    Shape shape;
    double sites;
    std::vector<double> spacing;
  };
  const Case cases[] = {{{180, 200}, 1e-4, {}}, {{24, 30, 40}, 2e-4, {}}, {{24, 30, 40}, 2e-3, {2, .7, 1.3}},
                        {{3, 66000}, .02, {}},  {{3, 900}, .01, {1, .3}}, {{300, 1}, .01, {}}};
  Random random(4);
  for (const Case& c : cases) {
    LocalThicknessOptions options;
    options.spacing = c.spacing;
    const Array mask = mask_array(scatter(c.shape, c.sites, random), c.shape);
    check_thickness(mask, options, random);
    options.from_faces = true;
    if (c.shape.rank() == 3) check_thickness(mask, options, random);
  }
}

/// Trees of steps that are deep, and many rounds: a ramp, a spiral, a wide pore all alike, and chambers behind throats.
TEST_F(AppsOnDevice, PorosimetryOfLongWays) {
  Random random(6);
  const auto check = [&](const Shape& shape, const auto& is_pore, const auto& is_inlet) {
    std::vector<bool> background, open;
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      const std::int64_t y = i / shape[1], x = i % shape[1];
      background.push_back(!is_pore(y, x));
      open.push_back(is_inlet(y, x));
    }
    const Array inlets = mask_array(open, shape, DType::uint8, false);
    check_thickness(mask_array(background, shape), {}, random, &inlets);
  };
  const auto left = [](std::int64_t, std::int64_t x) { return x == 0; };
  check({120, 240}, [](std::int64_t y, std::int64_t x) { return std::abs(2 * (y - 60)) < x / 2 + 2; }, left);
  check({61, 83}, [](std::int64_t y, std::int64_t x) { return y % 2 == 0 || x == (y % 4 == 1 ? 82 : 0); },
        [](std::int64_t y, std::int64_t x) { return y == 0 && x == 5; });
  check({90, 130}, [](std::int64_t, std::int64_t) { return true; }, left);
  check({90, 130}, [](std::int64_t, std::int64_t) { return true; }, [](std::int64_t, std::int64_t) { return false; });
  check({96, 128}, [](std::int64_t y, std::int64_t x) { return (y % 16 > 1 && x % 16 > 1) || (y + x) % 7 == 0; }, left);
}

TEST_F(AppsOnDevice, AxesOfLargerImages) {
  Random random(5);
  for (const Shape& shape : {Shape{130, 217}, Shape{20, 31, 40}, Shape{2, 17000}})
    for (const Pruning pruning : {Pruning::constant, Pruning::linear, Pruning::square_root}) {
      MedialAxisOptions options;
      options.pruning = pruning;
      options.gamma = 2;
      const Array mask = mask_array(make_sites(Structure::blobs, shape, random), shape);
      Array expected(DType::uint8, shape), found(DType::uint8, shape);
      medial_axis(mask.view(), options, {expected.view(), {}, {}, {}});
      options.execution.backend = Backend::cuda;
      medial_axis(mask.view(), options, {found.view(), {}, {}, {}});
      ASSERT_TRUE(equal(found, expected)) << to_string(shape) << " " << static_cast<int>(pruning);
    }
}

TEST_F(AppsOnDevice, AxesAndThicknessRefuse) {
  Random random(1);
  const Spread host(DType::uint8, {4, 5}, random), real(DType::float32, {4, 5}, random);
  const SpreadThere there(host), other(host), floats(real);
  const auto said = [](const auto& call) { return refusal(call); };
  MedialAxisOptions options;
  EXPECT_EQ(said([&] { medial_axis(there.view(), options, {}); }),
            "no output was given; give axis, distance, nearest or witness");
  options.execution.backend = Backend::cpu;
  EXPECT_EQ(said([&] {
              medial_axis(there.view(), options, {other.view(), {}, {}, {}});
            }),
            "the arrays are in a device's memory, where the backend cpu cannot work; use auto or cuda");
  options.execution.backend = Backend::automatic;
  options.execution.scratch_limit = 10;
  EXPECT_EQ(said([&] {
              medial_axis(there.view(), options, {other.view(), {}, {}, {}});
            }),
            "the scratch limit of 10 bytes is too small; what works here is " +
                std::to_string(scratch_bytes(there.view(), options, {other.view(), {}, {}, {}})) + " bytes");
  const AnyConstDeviceView not_there(host.memory.data(), DType::uint8, {4, 5});
  EXPECT_THROW(medial_axis(not_there, {}, {other.view(), {}, {}, {}}), InvalidArgument);
  DeviceLocalThicknessOptions with_inlets;
  with_inlets.inlets = AnyConstDeviceView(host.memory.data(), DType::uint8, {4, 5});
  EXPECT_THROW(local_thickness(there.view(), with_inlets, floats.view()), InvalidArgument);
  with_inlets.inlets = AnyConstDeviceView(other.view().data(), DType::uint8, {5, 4});
  EXPECT_EQ(said([&] { local_thickness(there.view(), with_inlets, floats.view()); }),
            "the inlets have the shape 5 × 4; they must have 4 × 5, as the input");
}

/// Of arrays of the host; a device's are not looked at.
TEST_F(AppsOnDevice, IndicesBeyondTheImageAreRefused) {
  Array axis(DType::uint8, {2, 3}), nearest(DType::int32, {2, 3}), out(DType::uint8, {2, 3});
  for (std::int64_t k = 0; k < 6; ++k) store(nearest, k, static_cast<double>(k));
  store(nearest, 4, 6);
  poison(out);
  MedialAxisOptions pruned;
  AxisBallsOptions balls;
  pruned.execution.backend = balls.execution.backend = Backend::cuda;
  const std::string expected = "'nearest' holds 6 as element 4 of an image of 6; give the index of one of them";
  const std::string axes = refusal([&] { medial_axis_of_nearest(nearest.view(), pruned, {.axis = out.view()}); }),
                    covered = refusal([&] { axis_balls(axis.view(), nearest.view(), balls, out.view()); });
  EXPECT_EQ(axes.substr(0, expected.size()), expected);
  EXPECT_EQ(covered.substr(0, expected.size()), expected);
  EXPECT_TRUE(is_poisoned(out));
}

}  // namespace
}  // namespace fathom::test
