/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form of light: one sample on its way in and out, for C and for CUDA. */
#ifndef CONVOLVE_COMMON_LIGHT_H
#define CONVOLVE_COMMON_LIGHT_H

#include "common/form.h"
#include "common/sample.h"

#define CONVOLVE_LIGHT_WORDS 65536 /* values of an inner word */
#define CONVOLVE_LIGHT_MOST 65535

/* What both passes know, on the host and on a device. */
typedef struct
{
  ConvolvePixel pixel;
  int planes;
  int samples;     /* of a pixel, in all planes together */
  unsigned colors; /* bit k: sample k is a colour */
  bool weighs;     /* by sample `alpha`, about the words `about` */
  bool leaves_unseen;
  int alpha;
  unsigned about[CONVOLVE_MAX_SAMPLES];

  /* Of colours: the word of each code value, and the code value of each word; NULL where code values are light. */
  const uint16_t *decode, *encode;
} ConvolveLightTables;

/* x / 65535, rounded, for x up to 65535^2. An odd number has no halves. */
static CONVOLVE_BOTH uint32_t
convolve_light_share (uint32_t x)
{
  x += CONVOLVE_LIGHT_WORDS / 2;
  return (x + (x >> 16)) >> 16;
}

/*
 * The word of a code value in proportion to the largest one, M = 2^depth - 1, rounded. As 65535 is 2^(16 - depth) * M +
 * 2^(16 - depth) - 1, what is to be divided by M is below M^2, and the division is that of convolve_light_share ().
 * The depth is at least 8.
 */
static CONVOLVE_BOTH unsigned
convolve_light_widen (unsigned code, int depth)
{
  unsigned rest = code * ((1u << (16 - depth)) - 1) + (1u << (depth - 1));

  return (code << (16 - depth)) + ((rest + (rest >> depth)) >> depth);
}

/* Back: every code value is what its own word becomes. */
static CONVOLVE_BOTH unsigned
convolve_light_narrow (unsigned word, int depth)
{
  return convolve_light_share (word * ((1u << depth) - 1));
}

/* The word of sample k with this code value. */
static CONVOLVE_BOTH unsigned
convolve_light_in (const ConvolveLightTables *tables, int k, unsigned code)
{
  if (tables->decode && (tables->colors >> k & 1))
    return tables->decode[code];
  return convolve_light_widen (code, tables->pixel.depth);
}

/* The code value of sample k for this word. */
static CONVOLVE_BOTH unsigned
convolve_light_out (const ConvolveLightTables *tables, int k, unsigned word)
{
  if (tables->encode && (tables->colors >> k & 1))
    return tables->encode[word];
  return convolve_light_narrow (word, tables->pixel.depth);
}

/* The same word at another place, with all of its bits. */
static CONVOLVE_BOTH void
convolve_light_copy (const ConvolvePixel *pixel, uint8_t *to, const uint8_t *from)
{
  uint16_t word;

  if (pixel->type == CONVOLVE_SAMPLE_U8) {
    *to = *from;
    return;
  }
  CONVOLVE_READ_WORD (word, from);
  CONVOLVE_WRITE_WORD (to, word);
}

/* Where sample k of pixel x is, in a row of each plane: size is that of a sample. */
static CONVOLVE_BOTH size_t
convolve_light_offset (const ConvolveLightTables *tables, int k, int x, int size)
{
  return tables->planes > 1 ? (size_t) x * size : ((size_t) x * tables->samples + k) * size;
}

/* A word times alpha, and divided by alpha again, about a level. Alpha is above 0 there; halves go from the level. */
static CONVOLVE_BOTH unsigned
convolve_light_weigh (unsigned word, unsigned about, unsigned alpha)
{
  unsigned distance = word < about ? about - word : word - about;

  distance = convolve_light_share (distance * alpha);
  return word < about ? about - distance : about + distance;
}

static CONVOLVE_BOTH unsigned
convolve_light_unweigh (unsigned word, unsigned about, unsigned alpha)
{
  unsigned most = word < about ? about : CONVOLVE_LIGHT_MOST - about;
  unsigned distance = ((word < about ? about - word : word - about) * CONVOLVE_LIGHT_MOST + alpha / 2) / alpha;

  distance = distance < most ? distance : most;
  return word < about ? about - distance : about + distance;
}

/* The word of alpha of the pixel whose alpha is at `from`. */
static CONVOLVE_BOTH unsigned
convolve_light_alpha (const ConvolveLightTables *tables, const uint8_t *from)
{
  return convolve_light_widen ((unsigned) convolve_read_sample (&tables->pixel, from), tables->pixel.depth);
}

/* Whether alpha weighs sample k. */
static CONVOLVE_BOTH bool
convolve_light_weighs (const ConvolveLightTables *tables, int k)
{
  return tables->weighs && (tables->colors >> k & 1);
}

/* The inner word of sample k of a pixel, whose alpha is a word. */
static CONVOLVE_BOTH unsigned
convolve_light_unpack (const ConvolveLightTables *tables, int k, const uint8_t *from, unsigned alpha)
{
  unsigned word = convolve_light_in (tables, k, (unsigned) convolve_read_sample (&tables->pixel, from));

  return convolve_light_weighs (tables, k) ? convolve_light_weigh (word, tables->about[k], alpha) : word;
}

/*
 * Packs the word of sample k of a pixel. The original is there, and alpha is the inner picture's and the original's. A
 * word that is what the original's becomes keeps the original's bits. So does a colour that nobody sees, unless it is left.
 */
static CONVOLVE_BOTH void
convolve_light_pack (const ConvolveLightTables *tables, int k, const uint8_t *original, unsigned word, unsigned alpha,
    unsigned alpha_before, uint8_t *to)
{
  bool weighs = convolve_light_weighs (tables, k);

  if (weighs && alpha == 0 && tables->leaves_unseen)
    return;
  if (weighs && alpha == 0) {
    convolve_light_copy (&tables->pixel, to, original);
    return;
  }
  if (word == convolve_light_unpack (tables, k, original, alpha_before) && (!weighs || alpha == alpha_before)) {
    convolve_light_copy (&tables->pixel, to, original);
    return;
  }
  if (weighs)
    word = convolve_light_unweigh (word, tables->about[k], alpha);
  convolve_write_sample (&tables->pixel, to, (int) convolve_light_out (tables, k, word));
}

/* The form's struct. */
typedef struct
{
  ConvolveForm form;
  ConvolveLightTables tables;
  void *memory;           /* of the tables on the host */
  void *memory_on_device; /* a copy, which the tables name then; or NULL */
} ConvolveLightForm;

#ifdef __cplusplus
extern "C"
{
#endif

/* The rows of both passes on the host. */
void convolve_light_unpack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end);
void convolve_light_pack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end);
bool convolve_light_row_is_opaque (const ConvolveForm *form, const ConvolvePicture *outer, int y);

#ifdef __cplusplus
}
#endif

#endif
