/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/light.h"
#include "cpu/loops/levels.h"
#include "support/random.h"

enum
{
  MOST = 65535,
  MOST_FAILURES = 4,
  HEIGHT = 3
};

/* --- the definition --- */

static int64_t
rounded_share (int64_t number, int64_t part)
{
  return (2 * number + part) / (2 * part);
}

static int
count_samples (const ConvolveLight *light)
{
  return light->planes > 1 ? light->planes : light->pixel.samples;
}

static bool
is_curved (const ConvolveLight *light, int k)
{
  return light->transfer != CONVOLVE_TRANSFER_LINEAR && light->role[k] == CONVOLVE_LIGHT_COLOR;
}

static int64_t
word_of (const ConvolveLight *light, int k, int code)
{
  if (is_curved (light, k))
    return (int64_t) floor (
        MOST * convolve_transfer_decode (light->transfer, (double) (code - light->zero) / light->range) + 0.5);
  return rounded_share ((int64_t) code * MOST, (1 << light->pixel.depth) - 1);
}

static int64_t
code_of (const ConvolveLight *light, int k, int64_t word)
{
  if (is_curved (light, k))
    return (int64_t) floor (
        light->zero + light->range * convolve_transfer_encode (light->transfer, (double) word / MOST) + 0.5);
  return rounded_share (word * ((1 << light->pixel.depth) - 1), MOST);
}

static int64_t
level_of (const ConvolveLight *light, int k)
{
  if (light->transfer != CONVOLVE_TRANSFER_LINEAR)
    return 0;
  return rounded_share ((int64_t) light->about[k] * MOST, (1 << light->pixel.depth) - 1);
}

/* level + r (|word - level| * by / part), and no more than what is left to 0 or 65535, on the side of the word. */
static int64_t
scale_about (int64_t word, int64_t level, int64_t by, int64_t part)
{
  int64_t distance = rounded_share (llabs (word - level) * by, part), left = word < level ? level : MOST - level;

  distance = distance < left ? distance : left;
  return word < level ? level - distance : level + distance;
}

/* --- pictures --- */

/* All planes of a picture in memory that ends with its last sample. */
typedef struct
{
  uint8_t *bytes;
  size_t size;
  ConvolvePicture picture;
} Picture;

static Picture
make_picture (const ConvolveLight *light, int width, int bytes_of_pixel, CheckRandom *random)
{
  Picture made = { .picture = { .width = width, .height = HEIGHT } };
  size_t row = (size_t) width * bytes_of_pixel, stride = row + 2 * (size_t) check_random_range (random, 0, 3);
  size_t plane = (HEIGHT - 1) * stride + row;

  made.size = plane * light->planes;
  made.bytes = malloc (made.size);
  if (!made.bytes)
    abort ();
  check_random_fill (random, made.bytes, made.size);
  for (int i = 0; i < light->planes; i++)
    made.picture.planes[i] = (ConvolveFormPlane){ made.bytes + i * plane, (ptrdiff_t) stride };
  return made;
}

static uint8_t *
sample_at (const ConvolveLight *light, const ConvolvePicture *picture, int k, int x, int y, int size)
{
  const ConvolveFormPlane *plane = &picture->planes[light->planes > 1 ? k : 0];
  int at = light->planes > 1 ? x : x * light->pixel.samples + k;

  return (uint8_t *) plane->data + y * plane->stride + (ptrdiff_t) at * size;
}

static uint8_t *
outer_at (const ConvolveLight *light, const Picture *picture, int k, int x, int y)
{
  return sample_at (light, &picture->picture, k, x, y, light->pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2);
}

static uint16_t
get_word (const ConvolveLight *light, const Picture *inner, int k, int x, int y)
{
  uint16_t word;

  memcpy (&word, sample_at (light, &inner->picture, k, x, y, 2), sizeof word);
  return word;
}

static void
set_word (const ConvolveLight *light, const Picture *inner, int k, int x, int y, uint16_t word)
{
  memcpy (sample_at (light, &inner->picture, k, x, y, 2), &word, sizeof word);
}

static int
get_code (const ConvolveLight *light, const uint8_t *at)
{
  const ConvolvePixel *pixel = &light->pixel;
  int most = (1 << pixel->depth) - 1;
  uint16_t word;

  if (pixel->type == CONVOLVE_SAMPLE_U8)
    return *at;
  memcpy (&word, at, sizeof word);
  word = pixel->swapped ? (uint16_t) (word << 8 | word >> 8) : word;
  return word >> pixel->shift < most ? word >> pixel->shift : most;
}

static void
set_code (const ConvolveLight *light, uint8_t *at, int code)
{
  const ConvolvePixel *pixel = &light->pixel;
  uint16_t word = (uint16_t) (code << pixel->shift);

  if (pixel->type == CONVOLVE_SAMPLE_U8) {
    *at = (uint8_t) code;
    return;
  }
  word = pixel->swapped ? (uint16_t) (word << 8 | word >> 8) : word;
  memcpy (at, &word, sizeof word);
}

/* Samples are often the least or the most, and alpha is one of both in some rows. */
static void
spread_extremes (const ConvolveLight *light, const Picture *outer, CheckRandom *random)
{
  for (int y = 0; y < HEIGHT; y++) {
    const int alike = check_random_range (random, 0, 3);

    for (int x = 0; x < outer->picture.width; x++)
      for (int k = 0; k < count_samples (light); k++) {
        const bool fixed = light->role[k] == CONVOLVE_LIGHT_ALPHA && alike < 2;

        if (fixed || check_random_one_in (random, 4))
          set_code (light, outer_at (light, outer, k, x, y),
              (fixed ? alike : check_random_range (random, 0, 1)) * ((1 << light->pixel.depth) - 1));
      }
  }
}

/* What a mask may leave: words as they were, and any others. */
static void
change_words (const ConvolveLight *light, const Picture *inner, CheckRandom *random)
{
  static const int extremes[] = { 0, 1, 2, MOST - 1, MOST };

  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < inner->picture.width; x++)
      for (int k = 0; k < count_samples (light); k++) {
        int kind = check_random_range (random, 0, 5);

        if (kind < 2)
          set_word (light, inner, k, x, y, (uint16_t) check_random_next (random));
        else if (kind == 2)
          set_word (light, inner, k, x, y, (uint16_t) extremes[check_random_range (random, 0, 4)]);
      }
}

/* --- a case --- */

typedef struct
{
  ConvolveLight light;
  int alpha; /* the sample of alpha, or -1 */
  int width;
  bool in_place; /* the outer picture is the original */
} Case;

static Case
make_case (CheckRandom *random)
{
  static const struct
  {
    int planes, samples;
    ConvolveLightRole role[CONVOLVE_MAX_SAMPLES];
  } kinds[] = {
    { 1, 1, { CONVOLVE_LIGHT_COLOR } },
    { 1, 2, { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_ALPHA } },
    { 1, 3, { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR } },
    { 1, 3, { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_ALPHA, CONVOLVE_LIGHT_COPY } },
    { 1, 4, { CONVOLVE_LIGHT_COPY, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR } },
    { 1, 4, { CONVOLVE_LIGHT_ALPHA, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR } },
    { 1, 4, { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_ALPHA } },
    { 3, 1, { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR } },
    { 4, 1, { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_ALPHA } },
    { 4, 1, { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_ALPHA, CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_COLOR } },
  };
  const int kind = check_random_range (random, 0, sizeof kinds / sizeof *kinds - 1);
  Case test = { .light = { .planes = kinds[kind].planes }, .alpha = -1 };
  ConvolvePixel *pixel = &test.light.pixel;
  int most;

  pixel->samples = kinds[kind].samples;
  pixel->select = (1 << pixel->samples) - 1;
  pixel->type = check_random_one_in (random, 2) ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16;
  pixel->depth = pixel->type == CONVOLVE_SAMPLE_U8 ? 8 : check_random_range (random, 9, 16);
  pixel->shift = pixel->type == CONVOLVE_SAMPLE_U8 ? 0 : check_random_range (random, 0, 16 - pixel->depth);
  pixel->swapped = pixel->type == CONVOLVE_SAMPLE_U16 && check_random_one_in (random, 3);
  pixel->stride = pixel->samples * (pixel->type == CONVOLVE_SAMPLE_U8 ? 1 : 2);
  most = (1 << pixel->depth) - 1;
  memcpy (test.light.role, kinds[kind].role, sizeof (test.light.role));
  for (int k = 0; k < count_samples (&test.light); k++) {
    test.alpha = test.light.role[k] == CONVOLVE_LIGHT_ALPHA ? k : test.alpha;
    test.light.about[k] = check_random_one_in (random, 2) ? 0 : check_random_range (random, 0, most);
  }
  if (check_random_one_in (random, 2))
    test.light.transfer = check_random_range (random, 0, CONVOLVE_N_TRANSFERS - 1);
  test.light.zero = check_random_range (random, 0, most / 8);
  test.light.range = check_random_range (random, most / 2, most - test.light.zero);
  test.light.weighs = test.alpha >= 0 && !check_random_one_in (random, 4);
  test.light.leaves_unseen = check_random_one_in (random, 2);
  test.width = check_random_range (random, 1, check_random_one_in (random, 2) ? 40 : 1200);
  test.in_place = check_random_one_in (random, 2);
  return test;
}

/* Whether alpha weighs sample k. */
static bool
weighs (const Case *test, int k)
{
  return test->light.weighs && test->light.role[k] == CONVOLVE_LIGHT_COLOR;
}

static int64_t
expected_word (const Case *test, const Picture *original, int k, int x, int y)
{
  const ConvolveLight *light = &test->light;
  int64_t word = word_of (light, k, get_code (light, outer_at (light, original, k, x, y)));

  if (!weighs (test, k))
    return word;
  return scale_about (word, level_of (light, k),
      word_of (light, test->alpha, get_code (light, outer_at (light, original, test->alpha, x, y))), MOST);
}

enum
{
  KEEPS = -1, /* the original's bits */
  LEAVES = -2 /* those of the outer picture */
};

/* The code value that sample k gets, or one of these. */
static int64_t
expected_code (const Case *test, const Picture *original, const Picture *inner, int k, int x, int y)
{
  const ConvolveLight *light = &test->light;
  int64_t word = get_word (light, inner, k, x, y), alpha = MOST;
  bool stays = word == expected_word (test, original, k, x, y);

  if (weighs (test, k)) {
    alpha = get_word (light, inner, test->alpha, x, y);
    if (alpha == 0)
      return light->leaves_unseen ? LEAVES : KEEPS;
    stays = stays && alpha == expected_word (test, original, test->alpha, x, y);
  }
  return stays ? KEEPS
               : code_of (light, k, alpha == MOST ? word : scale_about (word, level_of (light, k), MOST, alpha));
}

static bool
words_are_right (const Case *test, const Picture *original, const Picture *inner)
{
  bool good = true;

  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < test->width; x++)
      for (int k = 0; k < count_samples (&test->light); k++)
        good = good && get_word (&test->light, inner, k, x, y) == expected_word (test, original, k, x, y);
  return good;
}

/* Writes what the definition says over a picture. */
static void
pack_by_definition (const Case *test, const Picture *original, const Picture *inner, uint8_t *to)
{
  const ConvolveLight *light = &test->light;
  const int size = light->pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2;

  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < test->width; x++)
      for (int k = 0; k < count_samples (light); k++) {
        const uint8_t *from = outer_at (light, original, k, x, y);
        const int64_t code = expected_code (test, original, inner, k, x, y);

        if (code == KEEPS)
          memcpy (to + (from - original->bytes), from, size);
        else if (code != LEAVES)
          set_code (light, to + (from - original->bytes), (int) code);
      }
}

/* pack_by_definition () by the formulas of a device. Whether those of the other way give the words, too. */
static bool
pack_by_samples (const Case *test, const ConvolveForm *form, const Picture *original, const Picture *inner, uint8_t *to)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;
  bool good = true;

  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < test->width; x++)
      for (int k = 0; k < tables->samples; k++) {
        const uint8_t *from = outer_at (&test->light, original, k, x, y);
        unsigned before = MOST, now = MOST;

        if (test->light.weighs) {
          before = convolve_light_alpha (tables, outer_at (&test->light, original, test->alpha, x, y));
          now = get_word (&test->light, inner, test->alpha, x, y);
        }
        good = good && convolve_light_unpack (tables, k, from, before) == expected_word (test, original, k, x, y);
        convolve_light_pack (tables, k, from, get_word (&test->light, inner, k, x, y), now, before,
            to + (from - original->bytes));
      }
  return good;
}

static bool
run_case (const Case *test, ConvolveForm *form, int level, CheckRandom *random)
{
  const ConvolveLight *light = &test->light;
  Picture original = make_picture (light, test->width, light->pixel.stride, random), outer = original;
  Picture inner = make_picture (light, test->width, 2 * light->pixel.samples, random);
  uint8_t *expected = malloc (original.size), *sampled = malloc (original.size);
  bool good;

  if (!test->in_place) {
    outer.bytes = malloc (outer.size);
    for (int i = 0; i < light->planes && outer.bytes; i++)
      outer.picture.planes[i].data = outer.bytes + ((uint8_t *) original.picture.planes[i].data - original.bytes);
  }
  if (!expected || !sampled || !outer.bytes)
    abort ();
  if (!test->in_place)
    check_random_fill (random, outer.bytes, outer.size);
  spread_extremes (light, &original, random);
  form->level = level;
  good = convolve_form_unpack (form, &original.picture, &inner.picture, NULL) == CONVOLVE_OK
      && words_are_right (test, &original, &inner);
  change_words (light, &inner, random);
  memcpy (expected, outer.bytes, outer.size);
  memcpy (sampled, outer.bytes, outer.size);
  pack_by_definition (test, &original, &inner, expected);
  good =
      good && pack_by_samples (test, form, &original, &inner, sampled) && memcmp (expected, sampled, outer.size) == 0;
  good = good && convolve_form_pack (form, &original.picture, &inner.picture, &outer.picture, NULL) == CONVOLVE_OK
      && memcmp (expected, outer.bytes, outer.size) == 0;
  if (!test->in_place)
    free (outer.bytes);
  free (original.bytes);
  free (inner.bytes);
  free (expected);
  free (sampled);
  return good;
}

int
check_forms_light (uint64_t seed, int cases, FILE *file)
{
  int failures = 0;

  for (int i = 0; i < cases && failures < MOST_FAILURES; i++) {
    CheckRandom random;
    Case test;
    ConvolveForm *form;

    check_random_init (&random, seed, i);
    test = make_case (&random);
    form = convolve_form_new_light (&test.light, NULL, NULL);
    for (int level = 0; level < convolve_cpu_level_count (); level++)
      if (!form || !run_case (&test, form, level, &random)) {
        fprintf (file, "FAILED forms-light: %d planes of %d samples of %d bits, %d wide%s, by %s, seed %llu, case %d\n",
            test.light.planes, test.light.pixel.samples, test.light.pixel.depth, test.width,
            test.light.weighs ? ", weighed" : "", convolve_cpu_level (level)->name, (unsigned long long) seed, i);
        failures++;
      }
    convolve_form_free (form);
  }
  return failures;
}

/* --- quotients --- */

/* The formulas without divisions, for all numbers. */
static bool
are_shares_right (void)
{
  bool good = true;

  for (int depth = 8; depth <= 16; depth++) {
    const int most = (1 << depth) - 1;

    for (int64_t i = 0; i <= MOST; i++) {
      good = good && convolve_light_narrow ((unsigned) i, depth) == rounded_share (i * most, MOST);
      good = good && (i > most || convolve_light_widen ((unsigned) i, depth) == rounded_share (i * MOST, most));
    }
  }
  return good;
}

/* Every word of light, divided by one alpha. */
static bool
are_quotients_right (ConvolveForm *form, int64_t alpha, uint16_t *const planes[4], uint16_t *outer)
{
  static uint16_t packed_alpha[MOST + 1];
  ConvolvePicture original = { MOST + 1, 1, { { planes[0], 0 }, { planes[1], 0 } } };
  ConvolvePicture inner = { MOST + 1, 1, { { planes[2], 0 }, { planes[3], 0 } } };
  ConvolvePicture to = { MOST + 1, 1, { { outer, 0 }, { packed_alpha, 0 } } };
  bool good;

  for (int i = 0; i <= MOST; i++) {
    planes[0][i] = 0;
    planes[1][i] = (uint16_t) (alpha ^ 1);
    planes[2][i] = (uint16_t) i;
    planes[3][i] = (uint16_t) alpha;
  }
  good = convolve_form_pack (form, &original, &inner, &to, NULL) == CONVOLVE_OK;
  for (int i = 0; i <= MOST && good; i++)
    good = outer[i] == scale_about (i, 0, MOST, alpha);
  return good;
}

int
check_forms_quotients (uint64_t seed, FILE *file)
{
  static uint16_t planes[4][MOST + 1], outer[MOST + 1];
  uint16_t *const all[] = { planes[0], planes[1], planes[2], planes[3] };
  ConvolveLight light = { .pixel = { .type = CONVOLVE_SAMPLE_U16, .depth = 16, .samples = 1, .stride = 2, .select = 1 },
    .planes = 2,
    .role = { CONVOLVE_LIGHT_COLOR, CONVOLVE_LIGHT_ALPHA },
    .weighs = true };
  ConvolveForm *form = convolve_form_new_light (&light, NULL, NULL);
  CheckRandom random;
  int failures = 0;

  if (!are_shares_right ()) {
    fprintf (file, "FAILED forms-quotients: a share in proportion\n");
    failures++;
  }
  check_random_init (&random, seed, 0);
  for (int i = 1; i <= 160 && form && failures < MOST_FAILURES; i++) {
    int alpha = i <= 20 ? i : i <= 40 ? MOST + 21 - i : check_random_range (&random, 1, MOST);

    for (form->level = 0; form->level < convolve_cpu_level_count (); form->level++)
      if (!are_quotients_right (form, alpha, all, outer)) {
        fprintf (file, "FAILED forms-quotients: an alpha of %d, by %s\n", alpha,
            convolve_cpu_level (form->level)->name);
        failures++;
      }
  }
  convolve_form_free (form);
  return form ? failures : 1;
}
