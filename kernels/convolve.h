/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolution of image planes with a mask, on the CPU or on a CUDA device.
 *
 * A mask and a pixel layout become a ConvolvePlan once, when caps or properties change; convolve_run() then
 * only calls. For every selected sample, with s the input and t the mask's taps,
 *
 *   out(x, y) = zero + sum over j, i of t[j][i] * (s(x + i - w/2, y + j - h/2) - zero) / divisor + offset * range
 *
 * rounded half up and clamped to 0 .. 2^depth - 1 (a correlation: the first tap meets the top-left neighbour).
 *
 * What is promised of the result, for every variant:
 *  - an exact plan (convolve_plan_is_exact()): the exactly rounded bytes, on every device;
 *  - any other: before rounding within 1/64 of a code value of the exact sum for 8-bit samples, within 1/2 for
 *    deeper ones.
 *
 * Nothing here prints or exits. Functions that can fail return a status and fill the ConvolveError, which may be NULL.
 */
#ifndef CONVOLVE_H
#define CONVOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_MAX_SIDE 255  /* taps along one side of a mask */
#define CONVOLVE_MAX_SAMPLES 4 /* samples of one pixel */

typedef enum
{
  CONVOLVE_OK,
  CONVOLVE_INVALID,     /* an argument is outside its documented range */
  CONVOLVE_UNSUPPORTED, /* the variant asked for cannot do this mask; the text says why */
  CONVOLVE_NO_MEMORY,   /* host memory */
  CONVOLVE_NO_DEVICE,   /* no such CUDA device, no driver, or built without CUDA */
  CONVOLVE_NO_DEVICE_MEMORY,
  CONVOLVE_DEVICE_FAILED /* anything else that CUDA reported; the device is not to be used again */
} ConvolveStatus;

typedef struct
{
  ConvolveStatus status;
  int native;     /* CUDA's own code, 0 where there is none */
  char text[512]; /* one sentence without a final stop */
} ConvolveError;

/* What stands outside the image, drawn at its left edge. */
typedef enum
{
  CONVOLVE_BOUNDARY_ZERO,        /* 00|abc  the pixel's zero level */
  CONVOLVE_BOUNDARY_REPLICATE,   /* aa|abc */
  CONVOLVE_BOUNDARY_REFLECT,     /* ba|abc */
  CONVOLVE_BOUNDARY_REFLECT_101, /* cb|abc */
  CONVOLVE_BOUNDARY_WRAP,        /* bc|abc */
  CONVOLVE_N_BOUNDARIES
} ConvolveBoundary;

typedef enum
{
  CONVOLVE_SAMPLE_U8,
  CONVOLVE_SAMPLE_U16,
  CONVOLVE_N_SAMPLE_TYPES
} ConvolveSampleType;

/* How the samples of one pixel lie in memory, and what is done to each. The same for source and destination. */
typedef struct
{
  ConvolveSampleType type;
  int depth;                      /* significant bits: 8 for U8, 9..16 for U16; a larger value is read as the largest */
  int shift;                      /* unused bits below the sample in its word: 0..16-depth, 0 for U8; written as 0 */
  bool swapped;                   /* U16 words are in the other byte order than this machine's */
  int samples;                    /* interleaved samples of a pixel: 1..4 */
  int stride;                     /* bytes from one pixel to the next: at least samples * sample size, even for U16 */
  unsigned select;                /* bit i: sample i is convolved, otherwise it is copied, all bits of its word */
  unsigned biased;                /* bit i: sample i gets the mask's offset */
  int zero[CONVOLVE_MAX_SAMPLES]; /* code value that stands for nothing (black, neutral): 0 .. 2^depth - 1 */
  int range[CONVOLVE_MAX_SAMPLES]; /* code values from black to white: 1 .. 2^depth - 1; 0 stands for the largest */
} ConvolvePixel;

/* A complete mask. */
typedef struct
{
  int width, height; /* odd, 1..CONVOLVE_MAX_SIDE */
  double divisor;    /* finite, not 0 */
  double offset;     /* -1..1 of the pixel's range; rounded to 1/256 of a code value when used */
  double *taps;      /* height rows of width, finite; taps[0] meets the top-left neighbour */
} ConvolveMask;

/* Allocates width * height taps, all 0, divisor 1, offset 0. False where sizes are out of range or memory is short. */
bool convolve_mask_init (ConvolveMask *mask, int width, int height);
void convolve_mask_clear (ConvolveMask *mask);

typedef struct
{
  int x, y, width, height;
} ConvolveRect;

/* One plane to convolve. Source and destination must not overlap; U16 pointers and strides on a device are even. */
typedef struct
{
  const void *source; /* the first sample of pixel (0, 0) */
  void *destination;
  ptrdiff_t source_stride; /* bytes from one row to the next, a row or more; may be negative */
  ptrdiff_t destination_stride;
  int width, height;   /* pixels, 1 .. 2^28, a row below 2^31 bytes: where the boundary lies */
  ConvolveRect region; /* pixels to write, inside the plane; nothing else is written */
} ConvolvePlane;

typedef struct ConvolvePlan ConvolvePlan;
typedef struct ConvolveDevice ConvolveDevice; /* convolve_device.h */

/* The variants, best first; a name is also the value of the element's property. Valid for 0 <= index < count. */
int convolve_variant_count (void);
const char *convolve_variant_name (int index);
int convolve_variant_number (int index);       /* above 0, one for each name, and the same in every release */
const char *convolve_variant_idea (int index); /* one line */
bool convolve_variant_on_device (int index);

/*
 * Makes the plan for one kind of plane. variant is a name or "auto", which takes the first variant that can do it;
 * device is NULL for host memory alone, and must outlive the plan otherwise. Nothing of the arguments is kept but
 * the device.
 *
 * Returns NULL on error: INVALID (mask, pixel, boundary or name; a gain sum |t| / |divisor| above 2^20), UNSUPPORTED,
 * NO_MEMORY, NO_DEVICE (a device variant without a device), NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolvePlan *convolve_plan_new (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolveMask *mask,
    const char *variant, ConvolveDevice *device, ConvolveError *error);

/* The same for planes of about so many pixels: on that depends, too, what "auto" takes. 0: large ones. */
ConvolvePlan *convolve_plan_new_sized (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolveMask *mask,
    const char *variant, ConvolveDevice *device, int64_t pixels, ConvolveError *error);

ConvolvePlan *convolve_plan_ref (ConvolvePlan *plan);
void convolve_plan_unref (ConvolvePlan *plan); /* NULL is allowed; no frame may be under way at the last one */

const char *convolve_plan_variant (const ConvolvePlan *plan);
bool convolve_plan_on_device (const ConvolvePlan *plan);

/*
 * Writes one line on why "auto" took this plan's variant: what the mask is, and what keeps it from each variant that
 * comes before. Cut where size bytes are not enough; 400 are.
 */
void convolve_plan_explain (const ConvolvePlan *plan, char *text, size_t size);

/* The output equals the input in every sample. */
bool convolve_plan_is_identity (const ConvolvePlan *plan);

/*
 * The taps are integers times one common factor and the largest sample times their sum of magnitudes is below 2^24:
 * every variant gives the exactly rounded result.
 */
bool convolve_plan_is_exact (const ConvolvePlan *plan);

/*
 * The rows *source_first up to *source_end that rows first up to end of a result of height rows are made from, where
 * 0 <= first < end <= height.
 */
void convolve_plan_source_rows (const ConvolvePlan *plan, int height, int first, int end, int *source_first,
    int *source_end);

/*
 * Convolves one plane. A host plan takes host pointers and returns when it is done; a device plan takes device
 * pointers and enqueues on the device's stream: convolve_device_finish() waits. Any thread, one at a time per device.
 *
 * Errors: INVALID (sizes, region, strides or alignment), NO_MEMORY, NO_DEVICE_MEMORY (for what lies between kernels, at a
 * plane larger than those before), DEVICE_FAILED.
 */
ConvolveStatus convolve_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
