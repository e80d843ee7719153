/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the complete file into memory first. The readers of arrays and archives then check all bounds. */
#include "files/weights.h"

#include "files/file.h"
#include "files/npy.h"
#include "files/zip.h"

typedef struct
{
  guint8 *bytes;
  gsize size;
} File;

/* The functions below return NULL, or a text that says what is wrong, to be freed. */

static gchar *
check_weights (const ConvolveNpy *array)
{
  g_autofree gchar *shape = convolve_npy_shape (array);

  if (array->n_dimensions != 4)
    return g_strdup_printf ("the shape %s is not (filters, channels, height, width)", shape);
  if (array->shape[0] > CONVOLVE_MAX_LAYER_FILTERS)
    return g_strdup_printf ("the shape %s has more than %d filters", shape, CONVOLVE_MAX_LAYER_FILTERS);
  if (array->shape[1] != 1 && array->shape[1] != 3)
    return g_strdup_printf ("the shape %s has neither 1 channel nor 3", shape);
  if (array->shape[2] > CONVOLVE_MAX_SIDE || array->shape[3] > CONVOLVE_MAX_SIDE)
    return g_strdup_printf ("the shape %s has filters of more than %dx%d", shape, CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
  return NULL;
}

static gchar *
check_bias (const ConvolveNpy *array, guint filters)
{
  g_autofree gchar *shape = convolve_npy_shape (array);

  if (array->n_dimensions != 1 || array->shape[0] != filters)
    return g_strdup_printf ("the shape %s is not (%u,), a number for each filter", shape, filters);
  return NULL;
}

/* Takes the array. */
static gchar *
take_weights (ConvolveNpy *array, ConvolveWeights *weights)
{
  gchar *fault = check_weights (array);

  if (!fault)
    *weights = (ConvolveWeights){ .filters = array->shape[0],
      .channels = array->shape[1],
      .height = array->shape[2],
      .width = array->shape[3],
      .weights = g_steal_pointer (&array->values) };
  convolve_npy_clear (array);
  return fault;
}

/* Puts the name of the archive's member in front of the fault, if there is one. Takes fault. */
static gchar *
in_member (const gchar *name, gchar *fault)
{
  gchar *named = fault ? g_strdup_printf ("%s: %s", name, fault) : NULL;

  g_free (fault);
  return named;
}

/* Reads the array in a member of the archive. *found tells whether there is such a member. */
static gchar *
read_member (const File *file, const gchar *name, ConvolveNpy *array, gboolean *found)
{
  ConvolveZipMember member;
  gchar *fault = convolve_zip_find (file->bytes, file->size, name, CONVOLVE_MAX_LAYER_FILE, &member);

  *found = member.bytes != NULL;
  if (!fault && *found)
    fault = convolve_npy_read (member.bytes, member.size, array);
  convolve_zip_member_clear (&member);
  return in_member (name, fault);
}

static gchar *
read_archive (const File *file, ConvolveWeights *weights)
{
  gboolean found;
  ConvolveNpy array = { 0 };
  gchar *fault = read_member (file, "weight.npy", &array, &found);

  if (!fault && !found)
    fault = g_strdup ("the archive holds no weight.npy: numpy.savez() with weight=... makes one");
  else if (!fault)
    fault = in_member ("weight.npy", take_weights (&array, weights));
  if (!fault)
    fault = read_member (file, "bias.npy", &array, &found);
  if (!fault && found) {
    fault = in_member ("bias.npy", check_bias (&array, weights->filters));
    if (!fault)
      weights->bias = g_steal_pointer (&array.values);
    convolve_npy_clear (&array);
  }
  return fault;
}

static gchar *
read_weights (const File *file, ConvolveWeights *weights)
{
  ConvolveNpy array;
  gchar *fault;

  if (convolve_zip_is_one (file->bytes, file->size))
    return read_archive (file, weights);
  if (!convolve_npy_is_one (file->bytes, file->size))
    return g_strdup ("the file is neither a .npy nor a .npz file");
  fault = convolve_npy_read (file->bytes, file->size, &array);
  return fault ? fault : take_weights (&array, weights);
}

gboolean
convolve_weights_load (const gchar *location, ConvolveWeights *weights, GError **error)
{
  ConvolveWeights read = { 0 };
  File file = { 0 };
  g_autofree gchar *fault = convolve_file_read (location, CONVOLVE_MAX_LAYER_FILE, &file.bytes, &file.size);

  if (!fault)
    fault = read_weights (&file, &read);
  g_free (file.bytes);
  if (!fault) {
    *weights = read;
    return TRUE;
  }
  convolve_weights_clear (&read);
  {
    g_autofree gchar *name = convolve_file_show (location);

    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER, "location: %s: %s", name, fault);
  }
  return FALSE;
}

void
convolve_weights_clear (ConvolveWeights *weights)
{
  g_clear_pointer (&weights->weights, g_free);
  g_clear_pointer (&weights->bias, g_free);
}
