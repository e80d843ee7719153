/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Other CUDA code on the element's GPU, which calls the driver alone, as far as tests need it. */
#ifndef TESTS_ELEMENT_NEIGHBOUR_H
#define TESTS_ELEMENT_NEIGHBOUR_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the driver and the primary context of device 0, which the CUDA runtime uses, too. False without a GPU. */
bool neighbour_open (void);

/* Allocates memory of the device until at most `left` bytes are free. neighbour_release() frees it again. */
void neighbour_fill (size_t left);
void neighbour_release (void);

/* The bytes of the device that are free. */
size_t neighbour_free (void);

typedef enum
{
  NEIGHBOUR_PRIMARY, /* the primary context */
  NEIGHBOUR_CURRENT, /* the context that is current */
  NEIGHBOUR_OWN      /* a new one */
} NeighbourContext;

/* Lets a kernel write to an address that does not exist. Returns CUDA's error, or 0 where there was none. */
int neighbour_fault (NeighbourContext context);

#endif
