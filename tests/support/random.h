/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers that are the same on every machine: splitmix64. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  uint64_t state;
} CheckRandom;

/* Every pair of seed and number starts a different stream. */
void check_random_init (CheckRandom *random, uint64_t seed, uint64_t number);
uint64_t check_random_next (CheckRandom *random);
int check_random_range (CheckRandom *random, int low, int high); /* both included */
double check_random_unit (CheckRandom *random);                  /* 0 <= value < 1, 53 bits */
bool check_random_one_in (CheckRandom *random, int n);
void check_random_fill (CheckRandom *random, void *bytes, uint64_t count);

/* An index below count, chosen with a probability in proportion to its weight. */
int check_random_pick (CheckRandom *random, const int *weights, int count);

#endif
