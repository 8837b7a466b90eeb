// Discrete Fourier transforms of any length, in double: what dft and stft share.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace npukit::ops {

inline constexpr std::int64_t kMaxTransform = std::int64_t{1} << 21;

// In place: v[k] becomes the sum over n of v[n] exp(-2 pi i k n / N), with + where `inverse`; never
// divided by N.
void Transform(std::vector<std::complex<double>>& v, bool inverse);

}  // namespace npukit::ops
