/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolution of image planes with a mask, on the CPU or on a CUDA device.
 *
 * A ConvolvePlan is made once from a mask and a pixel layout. convolve_run() then only executes the plan, for any
 * number of planes. For every selected sample, with s the input and t the mask's taps of width w and height h,
 *
 *   out(x, y) = zero + sum over j, i of t[j][i] * (s(x + i - w/2, y + j - h/2) - zero) / divisor + offset * range
 *
 * rounded half up and clamped to 0 .. 2^depth - 1. This is a correlation: the first tap meets the top-left neighbour.
 *
 * A mask may have several sets of taps, whose values are combined before the offset is added:
 *
 *   value_k(x, y) = sum over j, i of t_k[j][i] * (s(x + i - w/2, y + j - h/2) - zero) / divisor_k
 *   out(x, y) = zero + combination (value_0, value_1, ...) + offset * range
 *
 * rounded and clamped once, in the same way. Chroma is combined about its own zero level, so that flat colours stay
 * neutral.
 *
 * Every variant promises for its results:
 *  - with an exact plan (convolve_plan_is_exact()), the exactly rounded value, so that all devices give the same bytes;
 *  - with a plan of "auto" that is reproducible (convolve_plan_is_reproducible()), the same bytes on all devices;
 *  - with any other plan, a value that before rounding differs from the exact one by at most 1/64 of a code value for
 *    8-bit samples and by at most 1/2 for 16-bit samples.
 *
 * No function prints or exits. A function that can fail returns a status, or NULL, and fills its ConvolveError, which
 * may be NULL.
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

/*
 * The shared library exports the functions between this line and the pop below, and those of the other public headers.
 */
#pragma GCC visibility push(default)

#define CONVOLVE_MAX_SIDE 255  /* taps along one side of a mask */
#define CONVOLVE_MAX_SAMPLES 4 /* samples of one pixel */
#define CONVOLVE_MAX_SETS 8    /* sets of taps of one mask */

typedef enum
{
  CONVOLVE_OK,
  CONVOLVE_INVALID,     /* an argument is outside its documented range */
  CONVOLVE_UNSUPPORTED, /* the variant cannot do this mask or these pixels; the text says why */
  CONVOLVE_NO_MEMORY,   /* host memory */
  CONVOLVE_NO_DEVICE,   /* there is no such CUDA device, no driver, or no CUDA in this build */
  CONVOLVE_NO_DEVICE_MEMORY,
  CONVOLVE_DEVICE_FAILED /* any other error of CUDA; the device must not be used again */
} ConvolveStatus;

typedef struct
{
  ConvolveStatus status;
  int native;     /* CUDA's error code, or 0 */
  char text[512]; /* one sentence without a full stop */
} ConvolveError;

/* The samples outside the image, drawn at the left edge of a row that begins with a b c. */
typedef enum
{
  CONVOLVE_BOUNDARY_ZERO,        /* 00|abc  the pixel's zero level */
  CONVOLVE_BOUNDARY_REPLICATE,   /* aa|abc */
  CONVOLVE_BOUNDARY_REFLECT,     /* ba|abc */
  CONVOLVE_BOUNDARY_REFLECT_101, /* cb|abc */
  CONVOLVE_BOUNDARY_WRAP,        /* bc|abc */
  CONVOLVE_BOUNDARY_CONSTANT,    /* kk|abc  the pixel's outside level */
  CONVOLVE_N_BOUNDARIES
} ConvolveBoundary;

typedef enum
{
  CONVOLVE_SAMPLE_U8,
  CONVOLVE_SAMPLE_U16,
  CONVOLVE_N_SAMPLE_TYPES
} ConvolveSampleType;

/*
 * The layout of one pixel in memory, and what is done to each of its samples. Source and destination have one layout.
 */
typedef struct
{
  ConvolveSampleType type;
  int depth;                      /* significant bits: 8 for U8, 9..16 for U16; larger values are read as 2^depth - 1 */
  int shift;                      /* unused bits below the sample in its word: 0..16-depth, 0 for U8; written as 0 */
  bool swapped;                   /* U16 words are in the other byte order than this machine's */
  int samples;                    /* interleaved samples of a pixel: 1..4 */
  int stride;                     /* bytes from one pixel to the next: at least samples * sample size, even for U16 */
  unsigned select;                /* bit i: sample i is convolved, otherwise it is copied, all bits of its word */
  unsigned biased;                /* bit i: sample i gets the mask's offset */
  int zero[CONVOLVE_MAX_SAMPLES]; /* zero level, the code value of black or of neutral chroma: 0 .. 2^depth - 1 */
  int outside[CONVOLVE_MAX_SAMPLES]; /* code value for the boundary constant: 0 .. 2^depth - 1 */
  int range[CONVOLVE_MAX_SAMPLES];   /* code values from black to white: 1 .. 2^depth - 1; 0 stands for 2^depth - 1 */
} ConvolvePixel;

/* How the values of a mask's sets become one value. */
typedef enum
{
  CONVOLVE_SUM,       /* the value itself, of one set: a plain convolution */
  CONVOLVE_ABSOLUTE,  /* its magnitude, of one set */
  CONVOLVE_MAGNITUDE, /* the square root of the sum of the values' squares, of two sets or more */
  CONVOLVE_LARGEST,   /* the largest value, with its sign, of two sets or more: -3 of -3 and -5 */
  CONVOLVE_GAUSSIAN,  /* a Gaussian of any size, without weights: see convolve_mask_init_gaussian () */
  CONVOLVE_N_COMBINATIONS
} ConvolveCombination;

/* A complete mask. All members are 0 where a mask is plain and they are not named in its initialiser. */
typedef struct
{
  int width, height; /* odd, 1..CONVOLVE_MAX_SIDE */
  double divisor;    /* of the first set: finite, not 0 */
  double offset;     /* -1..1 of the pixel's range; rounded to 1/256 of a code value when used */
  double *taps;      /* of each set, one set after the other: height rows of width, finite; the first tap of a set meets
                        the top-left neighbour */
  ConvolveCombination combination;
  int sets;                                    /* 1..CONVOLVE_MAX_SETS; 0 stands for 1 */
  double more_divisors[CONVOLVE_MAX_SETS - 1]; /* of the second set, the third and so on: finite, not 0 */
} ConvolveMask;

/*
 * Allocates width * height taps and sets them to 0, the divisor to 1 and the offset to 0. False where a size is out of
 * range or memory is short.
 */
bool convolve_mask_init (ConvolveMask *mask, int width, int height);

/* convolve_mask_init() for a mask of several sets. False where the number of sets is out of range, too. */
bool convolve_mask_init_sets (ConvolveMask *mask, int width, int height, int sets, ConvolveCombination combination);
void convolve_mask_clear (ConvolveMask *mask);

#define CONVOLVE_MAX_GAUSSIAN 1000 /* the largest sigma, in pixels */

/*
 * A Gaussian of any size, that ends nowhere. Its mask has 1x1 taps by its members, the combination CONVOLVE_GAUSSIAN,
 * and four numbers in `taps`: the shares of the pixel itself and of the blur, 0 and 1, and sigma in each direction,
 * from 0 to CONVOLVE_MAX_GAUSSIAN. With g(i) = exp (-i^2 / (2 sigma^2)) and the sums over all integers,
 *
 *   blur = sum over j, i of g_y(j) * g_x(i) * (s(x + i, y + j) - zero) / sum over j, i of g_y(j) * g_x(i)
 *   out(x, y) = zero + (taps[0] * (s(x, y) - zero) + taps[1] * blur) / divisor + offset * range
 *
 * rounded and clamped in the same way, with the errors promised above for plans that are not exact. Plans are fastest
 * for sigmas from 8 on. A plan is UNSUPPORTED whose share of the blur makes the error too large: about 2 for 16 bits,
 * and 5 for 8 bits, are small enough. False where memory is short.
 */
bool convolve_mask_init_gaussian (ConvolveMask *mask, double sigma_x, double sigma_y);

/*
 * The rank of the taps as a matrix: the least number of products of a column and a row whose sum is the mask, where
 * differences below 1e-12 of the largest tap count as 0. 0 for taps that are all 0, and -1 where memory is short.
 */
int convolve_mask_rank (const ConvolveMask *mask);
/* The number of sets, the taps of set k and its divisor, for 0 <= k < sets. */
static inline int
convolve_mask_sets (const ConvolveMask *mask)
{
  return mask->sets > 0 ? mask->sets : 1;
}

static inline double *
convolve_mask_taps (const ConvolveMask *mask, int k)
{
  return mask->taps + (size_t) k * mask->width * mask->height;
}

static inline double
convolve_mask_divisor (const ConvolveMask *mask, int k)
{
  return k == 0 ? mask->divisor : mask->more_divisors[k - 1];
}

typedef struct
{
  int x, y, width, height;
} ConvolveRect;

/*
 * One plane to convolve. Source and destination must not overlap. On a device, U16 pointers and strides must be even.
 */
typedef struct
{
  const void *source;           /* the first sample of pixel (0, 0) */
  void *destination;            /* likewise; only the region's pixels need memory */
  ptrdiff_t source_stride;      /* bytes from one row to the next; its magnitude is at least the length of a row */
  ptrdiff_t destination_stride; /* likewise, but at least the length of the region's rows; all rows of a plane span
                                   less than 2^63 bytes */
  int width, height;   /* pixels of the image: 1 .. 2^28, a row below 2^31 bytes; the boundary applies outside */
  ConvolveRect region; /* the pixels to write, at least one, inside the image; no others are written */
} ConvolvePlane;

typedef struct ConvolvePlan ConvolvePlan;
typedef struct ConvolveDevice ConvolveDevice; /* convolve_device.h */

/* The variants, best first; a name is also the value of the element's property. Valid for 0 <= index < count. */
int convolve_variant_count (void);
const char *convolve_variant_name (int index);
int convolve_variant_number (int index);       /* above 0; a name has the same number in every release */
const char *convolve_variant_idea (int index); /* one line for users */
bool convolve_variant_on_device (int index);

/*
 * Makes the plan for one kind of plane. variant is a name or "auto", which takes the best variant that can do the mask.
 * On a device that its rules were not made for, "auto" runs some variants on memory of its own to time them, waits for
 * the work that is enqueued there, and keeps what it found in a file of the user's cache folder (README.md here says
 * more). device is NULL for planes in host memory; otherwise the device must outlive the plan. Other arguments are not
 * kept.
 *
 * Returns NULL on error: INVALID (mask, pixel, boundary or name; a gain sum |t| / |divisor| above 2^20; a number of
 * sets that the combination does not take), UNSUPPORTED, NO_MEMORY, NO_DEVICE (a device variant without a device),
 * NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolvePlan *convolve_plan_new (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolveMask *mask,
    const char *variant, ConvolveDevice *device, ConvolveError *error);

/* convolve_plan_new() for planes of about `pixels` pixels, on which the choice of "auto" depends. 0 stands for many. */
ConvolvePlan *convolve_plan_new_sized (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolveMask *mask,
    const char *variant, ConvolveDevice *device, int64_t pixels, ConvolveError *error);

ConvolvePlan *convolve_plan_ref (ConvolvePlan *plan);
void convolve_plan_unref (ConvolvePlan *plan); /* NULL is allowed; no run may be in work at the last call */

const char *convolve_plan_variant (const ConvolvePlan *plan);
bool convolve_plan_on_device (const ConvolvePlan *plan);

/*
 * Writes a line that says why "auto" took this plan's variant: the properties of the mask and its arithmetic, and for
 * each better variant the reason against that variant. text has size bytes, and 1000 are mostly enough; a longer line
 * is cut.
 */
void convolve_plan_explain (const ConvolvePlan *plan, char *text, size_t size);

/* Whether the output equals the input in every sample. */
bool convolve_plan_is_identity (const ConvolvePlan *plan);

/*
 * Whether the taps are integers times one common factor, and the largest sample times the integers' sum of magnitudes
 * is below 2^24. Every variant then gives the exactly rounded result. With several sets, each set must be so; and for a
 * magnitude, the taps of all sets, each divided by its divisor, must have one common factor.
 */
bool convolve_plan_is_exact (const ConvolvePlan *plan);

/*
 * Whether every plan that "auto" makes of the same mask and pixels, for any device or none, gives the same bytes as
 * this one. With the variant "auto" the mask and the depth of the samples decide that: of up to 12 bits, few masks are
 * without.
 */
bool convolve_plan_is_reproducible (const ConvolvePlan *plan);

/*
 * Finds the source rows *source_first .. *source_end - 1 from which the rows first .. end - 1 of the result are made.
 * The plane has height rows, and 0 <= first < end <= height.
 */
void convolve_plan_source_rows (const ConvolvePlan *plan, int height, int first, int end, int *source_first,
    int *source_end);

/*
 * Convolves one plane. With a host plan, pointers are to host memory, and the plane is complete on return. With a
 * device plan, pointers are to device memory, and the work is enqueued on the device's stream:
 * convolve_device_finish() waits for it. Any thread may call this, but only one at a time for one device.
 *
 * Errors: INVALID (sizes, region, strides or alignment), NO_MEMORY, NO_DEVICE_MEMORY (for intermediate results, at a
 * plane larger than those before), DEVICE_FAILED.
 */
ConvolveStatus convolve_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
