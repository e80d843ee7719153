/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The variant tensor: a mask as the integer tensor cores take it.
 *
 * Tensor cores multiply matrices of bytes and add the products in 32-bit integers. So each tap becomes an integer times
 * a common quantum, and that integer is written in one to three digits. A digit is a signed byte, -128 .. 127, and the
 * base is 256: 300 = 1 * 256 + 44 has the digits 44 and 1, and 200 = 1 * 256 - 56 has the digits -56 and 1. Digit 0
 * is the lowest. The kernel makes one sum for each digit, and adds these sums with the weights 1, 256 and 65536.
 *
 * The words of this variant:
 *   group    8 outputs side by side: the columns of one matrix product
 *   window   the samples that a group reads in one row
 *   lead     the samples of the window before the group's first output
 *   segment  16 samples of the window; one product takes two segments
 *   band     the right operand of one product: 32 samples down, 8 outputs across, one digit of the taps on diagonals
 * A drawing of a band stands above the kernel in cuda/tensor/tensor.cu.
 */
#ifndef CONVOLVE_CUDA_TENSOR_H
#define CONVOLVE_CUDA_TENSOR_H

#include "common/boundary.h"
#include "common/internal.h"
#include "cuda/device/places.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_TENSOR_WIDTH 128  /* outputs of a block, side by side */
#define CONVOLVE_TENSOR_ROWS 8     /* rows of outputs of a warp */
#define CONVOLVE_TENSOR_WARPS 4    /* warps of a block, one below the other */
#define CONVOLVE_TENSOR_GROUP 8    /* outputs of a group */
#define CONVOLVE_TENSOR_SEGMENT 16 /* samples of a segment */
#define CONVOLVE_TENSOR_MAX_DIGITS 3

/* The arithmetic that turns the sums of digits into a sample. */
typedef enum
{
  CONVOLVE_TENSOR_FLOATS,    /* the tail in single precision, with a total that is rounded where total_fits is false */
  CONVOLVE_TENSOR_FLOOR,     /* convolve_floor () of cuda/device/words.cuh */
  CONVOLVE_TENSOR_DOUBLES,   /* convolve_tail_double () of common/tail.h */
  CONVOLVE_TENSOR_INTEGERS,  /* an integer tail of one digit and one byte, see common/integer_tail.h */
  CONVOLVE_TENSOR_SHIFT,     /* convolve_tensor_shifted () of the whole total */
  CONVOLVE_TENSOR_WIDE_SHIFT /* convolve_tensor_shifted () of the total divided by 256 */
} ConvolveTensorFinish;

/* How the taps of a plan are written in digits. */
typedef struct
{
  int count;       /* digits of a tap, 1 .. CONVOLVE_TENSOR_MAX_DIGITS */
  double quantum;  /* tap = quantum * sum of digit[d] * 256^d; 1 where the taps are integers */
  bool total_fits; /* for every picture, the sum of integers times samples is inside 32 bits */
  ConvolveTensorFinish finish;
  ConvolveTail tail;                /* turns that sum into a sample */
  ConvolveIntegerTail integer_tail; /* of CONVOLVE_TENSOR_INTEGERS */
  int start[CONVOLVE_MAX_SAMPLES];  /* of both shifts; their low 32 bits */
  int shift;
} ConvolveTensorDigits;

/*
 * (sum0 + 256 * sum1 + 256^2 * sum2 + 256^3 * sum3 + start) >> shift: a sample in its place for clamping, see
 * cuda/device/places.h, without the middle of the samples' range, so that totals fit 32 bits with a sign. Whatever
 * overflows on the way, the result is right where that total fits 32 bits. WIDE: everything is divided by 256 and
 * rounded down before the shift, the start beforehand. Then each sum must fit 32 bits.
 */
static CONVOLVE_BOTH int
convolve_tensor_shifted (bool wide, int sum0, int sum1, int sum2, int sum3, int start, int shift)
{
  unsigned high = (unsigned) sum1 + ((unsigned) sum2 << 8) + ((unsigned) sum3 << 16);
  unsigned total = wide ? (unsigned) (sum0 >> 8) + high : (unsigned) sum0 + (high << 8);

  return (int) (total + (unsigned) start) >> shift;
}

/*
 * Finds the smallest number of digits, and its quantum, that keep the promise of convolve.h for this plan. Integer
 * taps keep their values. False, with *reason set, where three digits are not enough.
 */
bool convolve_tensor_choose (const ConvolvePlan *plan, ConvolveTensorDigits *digits, const char **reason);

/* Digit d, 0 .. digits->count - 1, of the tap in column i and row j of the mask: -128 .. 127. */
int convolve_tensor_digit (const ConvolvePlan *plan, const ConvolveTensorDigits *digits, int d, int i, int j);

/* The lead in samples: the mask's radius, rounded up to a multiple of 4, because lanes read words of 4 samples. */
static inline int
convolve_tensor_lead (int mask_width)
{
  return (mask_width / 2 + 3) / 4 * 4;
}

/* Segments of a window: the lead, the group, and the mask's radius on the right, rounded up to a multiple of 16. */
static inline int
convolve_tensor_segments (int mask_width)
{
  return (convolve_tensor_lead (mask_width) + CONVOLVE_TENSOR_GROUP + mask_width / 2 + CONVOLVE_TENSOR_SEGMENT - 1)
      / CONVOLVE_TENSOR_SEGMENT;
}

/*
 * Bands of the mask, for one digit. A band has two segments of one row of the mask. Where the number of segments is
 * odd, the last segments of two rows share a band.
 */
static inline int
convolve_tensor_bands (int mask_width, int mask_height)
{
  int segments = convolve_tensor_segments (mask_width);

  return segments / 2 * mask_height + segments % 2 * ((mask_height + 1) / 2);
}

/* Samples that a block loads before its first output: the radius rounded up to 16, so that loads are aligned. */
static inline int
convolve_tensor_margin (int mask_width)
{
  return (mask_width / 2 + 15) / 16 * 16;
}

/* Samples in a row of the block's tile: from the margin to the end of the last group's window, rounded up to 16. */
static inline int
convolve_tensor_pitch (int mask_width)
{
  int samples = convolve_tensor_margin (mask_width) - convolve_tensor_lead (mask_width) + CONVOLVE_TENSOR_WIDTH
      - CONVOLVE_TENSOR_GROUP + convolve_tensor_segments (mask_width) * CONVOLVE_TENSOR_SEGMENT;

  return (samples + 15) / 16 * 16;
}

/* Rows of the tile. The kernel prefetches up to three rows below the last row that the mask needs. */
static inline int
convolve_tensor_tile_rows (int mask_height)
{
  return CONVOLVE_TENSOR_WARPS * CONVOLVE_TENSOR_ROWS + mask_height - 1 + 3;
}

/* The shared memory, in bytes, of the tile of one sample per pixel. */
size_t convolve_tensor_shared_size (const ConvolvePlan *plan);

/*
 * One register of a band, four digits: what `lane`, 0 .. 31, gives mma.m16n8k32 as b0 (half 0) or b1 (half 1). band is
 * 0 .. convolve_tensor_bands () - 1, d is 0 .. digits->count - 1.
 */
uint32_t convolve_tensor_word (const ConvolvePlan *plan, const ConvolveTensorDigits *digits, int band, int d, int lane,
    int half);

CONVOLVE_DEVICE_FUNCTIONS (tensor);

#ifdef __cplusplus
}
#endif

#endif
