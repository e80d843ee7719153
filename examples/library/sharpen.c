/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sharpens a picture with the library alone: sharpen INPUT.ppm OUTPUT.ppm
 *
 *   cc sharpen.c -o sharpen $(pkg-config --cflags --libs cudaconvolve)
 *
 * Takes binary PGM and PPM files of 8 bits, without comments in their header.
 */
#include <convolve.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static int
sharpen (const uint8_t *from, uint8_t *to, int width, int height, int samples)
{
  double taps[] = { 0, -1, 0, -1, 5, -1, 0, -1, 0 };
  ConvolveMask mask = { .width = 3, .height = 3, .divisor = 1, .taps = taps };
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = samples, .stride = samples };
  ConvolvePlane plane = { from, to, width * samples, width * samples, width, height, { 0, 0, width, height } };
  ConvolveError error = { .status = CONVOLVE_OK };
  pixel.select = (1u << samples) - 1; /* all samples */
  ConvolvePlan *plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "auto", NULL, &error);
  if (!plan || convolve_run (plan, &plane, &error) != CONVOLVE_OK)
    fprintf (stderr, "%s\n", error.text);
  convolve_plan_unref (plan);
  return error.status == CONVOLVE_OK ? 0 : 1;
}

static int
complain (const char *sentence)
{
  fprintf (stderr, "%s\n", sentence);
  return 1;
}

int
main (int argc, char **argv)
{
  char kind;
  int width, height, result;
  FILE *in = argc == 3 ? fopen (argv[1], "rb") : NULL;
  if (!in || fscanf (in, "P%c %d %d 255", &kind, &width, &height) != 3 || !isspace (fgetc (in))
      || (kind != '5' && kind != '6') || width < 1 || height < 1 || width > 32767 || height > 32767)
    return complain ("Usage: sharpen INPUT.ppm OUTPUT.ppm, with a file of 8 bits in binary form");
  int samples = kind == '6' ? 3 : 1;
  size_t bytes = (size_t) width * height * samples;
  uint8_t *from = malloc (bytes), *to = malloc (bytes);
  if (!from || !to || fread (from, 1, bytes, in) != bytes)
    result = complain ("The input ends early, or memory is short");
  else if ((result = sharpen (from, to, width, height, samples)) == 0) {
    FILE *out = fopen (argv[2], "wb");
    if (!out || fprintf (out, "P%c\n%d %d\n255\n", kind, width, height) < 0 || fwrite (to, 1, bytes, out) != bytes
        || fclose (out) != 0)
      result = complain ("The output cannot be written");
  }
  fclose (in);
  free (from);
  free (to);
  return result;
}
