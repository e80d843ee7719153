/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A random layer with its input, made from a seed and a number alone. */
#ifndef TESTS_KERNELS_CHECK_LAYER_CASE_H
#define TESTS_KERNELS_CHECK_LAYER_CASE_H

#include "convolve_layer.h"
#include "support/oracle_layer.h"

enum
{
  CHECK_LAYER_CANARY = 0xa5 /* the value of every byte that belongs to no sample */
};

/* A block of bytes that holds one tensor. */
typedef struct
{
  unsigned char *bytes;
  size_t size;
  ConvolveLayerTensor
      tensor; /* its channel pointers are offsets into bytes, plus 1, so that NULL still means no channel */
} CheckLayerMemory;

typedef struct
{
  ConvolveLayer layer;
  bool no_weights; /* of `layer`; those below are 1 then */
  float *weights, *bias;
  int batch, height, width, out_height, out_width, first_row, end_row, filled;
  float fill;
  CheckLayerMemory source, destination;
  double *input; /* [batch][channels][height][width], as the oracle has it */
} CheckLayerCase;

/*
 * Makes case `number` of the seed. budget limits the products that the oracle computes. Returns false where memory is
 * short; the case must be cleared either way.
 */
bool check_layer_case_random (CheckLayerCase *test, uint64_t seed, uint64_t number, long budget);
void check_layer_case_clear (CheckLayerCase *test);

/* Prints a description of the case. */
void check_layer_case_print (const CheckLayerCase *test, const char *variant);

/* The weights of a filter. */
size_t check_layer_filter_size (const ConvolveLayer *layer);

/* The layer as the oracle takes it, over an image of this size; input, weights and bias are to be set. */
OracleLayer check_layer_oracle (const ConvolveLayer *layer, int height, int width);

/* Sets input, weights and bias of the oracle for image b of the case, and filter k of its layer. */
void check_layer_oracle_filter (OracleLayer *oracle, const CheckLayerCase *test, int b, int k);

/* In bytes. */
int check_layer_sample_size (ConvolveLayerType type);

/* The value of the sample at an address, by the definition of the layer's type. */
double check_layer_read (const ConvolveLayer *layer, const unsigned char *at);

/* The offset in bytes, from the start of a CheckLayerMemory, of sample (y, x) of channel c of image b. */
ptrdiff_t check_layer_offset (const ConvolveLayerTensor *tensor, int b, int c, int y, int x);

/*
 * Lowers out_scale of an 8-bit layer, whose samples are at most `most` in magnitude, until the promise for 8 bits holds:
 * out_scale times the largest sum stays below 2^13, and most results lie near the range of code values.
 */
void check_layer_limit_scale (CheckLayerCase *test, double most);

/*
 * N of the promise in convolve_layer.h, for filter k and image b: the number of weights, times the largest weight, times
 * the largest sample.
 */
double check_layer_slack (const CheckLayerCase *test, int b, int k);

/* The bytes of memory from the first to the end of the last sample; the tensor has this size. */
void check_layer_extent (const CheckLayerCase *test, const CheckLayerMemory *memory, int channels, int height,
    int width, size_t *first, size_t *end);

/* The tensor for a copy of the memory that begins at base. */
ConvolveLayerTensor check_layer_place (const CheckLayerMemory *memory, void *base);

#endif
