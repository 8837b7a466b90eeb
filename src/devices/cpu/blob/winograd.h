// Winograd's way to convolve with 3x3 filters at stride 1, F(m x m, 3x3): a tile of (m + 2)^2 input
// pixels and a filter are each turned into (m + 2)^2 points, multiplied point by point (summed over
// channels: a matrix product per point), and turned into m^2 output pixels. 36 products instead of
// 144 for m = 4, 16 instead of 36 for m = 2. The filter's points are made when compiling.
//
// It is interpolation of polynomials: F(4) at 0, 3/4, -3/4, 3/2, -3/2 and infinity, F(2) at 0, 1,
// -1 and infinity. Every constant of the pixels' transforms is a float exactly, and these points
// keep numbers of one size: a quarter of the error of the usual 0, +-1, +-2.
#pragma once

namespace npukit::devices::cpu {

inline constexpr float kWinogradA = 0.75f;
inline constexpr float kWinogradB = 1.5f;

// Points of a tile's side: 4 or 6. `m` is 2 or 4 everywhere.
constexpr int WinogradSide(int m) { return m + 2; }
inline constexpr int kMaxWinogradPoints = 36;

// 3x3 taps, row by row, to WinogradSide(m)^2 points, row by row, each rounded once.
void FilterToPoints(int m, const float* taps, float* points);
// The inverse, as exact as rounded points allow: within a few units in the last place of the
// largest tap.
void PointsToFilter(int m, const float* points, float* taps);

}  // namespace npukit::devices::cpu
