#include "devices/cpu/blob/winograd.h"

namespace npukit::devices::cpu {
namespace {

constexpr double kA = kWinogradA;
constexpr double kB = kWinogradB;
// What the interpolation divides point p by: the product of its distances to the others.
constexpr double kAt0 = kA * kA * kB * kB;
constexpr double kAtA = 2 * kA * kA * (kA * kA - kB * kB);
constexpr double kAtB = 2 * kB * kB * (kB * kB - kA * kA);

void To(int m, const double* g, double* u) {
  if (m == 2) {
    u[0] = g[0];
    u[1] = (g[0] + g[1] + g[2]) / 2;
    u[2] = (g[0] - g[1] + g[2]) / 2;
    u[3] = g[2];
    return;
  }
  u[0] = g[0] / kAt0;
  u[1] = (g[0] + kA * g[1] + kA * kA * g[2]) / kAtA;
  u[2] = (g[0] - kA * g[1] + kA * kA * g[2]) / kAtA;
  u[3] = (g[0] + kB * g[1] + kB * kB * g[2]) / kAtB;
  u[4] = (g[0] - kB * g[1] + kB * kB * g[2]) / kAtB;
  u[5] = g[2];
}

void From(int m, const double* u, double* g) {
  if (m == 2) {
    g[0] = u[0];
    g[1] = u[1] - u[2];
    g[2] = u[3];
    return;
  }
  g[0] = u[0] * kAt0;
  g[1] = (u[1] - u[2]) * (kAtA / (2 * kA));
  g[2] = u[5];
}

}  // namespace

void FilterToPoints(int m, const float* taps, float* points) {
  const int side = WinogradSide(m);
  double columns[6][3];
  for (int x = 0; x < 3; ++x) {
    const double g[3] = {taps[x], taps[3 + x], taps[6 + x]};
    double u[6] = {};
    To(m, g, u);
    for (int p = 0; p < side; ++p) columns[p][x] = u[p];
  }
  for (int p = 0; p < side; ++p) {
    double u[6] = {};
    To(m, columns[p], u);
    for (int q = 0; q < side; ++q) points[p * side + q] = static_cast<float>(u[q]);
  }
}

void PointsToFilter(int m, const float* points, float* taps) {
  const int side = WinogradSide(m);
  double rows[6][3];
  for (int p = 0; p < side; ++p) {
    double u[6] = {};
    for (int q = 0; q < side; ++q) u[q] = points[p * side + q];
    From(m, u, rows[p]);
  }
  for (int x = 0; x < 3; ++x) {
    double u[6] = {}, g[3];
    for (int p = 0; p < side; ++p) u[p] = rows[p][x];
    From(m, u, g);
    for (int y = 0; y < 3; ++y) taps[y * 3 + x] = static_cast<float>(g[y]);
  }
}

}  // namespace npukit::devices::cpu
