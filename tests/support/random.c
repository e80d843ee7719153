/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/random.h"

#include <string.h>

uint64_t
check_random_next (CheckRandom *random)
{
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void
check_random_init (CheckRandom *random, uint64_t seed, uint64_t number)
{
  random->state = seed;
  random->state = check_random_next (random) ^ number;
  random->state = check_random_next (random);
}

int
check_random_range (CheckRandom *random, int low, int high)
{
  return low + (int) (check_random_next (random) % ((uint64_t) ((int64_t) high - low) + 1));
}

double
check_random_unit (CheckRandom *random)
{
  return (double) (check_random_next (random) >> 11) / 9007199254740992.0;
}

bool
check_random_one_in (CheckRandom *random, int n)
{
  return check_random_range (random, 1, n) == 1;
}

void
check_random_fill (CheckRandom *random, void *bytes, uint64_t count)
{
  unsigned char *at = bytes;

  while (count > 0) {
    uint64_t word = check_random_next (random);
    uint64_t n = count < sizeof word ? count : sizeof word;

    memcpy (at, &word, n);
    at += n;
    count -= n;
  }
}

int
check_random_pick (CheckRandom *random, const int *weights, int count)
{
  int sum = 0, at = 0;

  for (int i = 0; i < count; i++)
    sum += weights[i];
  for (int left = check_random_range (random, 0, sum - 1); left >= weights[at]; at++)
    left -= weights[at];
  return at;
}
