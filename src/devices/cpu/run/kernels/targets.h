// Which instruction sets the kernels are compiled for. Included before any Highway header.
#pragma once

// On x86: AVX-512 (AVX3), AVX2, and plain C++ for the rest; the SSE targets would cost build time
// and serve nobody. HWY_WANT_AVX3_DL stays undefined: its flags emit AVX-VNNI code that AVX-512
// machines without it cannot run.
#if defined(__x86_64__) && !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#endif
