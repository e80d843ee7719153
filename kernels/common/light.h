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
  int samples;            /* of a pixel, in all planes together */
  unsigned colors, alpha; /* bit k: sample k is a colour, or alpha */

  /* Of colours: the word of each code value, and the code value of each word; NULL where code values are light. */
  const uint16_t *decode, *encode;
} ConvolveLightTables;

/* The word of a code value in proportion to the largest one. */
static CONVOLVE_BOTH unsigned
convolve_light_widen (unsigned code, unsigned most)
{
  return (code * (unsigned) CONVOLVE_LIGHT_MOST + most / 2) / most;
}

/* Back: every code value is what its own word becomes. */
static CONVOLVE_BOTH unsigned
convolve_light_narrow (unsigned word, unsigned most)
{
  return (word * most + CONVOLVE_LIGHT_MOST / 2) / CONVOLVE_LIGHT_MOST;
}

/* The word of sample k with this code value. */
static CONVOLVE_BOTH unsigned
convolve_light_in (const ConvolveLightTables *tables, int k, unsigned code)
{
  if (tables->decode && (tables->colors >> k & 1))
    return tables->decode[code];
  return convolve_light_widen (code, (1u << tables->pixel.depth) - 1);
}

/* The code value of sample k for this word. */
static CONVOLVE_BOTH unsigned
convolve_light_out (const ConvolveLightTables *tables, int k, unsigned word)
{
  if (tables->encode && (tables->colors >> k & 1))
    return tables->encode[word];
  return convolve_light_narrow (word, (1u << tables->pixel.depth) - 1);
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

/* Unpacks sample k of a pixel. */
static CONVOLVE_BOTH void
convolve_light_unpack (const ConvolveLightTables *tables, int k, const uint8_t *from, uint16_t *to)
{
  *to = (uint16_t) convolve_light_in (tables, k, (unsigned) convolve_read_sample (&tables->pixel, from));
}

/* Packs it: a word that is what the original's becomes keeps the original's bits. */
static CONVOLVE_BOTH void
convolve_light_pack (const ConvolveLightTables *tables, int k, const uint8_t *original, uint16_t word, uint8_t *to)
{
  unsigned before = convolve_light_in (tables, k, (unsigned) convolve_read_sample (&tables->pixel, original));

  if (word == before)
    convolve_light_copy (&tables->pixel, to, original);
  else
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

#ifdef __cplusplus
}
#endif

#endif
