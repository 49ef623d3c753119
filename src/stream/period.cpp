#include "stream/period.h"

#include <array>
#include <numeric>

namespace fathom::stream {

namespace {

__extension__ using Wide = __int128;

/// Greatest common divisor d = s·a + t·b.
struct Bezout {
  std::int64_t d, s, t;
};
Bezout bezout(std::int64_t a, std::int64_t b) {
  std::int64_t s = 1, t = 0, s_next = 0, t_next = 1;
  while (b != 0) {
    const std::int64_t q = a / b;
    a = std::exchange(b, a - q * b);
    s = std::exchange(s_next, s - q * s_next);
    t = std::exchange(t_next, t - q * t_next);
  }
  return a < 0 ? Bezout{-a, -s, -t} : Bezout{a, s, t};
}

}  // namespace

std::int64_t modulo_of_product(std::int64_t a, std::int64_t b, std::int64_t n) {
  return static_cast<std::int64_t>(Wide{a} * b % n);
}

Period period_of(const std::array<std::int64_t, 2>& u, const std::array<std::int64_t, 2>& v) {
  const Wide area = Wide{u[1]} * v[0] - Wide{u[0]} * v[1];
  const Bezout rows = bezout(u[0], v[0]);  // the least step down that the lattice has
  Period period;
  period.height = rows.d;
  period.width = static_cast<std::int64_t>((area < 0 ? -area : area) / rows.d);
  const Wide skew = (Wide{rows.s} * u[1] + Wide{rows.t} * v[1]) % period.width;
  period.skew = static_cast<std::int64_t>((skew + period.width) % period.width);
  return period;
}

std::optional<Period> common(const std::optional<Period>& a, const std::optional<Period>& b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (!a || !b) return std::nullopt;
  // A step of both has height k·m, m the least common multiple of the heights, and there a.skew·k·m/a.height ≡
  // b.skew·k·m/b.height modulo the greatest common divisor g of the widths.
  const std::int64_t g = std::gcd(a->width, b->width);
  const Wide m = Wide{a->height} / std::gcd(a->height, b->height) * b->height;
  const Wide width = Wide{a->width} / g * b->width;
  if (m > kMost || width > kMost) return std::nullopt;
  const Wide from_a = a->skew * (m / a->height) % a->width, from_b = b->skew * (m / b->height) % b->width;
  const Wide off = (from_a - from_b) % g;
  const Wide k = g / std::gcd(g, static_cast<std::int64_t>(off < 0 ? -off : off));
  if (k * m > kMost) return std::nullopt;
  // x ≡ a.skew… modulo a.width and ≡ b.skew… modulo b.width.
  const Wide at_a = from_a * k % a->width, at_b = from_b * k % b->width;
  const Wide steps = (at_b - at_a) / g * bezout(a->width, b->width).s % (b->width / g);
  Period both;
  both.height = static_cast<std::int64_t>(k * m);
  both.width = static_cast<std::int64_t>(width);
  const Wide skew = (at_a + steps * a->width) % width;
  both.skew = static_cast<std::int64_t>((skew + width) % width);
  both.region = intersection(a->region, b->region);
  return both.region.empty() ? std::nullopt : std::optional(both);
}

}  // namespace fathom::stream
