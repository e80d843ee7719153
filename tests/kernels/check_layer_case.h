/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A random layer with its input, made from a seed and a number alone. */
#ifndef TESTS_KERNELS_CHECK_LAYER_CASE_H
#define TESTS_KERNELS_CHECK_LAYER_CASE_H

#include "convolve_layer.h"
#include "support/oracle_layer.h"

enum
{
  CHECK_LAYER_CANARY = 0xa5 /* every byte of memory that is no sample */
};

/* A block of bytes that holds one tensor. */
typedef struct
{
  unsigned char *bytes;
  size_t size;
  ConvolveLayerTensor tensor; /* channel pointers are offsets into bytes, plus 1 */
} CheckLayerMemory;

typedef struct
{
  ConvolveLayer layer;
  float *weights, *bias;
  int batch, height, width, out_height, out_width, first_row, end_row, filled;
  float fill;
  CheckLayerMemory source, destination;
  double *input; /* [batch][channels][height][width], as the oracle has it */
} CheckLayerCase;

/* budget limits the products that the oracle computes. False where memory is short; to be cleared either way. */
bool check_layer_case_random (CheckLayerCase *test, uint64_t seed, uint64_t number, long budget);
void check_layer_case_clear (CheckLayerCase *test);

/* Prints a description of the case. */
void check_layer_case_print (const CheckLayerCase *test, const char *variant);

/* The layer as the oracle takes it, over an image of this size; input, weights and bias are to be set. */
OracleLayer check_layer_oracle (const ConvolveLayer *layer, int height, int width);

int check_layer_sample_size (ConvolveLayerType type);

/* The sample at that place, by the definition of its type. */
double check_layer_read (const ConvolveLayer *layer, const unsigned char *at);

/* Where a sample of the memory is, in bytes from its start. */
ptrdiff_t check_layer_offset (const ConvolveLayerTensor *tensor, int b, int c, int y, int x);

/* The tensor with pointers into a copy of the memory at base. */
ConvolveLayerTensor check_layer_place (const CheckLayerMemory *memory, void *base);

#endif
