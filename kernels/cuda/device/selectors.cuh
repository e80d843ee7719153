/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CONVOLVE_CUDA_SELECTORS_CUH
#define CONVOLVE_CUDA_SELECTORS_CUH

/*
 * Selectors of __byte_perm (a, b, selector) have a digit for each byte of the result, that of the lowest byte last: 0
 * .. 3 are the bytes of a, and 4 .. 7 those of b. A name lists the bytes of the result from the lowest to the highest:
 * A2 is byte 2 of the first word, B0 is byte 0 of the second word. The bytes that a shorter name leaves out are not
 * used.
 */
enum ByteSelector
{
  A0_A1_B0_B1 = 0x5410,
  A2_A3_B2_B3 = 0x7632,
  A0_A1_B2_B3 = 0x7610,
  A0_B0_A1_B1 = 0x5140,
  A1_B1_A2_B2 = 0x6251,
  A2_B2_A3_B3 = 0x7362,
  A0_A2_B0_B2 = 0x6420,
  A1_A3_B1_B3 = 0x7531,
  A1_A0_A3_A2 = 0x2301,
  A0_A1_A2_B1 = 0x5210,
  A0_A1_A2_B2 = 0x6210,
  A0_A1_B0_B3 = 0x7410,
  A0_A1_B0_A2 = 0x2410,
  A0_B1_A1_A2 = 0x2150,
  B2_A0_A1_B3 = 0x7106,
  A0_A3_B2 = 0x0630,
  A1_B0_B3 = 0x0741,
  A0_B0_A1 = 0x0140,
  B1_A2_B2 = 0x0625,
  A0_B0 = 0x0040,
  A1_B1 = 0x0051,
  A2_B1 = 0x0052,
  A2_B2 = 0x0062,
  A3_B3 = 0x0073,
  B0_A2 = 0x0024,
  A3_B2 = 0x0063
};

#endif
