/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/loops/levels.h"

extern const ConvolveCpuLevel convolve_cpu_level_baseline, convolve_cpu_level_avx2, convolve_cpu_level_avx512,
    convolve_cpu_level_avx512_vnni;

int
convolve_cpu_level_count (void)
{
#ifdef CONVOLVE_CPU_X86
  __builtin_cpu_init ();
  if (!__builtin_cpu_supports ("avx2"))
    return 1;
  if (!__builtin_cpu_supports ("avx512f") || !__builtin_cpu_supports ("avx512bw")
      || !__builtin_cpu_supports ("avx512dq") || !__builtin_cpu_supports ("avx512vl"))
    return 2;
  return __builtin_cpu_supports ("avx512vnni") ? 4 : 3;
#else
  return 1;
#endif
}

const ConvolveCpuLevel *
convolve_cpu_level (int index)
{
  static const ConvolveCpuLevel *const levels[] = {
    &convolve_cpu_level_baseline,
#ifdef CONVOLVE_CPU_X86
    &convolve_cpu_level_avx2,
    &convolve_cpu_level_avx512,
    &convolve_cpu_level_avx512_vnni,
#endif
  };

  return levels[index];
}
