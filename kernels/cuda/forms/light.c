/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form of light: tables are made here once, for the host and for a device. */
#include "cuda/forms/light.h"

#include <math.h>
#include <stdlib.h>

static void
clear (ConvolveForm *form)
{
  ConvolveLightForm *light = (ConvolveLightForm *) form;

  free (light->memory);
  if (form->device)
    convolve_device_release (form->device, light->memory_on_device);
}

static const ConvolveFormKind kind = {
  .size = sizeof (ConvolveLightForm),
  .row_unit = 1,
  .rows = { convolve_light_unpack_rows, convolve_light_pack_rows },
  .is_opaque = convolve_light_row_is_opaque,
  .run = convolve_light_run,
  .clear = clear,
};

/* Fills the words of 2^depth code values, and behind them the code values of all words. */
static void
fill_tables (const ConvolveLight *light, uint16_t *decode, uint16_t *encode)
{
  const int codes = 1 << light->pixel.depth;

  for (int i = 0; i < codes; i++)
    decode[i] = (uint16_t) floor (
        CONVOLVE_LIGHT_MOST * convolve_transfer_decode (light->transfer, (double) (i - light->zero) / light->range)
        + 0.5);
  for (int i = 0; i < CONVOLVE_LIGHT_WORDS; i++)
    encode[i] = (uint16_t) floor (light->zero
        + light->range * convolve_transfer_encode (light->transfer, (double) i / CONVOLVE_LIGHT_MOST) + 0.5);
}

static ConvolveStatus
make_tables (ConvolveLightForm *form, const ConvolveLight *light, ConvolveError *error)
{
  const size_t codes = (size_t) 1 << light->pixel.depth, bytes = (codes + CONVOLVE_LIGHT_WORDS) * sizeof (uint16_t);
  ConvolveStatus status = CONVOLVE_OK;
  uint16_t *words = malloc (bytes);

  form->memory = words;
  if (!words)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the tables of a transfer function");
  fill_tables (light, words, words + codes);
  if (form->form.device)
    status = convolve_device_put (form->form.device, words, bytes, &form->memory_on_device, error);
  form->tables.decode = form->form.device ? form->memory_on_device : words;
  form->tables.encode = form->tables.decode + codes;
  return status;
}

static int
count_samples (const ConvolveLight *light)
{
  return light->planes > 1 ? light->planes : light->pixel.samples;
}

/* The sample of alpha, or -1. */
static int
find_alpha (const ConvolveLight *light)
{
  for (int k = 0; k < count_samples (light); k++)
    if (light->role[k] == CONVOLVE_LIGHT_ALPHA)
      return k;
  return -1;
}

static ConvolveStatus
check (const ConvolveLight *light, ConvolveError *error)
{
  const ConvolvePixel *pixel = &light->pixel;
  const int most = (1 << pixel->depth) - 1;

  if (convolve_check_pixel (pixel, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  if (light->planes < 1 || light->planes > CONVOLVE_FORM_PLANES || (light->planes > 1 && pixel->samples > 1)
      || pixel->stride != pixel->samples * convolve_sample_size (pixel->type))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d planes of %d samples in %d bytes", light->planes,
        pixel->samples, pixel->stride);
  if ((int) light->transfer < 0 || light->transfer >= CONVOLVE_N_TRANSFERS)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d is no transfer function", (int) light->transfer);
  if (light->weighs && find_alpha (light) < 0)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "colours cannot be weighed without alpha");
  if (light->transfer != CONVOLVE_TRANSFER_LINEAR
      && (light->zero < 0 || light->range < 1 || light->zero > most - light->range))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a range of %d code values from %d on in %d bits", light->range,
        light->zero, pixel->depth);
  return CONVOLVE_OK;
}

ConvolveForm *
convolve_form_new_light (const ConvolveLight *light, ConvolveDevice *device, ConvolveError *error)
{
  ConvolveLightForm *form;

  if (check (light, error) != CONVOLVE_OK)
    return NULL;
  form = (ConvolveLightForm *) convolve_form_new (&kind, device, error);
  if (!form)
    return NULL;
  form->tables.pixel = light->pixel;
  form->tables.planes = light->planes;
  form->tables.samples = count_samples (light);
  form->tables.weighs = light->weighs;
  form->tables.leaves_unseen = light->leaves_unseen;
  form->tables.alpha = light->weighs ? find_alpha (light) : 0;
  for (int k = 0; k < form->tables.samples; k++) {
    form->tables.colors |= (unsigned) (light->role[k] == CONVOLVE_LIGHT_COLOR) << k;
    if (light->transfer == CONVOLVE_TRANSFER_LINEAR)
      form->tables.about[k] = convolve_light_widen ((unsigned) light->about[k], light->pixel.depth);
  }
  if (light->transfer != CONVOLVE_TRANSFER_LINEAR && make_tables (form, light, error) != CONVOLVE_OK) {
    convolve_form_free (&form->form);
    return NULL;
  }
  return &form->form;
}
