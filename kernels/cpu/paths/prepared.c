/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/paths/prepared.h"

#include <stdlib.h>

static void
clear (ConvolveCpu *cpu)
{
  free (cpu->terms.terms);
  free (cpu->wide.terms);
  free (cpu->wide.groups);
  for (int r = 0; r < CONVOLVE_MAX_RANK; r++)
    free (cpu->rows[r].terms);
  free (cpu->float_columns);
  free (cpu->double_columns);
  convolve_cpu_fft_free (cpu->fft);
  free (cpu->shorts.terms);
}

void
convolve_cpu_clear (ConvolvePlan *plan)
{
  ConvolveCpu *cpu = convolve_cpu_of (plan);

  if (!cpu)
    return;
  for (int k = 0; k < cpu->n_parts; k++)
    clear (&cpu->parts[k]);
  free (cpu->parts);
  if (cpu->large)
    clear (cpu->large);
  free (cpu->large);
  clear (cpu);
}
