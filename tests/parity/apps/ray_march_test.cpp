// Pictures: the same bytes for every way of stepping, and the voxels that brute force finds.
#include "fathom/apps/ray_march.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "apps/camera.h"
#include "apps/scenes.h"
#include "fathom/core/device.h"

namespace fathom::test {
namespace {

using namespace apps;
constexpr double kPi = std::numbers::pi;
constexpr float kNone = std::numeric_limits<float>::infinity();

/// Where the ray enters the voxel's cube, +inf if it misses it.
double entry_by_planes(const Ray& ray, const std::array<std::int64_t, 3>& voxel) {
  double in = 0, out = HUGE_VAL;
  for (std::size_t k = 0; k < 3; ++k) {
    const double low = static_cast<double>(voxel[k]) - 0.5 - ray.origin[k];
    const double high = static_cast<double>(voxel[k]) + 0.5 - ray.origin[k];
    if (ray.direction[k] == 0) {
      if (low > 0 || high < 0) return HUGE_VAL;
      continue;
    }
    in = std::max(in, std::min(low / ray.direction[k], high / ray.direction[k]));
    out = std::min(out, std::max(low / ray.direction[k], high / ray.direction[k]));
  }
  return in <= out ? in : HUGE_VAL;
}

/// The found cube is the first of all that the ray enters: of every eleventh ray.
void check_by_brute_force(const Scene& scene, const Picture& picture) {
  const Shape& shape = scene.volume.shape();
  std::vector<std::int64_t> solid_voxels;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    if (value_at(scene.volume, i) != 0) solid_voxels.push_back(i);
  const Solid solid = solid_of(scene.volume.view(), std::nullopt, 1);
  std::array<double, 3> spacing{1, 1, 1};
  if (!scene.marcher.spacing.empty()) std::copy_n(scene.marcher.spacing.begin(), 3, spacing.begin());
  const Frame frame = frame_of(scene.march.camera, solid, spacing, scene.picture);
  for (std::int64_t pixel = 0; pixel < element_count(scene.picture); pixel += 11) {
    const Ray ray = ray_of(frame, pixel / scene.picture[1], pixel % scene.picture[1]);
    const std::int64_t found = picture.voxel.as<std::int64_t>().data()[pixel];
    double first = HUGE_VAL, entry_of_found = HUGE_VAL;
    for (std::int64_t i : solid_voxels) {
      const double entry = entry_by_planes(ray, {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]});
      first = std::min(first, entry);
      if (i == found) entry_of_found = entry;
    }
    const float depth = picture.depth.as<float>().data()[pixel];
    if (found < 0) {
      ASSERT_EQ(depth, kNone);
      ASSERT_EQ(picture.shade.as<std::uint8_t>().data()[pixel], 255);
      ASSERT_EQ(first, HUGE_VAL) << "pixel " << pixel;
      continue;
    }
    ASSERT_NEAR(depth, first * ray.unit, 1e-5 * first * ray.unit + 1e-6) << "pixel " << pixel;
    ASSERT_NEAR(entry_of_found, first, 1e-9 * first) << "pixel " << pixel;
  }
}

TEST(RayMarching, FindsTheVoxelThatBruteForceFinds) {
  for (int i = 0; i < scaled(40); ++i) {
    Scene scene = random_scene(static_cast<std::uint64_t>(i) + 1);
    // Off the lattice, no ray runs along a face.
    scene.march.camera.toward_eye[0] += 0.37;
    scene.march.camera.toward_eye[1] += 0.41;
    SCOPED_TRACE("seed " + std::to_string(i + 1));
    check_by_brute_force(scene, render(RayMarcher(scene.volume.view(), scene.marcher), scene.march, scene.picture));
    if (HasFatalFailure()) return;
  }
}

TEST(RayMarching, DrawsTheSamePictureHoweverItSteps) {
  std::int64_t unit_samples = 0, cone_samples = 0;
  for (int i = 0; i < scaled(150); ++i) {
    Scene scene = random_scene(1000 + static_cast<std::uint64_t>(i));
    SCOPED_TRACE("seed " + std::to_string(1000 + i));
    scene.marcher.stepping = Stepping::unit;
    scene.march.execution.threads = 1;
    const Picture expected = render(RayMarcher(scene.volume.view(), scene.marcher), scene.march, scene.picture);
    ASSERT_FALSE(is_poisoned(expected.depth));
    for (Stepping stepping : {Stepping::field, Stepping::pointwise, Stepping::cone}) {
      scene.marcher.stepping = stepping;
      const RayMarcher marcher(scene.volume.view(), scene.marcher);
      for (double angle : {0.0, 1e-3, kPi / 5, kPi / 2, kPi}) {
        if (stepping != Stepping::cone && angle > 0) continue;
        scene.march.half_angle = angle;
        scene.march.execution.threads = 1 + i % 3;
        const Picture picture = render(marcher, scene.march, scene.picture);
        ASSERT_TRUE(same(expected, picture)) << static_cast<int>(stepping) << " " << angle;
        EXPECT_EQ(picture.report.hits, expected.report.hits);
        for (std::int64_t p = 0; p < element_count(scene.picture); ++p)
          ASSERT_LE(value_at(picture.samples, p), value_at(expected.samples, p));
        if (angle == 0 && stepping == Stepping::cone) cone_samples += picture.report.samples;
      }
    }
    unit_samples += expected.report.samples;
  }
  EXPECT_LT(2 * cone_samples, unit_samples);  // and it is worth it
}

/// A ball's normals are known: from this far they decide the shade alone.
TEST(RayMarching, ShadesABallByItsNormals) {
  constexpr std::int64_t kExtent = 81;
  Array volume(DType::int16, {kExtent, kExtent, kExtent});
  for (std::int64_t i = 0; i < volume.size(); ++i) {
    const std::int64_t z = i / (kExtent * kExtent) - 40, y = i / kExtent % kExtent - 40, x = i % kExtent - 40;
    volume.as<std::int16_t>().data()[i] = static_cast<std::int16_t>(2000 - (z * z + y * y + x * x));
  }
  RayMarcherOptions options = marcher_on(Backend::cpu);
  options.threshold = 2000 - 36 * 36;
  options.spacing = {2};
  RayMarchOptions march;
  march.camera.projection = Projection::orthographic;
  march.camera.toward_eye = {0, -1, 0};  // right is along the last axis, down against the first
  const Picture picture = render(RayMarcher(volume.view(), options), march, {201, 201});
  const double pixel = 2 * 36.5 / (0.92 * 201), light_length = std::sqrt(1 + 0.16 + 0.25);
  double error = 0;
  std::int64_t count = 0;
  for (std::int64_t p = 0; p < 201 * 201; ++p) {
    const double x = static_cast<double>(p % 201 - 100) * pixel, z = -static_cast<double>(p / 201 - 100) * pixel;
    if (x * x + z * z > 30 * 30) continue;
    const double y = -std::sqrt(36.3 * 36.3 - x * x - z * z);
    const double cosine = (-y - 0.4 * x + 0.5 * z) / (36.3 * light_length);
    error += std::abs(value_at(picture.shade, p) - (30 + 205 * std::max(0.0, cosine)));
    // The eye's plane stands twice the ball's radius, 2 · 36.5 · √3 · 2, from the middle.
    EXPECT_NEAR(value_at(picture.depth, p), 4 * std::sqrt(3.0) * 36.5 + 2 * y, 4) << p;
    ++count;
  }
  EXPECT_LT(error / static_cast<double>(count), 6);
  EXPECT_EQ(picture.report.hits, [&] {
    std::int64_t hits = 0;
    for (std::int64_t p = 0; p < 201 * 201; ++p) hits += value_at(picture.voxel, p) >= 0;
    return hits;
  }());
}

TEST(RayMarching, OfNothingIsBackground) {
  for (const Shape& shape : {Shape{5, 6, 7}, Shape{0, 4, 4}, Shape{4, 4, 0}}) {
    Array volume(DType::float32, shape);
    for (std::int64_t i = 0; i < volume.size(); ++i) volume.as<float>().data()[i] = 0;
    for (Stepping stepping : {Stepping::unit, Stepping::field, Stepping::pointwise, Stepping::cone}) {
      RayMarcherOptions options = marcher_on(Backend::cpu);
      options.stepping = stepping;
      const RayMarcher marcher(volume.view(), options);
      const Picture picture = render(marcher, {}, {20, 30});
      EXPECT_EQ(marcher.solid(), 0);
      EXPECT_EQ(picture.report.hits, 0);
      EXPECT_EQ(picture.report.rays > 0, volume.size() > 0);
      EXPECT_EQ(picture.report.samples == picture.report.rays, stepping != Stepping::unit || volume.size() == 0);
      for (std::int64_t p = 0; p < 600; ++p) ASSERT_EQ(value_at(picture.shade, p), 255);
    }
  }
}

/// Elements count by the threshold, of every type and layout.
TEST(RayMarching, TakesEveryTypeAndLayout) {
  Random random(5);
  const Shape shape{9, 10, 70};
  const std::vector<bool> marked = scatter(shape, 0.02, random);
  const Array plain = mask_array(marked, shape, DType::uint8, false);
  const Picture expected = render(RayMarcher(plain.view(), marcher_on(Backend::cpu)), {}, {50, 70});
  EXPECT_GT(expected.report.hits, 50);
  for (DType dtype : {DType::boolean, DType::int8, DType::uint16, DType::int64, DType::float32, DType::float64}) {
    const Array other = mask_array(marked, shape, dtype, false);
    RayMarcherOptions options = marcher_on(Backend::cpu);
    options.stepping = dtype == DType::int64 ? Stepping::cone : Stepping::field;
    EXPECT_TRUE(same(expected, render(RayMarcher(other.view(), options), {}, {50, 70}))) << name_of(dtype);
  }
  Array levels(DType::float32, {9, 10, 75});
  for (std::int64_t i = 0; i < levels.size(); ++i)
    levels.as<float>().data()[i] = i % 75 < 70 && marked[static_cast<std::size_t>(i / 75 * 70 + i % 75)] ? 1.5f : 1.4f;
  RayMarcherOptions options = marcher_on(Backend::cpu);
  options.threshold = 1.5;
  const AnyConstView padded(levels.data(), DType::float32, shape, {750, 75, 1});
  EXPECT_TRUE(same(expected, render(RayMarcher(padded, options), {}, {50, 70})));
}

/// Thresholds are compared as sites are: whole among integers, rounded to the type of floats.
TEST(RayMarching, ThresholdsAreExact) {
  Random random(6);
  const Shape shape{6, 7, 70};
  const std::vector<bool> marked = scatter(shape, 0.02, random);
  const Array mask = mask_array(marked, shape, DType::uint8, false);
  const auto picture = [](const Array& volume, const std::optional<grid::Sites::Value>& threshold, Stepping stepping) {
    RayMarcherOptions options = marcher_on(Backend::cpu);
    options.threshold = threshold;
    options.stepping = stepping;
    return render(RayMarcher(volume.view(), options), {}, {40, 50});
  };
  const auto levels = [&]<class T>(T solid, T other) {
    Array volume(dtype_of<T>(), shape);
    for (std::size_t i = 0; i < marked.size(); ++i) volume.as<T>().data()[i] = marked[i] ? solid : other;
    return volume;
  };
  for (const Stepping stepping : {Stepping::field, Stepping::cone}) {
    const Picture expected = picture(mask, {}, stepping);
    EXPECT_GT(expected.report.hits, 20);
    const std::int64_t two53 = std::int64_t{1} << 53;
    EXPECT_TRUE(same(expected, picture(levels(two53 + 1, two53), two53 + 1, stepping)));
    EXPECT_TRUE(same(expected, picture(levels(UINT64_MAX, UINT64_MAX - 1), UINT64_MAX, stepping)));
    EXPECT_TRUE(same(expected, picture(levels(INT64_MIN + 1, INT64_MIN), INT64_MIN + 1, stepping)));
    EXPECT_TRUE(same(expected, picture(levels(std::int8_t{3}, std::int8_t{2}), 2.5, stepping)));
    EXPECT_TRUE(same(expected, picture(levels(0.1f, std::nextafter(0.1f, 0.0f)), 0.1, stepping)));
    EXPECT_TRUE(same(expected, picture(levels(0.1, std::nextafter(0.1, 0.0)), 0.1, stepping)));
    EXPECT_EQ(picture(mask, 255.5, stepping).report.hits, 0);
    EXPECT_EQ(picture(mask, std::uint64_t{256}, stepping).report.hits, 0);
    EXPECT_EQ(picture(mask, 1e30, stepping).report.hits, 0);
    const Picture all = picture(mask, -1, stepping);
    EXPECT_GT(all.report.hits, expected.report.hits);
    EXPECT_TRUE(same(all, picture(mask, -1e30, stepping)));
  }
}

/// Shade and coverage are those of the picture that is so many times larger, the others those of the smaller one, and
/// every way of stepping gives the same bytes.
TEST(RayMarching, AveragesRays) {
  for (int i = 0; i < scaled(20); ++i) {
    Scene scene = random_scene(3000 + static_cast<std::uint64_t>(i));
    SCOPED_TRACE("seed " + std::to_string(3000 + i));
    scene.march.background = static_cast<std::uint8_t>(i * 13);
    const int n = 1 + i % 5;
    const Shape& shape = scene.picture;
    for (Stepping stepping : {Stepping::field, Stepping::cone}) {
      scene.marcher.stepping = stepping;
      const RayMarcher marcher(scene.volume.view(), scene.marcher);
      RayMarchOptions march = scene.march;
      march.antialias = 1;
      const Picture single = render(marcher, march, shape);
      march.background = 255;
      const Picture larger = render(marcher, march, {shape[0] * n, shape[1] * n});
      march = scene.march;
      march.antialias = n;
      Picture found(shape);
      Array coverage(DType::uint8, shape);
      RayMarchOutputs outputs = found.views();
      outputs.coverage = coverage.view();
      found.report = marcher.render(march, outputs);
      EXPECT_TRUE(equal(found.voxel, single.voxel));
      EXPECT_TRUE(equal(found.depth, single.depth));
      EXPECT_TRUE(equal(found.samples, single.samples));
      std::int64_t unlike = 0;  // the frames are the same but for rounding
      for (std::int64_t p = 0; p < element_count(shape); ++p) {
        double shade = 0, solid = 0;
        for (std::int64_t ray = 0; ray < n * n; ++ray) {
          const std::int64_t at = (p / shape[1] * n + ray / n) * shape[1] * n + p % shape[1] * n + ray % n;
          const bool hit = value_at(larger.shade, at) != 255;
          shade += hit ? value_at(larger.shade, at) : march.background;
          solid += hit ? 255 : 0;
        }
        unlike += std::floor(shade / (n * n) + 0.5) != value_at(found.shade, p);
        unlike += std::floor(solid / (n * n) + 0.5) != value_at(coverage, p);
      }
      EXPECT_LE(unlike, 2 + element_count(shape) / 50);
    }
  }
}

/// Nothing lies outside of the margin, and something on it.
TEST(RayMarching, FillsThePicture) {
  for (int i = 0; i < scaled(20); ++i) {
    Scene scene = random_scene(4000 + static_cast<std::uint64_t>(i));
    SCOPED_TRACE("seed " + std::to_string(4000 + i));
    scene.march.camera.zoom = 1;
    scene.march.camera.field_of_view = std::min(scene.march.camera.field_of_view, 0.8);
    scene.picture = {300, 400};
    const Picture picture = render(RayMarcher(scene.volume.view(), scene.marcher), scene.march, scene.picture);
    if (picture.report.hits == 0) continue;
    std::int64_t top = 300, bottom = -1, left = 400, right = -1;
    for (std::int64_t p = 0; p < 300 * 400; ++p) {
      if (value_at(picture.shade, p) == 255) continue;
      top = std::min(top, p / 400), bottom = std::max(bottom, p / 400);
      left = std::min(left, p % 400), right = std::max(right, p % 400);
    }
    EXPECT_GE(std::min(top, 299 - bottom), 11);
    EXPECT_GE(std::min(left, 399 - right), 15);
    EXPECT_TRUE(std::max(top, 299 - bottom) <= 15 || std::max(left, 399 - right) <= 19);
  }
}

TEST(RayMarching, StaysInsideTheScratchLimitAndReports) {
  const Scene scene = random_scene(7);
  for (Stepping stepping : {Stepping::field, Stepping::cone}) {
    RayMarcherOptions options = scene.marcher;
    options.stepping = stepping;
    const RayMarcher marcher(scene.volume.view(), options);
    EXPECT_GT(marcher.bytes(), 0u);
    RayMarchOptions march = scene.march;
    double reported = 0;
    march.execution.progress = [&](double share) {
      EXPECT_GE(share, reported);
      reported = share;
    };
    march.execution.threads = 1;
    const Picture whole = render(marcher, march, scene.picture);
    EXPECT_EQ(reported, 1);
    reported = 0;
    march.execution.threads = 4;
    march.execution.scratch_limit = 2 * whole.report.scratch_bytes;
    const Picture limited = render(marcher, march, scene.picture);
    EXPECT_EQ(limited.report.threads, 2);
    EXPECT_TRUE(same(whole, limited));
    march.execution.scratch_limit = whole.report.scratch_bytes - 1;
    EXPECT_THROW(render(marcher, march, scene.picture), InvalidArgument);
    reported = 0;
    march.antialias = 2;
    const std::size_t sums = static_cast<std::size_t>(element_count(scene.picture)) * 5;
    march.execution.scratch_limit = whole.report.scratch_bytes + sums;
    const Picture averaged = render(marcher, march, scene.picture);
    EXPECT_EQ(averaged.report.scratch_bytes, *march.execution.scratch_limit);
    EXPECT_EQ(reported, 1);
    EXPECT_TRUE(equal(whole.voxel, averaged.voxel));
    --*march.execution.scratch_limit;
    EXPECT_TRUE(refusal([&] { render(marcher, march, scene.picture); }).ends_with(", beside " + std::to_string(sums) +
                                                                                  " for sums of rays"));
  }
}

TEST(RayMarching, StaysInsideTheMemoryLimit) {
  Random random(6);
  const Shape shape{40, 50, 60};
  const Array mask = mask_array(make_sites(Structure::blobs, shape, random), shape, DType::uint8, false);
  for (Stepping stepping : {Stepping::unit, Stepping::field, Stepping::pointwise, Stepping::cone}) {
    RayMarcherOptions options = marcher_on(Backend::cpu);
    options.stepping = stepping;
    options.execution.threads = 1;
    options.memory_limit = 1;
    const std::string text = refusal([&] { RayMarcher(mask.view(), options); });
    const std::string start = "the marcher's memory limit of 1 bytes is too small; what works here is ";
    ASSERT_TRUE(text.starts_with(start)) << text;
    options.memory_limit = std::stoull(text.substr(start.size()));
    const std::int64_t surface = count_surface(solid_of(mask.view(), std::nullopt, 1));
    EXPECT_EQ(RayMarcher::needed_bytes(AnyConstView(nullptr, DType::uint8, shape), options, surface),
              *options.memory_limit);
    EXPECT_LE(RayMarcher(mask.view(), options).bytes(), *options.memory_limit);
    --*options.memory_limit;
    EXPECT_THROW(RayMarcher(mask.view(), options), InvalidArgument);
  }
}

TEST(RayMarching, CanBeCancelled) {
  const Array volume = mask_array(std::vector<bool>(1000, true), {10, 10, 10}, DType::uint8, false);
  const RayMarcher marcher(volume.view(), marcher_on(Backend::cpu));
  std::stop_source stop;
  RayMarchOptions options;
  options.execution.progress = [&](double) { stop.request_stop(); };
  options.execution.stop = stop.get_token();
  EXPECT_THROW(render(marcher, options, {100, 100}), Cancelled);
}

TEST(RayMarching, RefusesWhatHasNoMeaning) {
  const Array volume = mask_array({true, false}, {1, 1, 2}, DType::uint8, false);
  const Array flat = mask_array({true, false}, {1, 2}, DType::uint8, false);
  EXPECT_EQ(refusal([&] { RayMarcher(flat.view(), marcher_on(Backend::cpu)); }),
            "rays march through volumes with 3 axes, not 2");
  const auto building = [&](const auto& change) {
    RayMarcherOptions options = marcher_on(Backend::cpu);
    change(options);
    return refusal([&] { RayMarcher(volume.view(), options); });
  };
  EXPECT_EQ(building([](auto& o) {
              o.spacing = {1, 2};
            }),
            "2 spacings given for 3 axes; give one for all axes or one per axis");
  EXPECT_EQ(building([](auto& o) { o.spacing = {1, 0, 1}; }), "a spacing is not finite or not above 0");
  EXPECT_EQ(building([](auto& o) { o.threshold = NAN; }),
            "the threshold is not a number; give one, or none for the elements that are not 0");
  if (device_count() == 0) {
    const std::string text = building([](auto& o) { o.execution.backend = Backend::cuda; });
    EXPECT_TRUE(text.find("use backend auto or cpu") != std::string::npos) << text;
  }
  const RayMarcher marcher(volume.view(), marcher_on(Backend::cpu));
  const auto rendering = [&](const auto& change) {
    RayMarchOptions options;
    change(options);
    return refusal([&] { render(marcher, options, {4, 4}); });
  };
  EXPECT_EQ(rendering([](auto& o) { o.half_angle = 4; }),
            "the cone's half-angle is 4; give radians from 0 to pi");
  EXPECT_EQ(rendering([](auto& o) { o.antialias = 17; }),
            "antialias is 17; give 1 to 16 rays along a pixel's side");
  EXPECT_EQ(rendering([](auto& o) { o.camera.up = o.camera.toward_eye; }),
            "the camera's up is parallel to its view; turn one of them");
  EXPECT_EQ(rendering([](auto& o) {
              o.camera.up = {0, NAN, 1};
            }),
            "the camera's vector up is not finite or has no length");
  EXPECT_EQ(rendering([](auto& o) { o.camera.zoom = 0; }),
            "the camera's zoom is 0; give a finite number above 0");
  EXPECT_EQ(rendering([](auto& o) { o.camera.field_of_view = 3.2; }),
            "the camera's field of view is 3.2; give radians between 0 and pi");
  EXPECT_EQ(refusal([&] { marcher.render({}, {}); }), "no output was given; give shade, voxel, depth, samples or coverage");
  Array shade(DType::uint8, {4, 4}), other(DType::int32, {4, 5});
  EXPECT_EQ(refusal([&] {
              marcher.render({}, {shade.view(), {}, {}, other.view()});
            }),
            "the output 'samples' has the shape 4 × 5; it must have 4 × 4");
  EXPECT_EQ(refusal([&] {
              marcher.render({}, {other.view(), {}, {}, {}});
            }),
            "the output 'shade' is int32; it must be uint8");
}

}  // namespace
}  // namespace fathom::test
