// Which vector instruction sets this machine and its system run, as groups that kernels are
// compiled for. Asks the processor; any thread. False on other architectures.
#pragma once

namespace npukit {

// AVX2, FMA, BMI, F16C, and what any processor with these has (AES, carry-less multiply).
inline bool CpuRunsAvx2() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("pclmul") &&
         __builtin_cpu_supports("aes");
#else
  return false;
#endif
}

// These and AVX-512 F, VL, DQ and BW.
inline bool CpuRunsAvx512() {
#if defined(__x86_64__)
  return CpuRunsAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#else
  return false;
#endif
}

}  // namespace npukit
