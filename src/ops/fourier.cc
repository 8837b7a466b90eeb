#include "ops/fourier.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace npukit::ops {
namespace {

using Complex = std::complex<double>;

Complex Product(Complex a, Complex b) {  // without the library's care for infinities
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(i pi k / n), exact at the corners.
Complex Unit(std::uint64_t k, std::uint64_t n) {
  const double angle = std::numbers::pi * (static_cast<double>(k) / static_cast<double>(n));
  return {std::cos(angle), std::sin(angle)};
}

// Length a power of two.
void Radix2(std::vector<Complex>& v, bool inverse) {
  const std::size_t n = v.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(v[i], v[j]);
  }
  std::vector<Complex> units(n / 2);
  for (std::size_t k = 0; k < units.size(); ++k) {
    units[k] = Unit(2 * k, n);
    if (!inverse) units[k] = std::conj(units[k]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t i = 0; i < n; i += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex a = v[i + k];
        const Complex b = Product(v[i + k + half], units[k * (n / (2 * half))]);
        v[i + k] = a + b;
        v[i + k + half] = a - b;
      }
    }
  }
}

}  // namespace

void Transform(std::vector<Complex>& v, bool inverse) {
  const std::size_t n = v.size();
  if (n < 2) return;
  if (std::has_single_bit(n)) return Radix2(v, inverse);
  // Bluestein: k n = (k^2 + n^2 - (k - n)^2) / 2 makes the sum a convolution, which is done by
  // transforms of a power of two.
  std::vector<Complex> chirp(n);
  for (std::size_t k = 0; k < n; ++k) {
    chirp[k] = Unit(static_cast<std::uint64_t>(k) * k % (2 * n), n);
    if (!inverse) chirp[k] = std::conj(chirp[k]);
  }
  const std::size_t size = std::bit_ceil(2 * n - 1);
  std::vector<Complex> a(size), b(size);
  for (std::size_t k = 0; k < n; ++k) {
    a[k] = Product(v[k], chirp[k]);
    b[k] = std::conj(chirp[k]);
    if (k != 0) b[size - k] = b[k];
  }
  Radix2(a, false);
  Radix2(b, false);
  for (std::size_t k = 0; k < size; ++k) a[k] = Product(a[k], b[k]);
  Radix2(a, true);
  for (std::size_t k = 0; k < n; ++k) v[k] = Product(a[k], chirp[k]) / static_cast<double>(size);
}

}  // namespace npukit::ops
