/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of cudaconvolve, as a user writes them and as the keys of live change them. */
#ifndef EXAMPLES_PROPERTIES_H
#define EXAMPLES_PROPERTIES_H

#include <gst/gst.h>

/* Sets NAME=VALUE as gst-launch-1.0 does, except that a mistake is an error. FALSE with a message on stderr then. */
gboolean set_property (GstElement *element, const char *assignment);

/* How many properties the keys of live change. */
#define N_PROPERTIES 6

/* The values of these properties. All zero is empty; values_clear() makes a value empty again. */
typedef struct
{
  GValue values[N_PROPERTIES];
} Values;

void values_clear (Values *values);
void values_keep (Values *values, GstElement *convolve);
void values_restore (const Values *values, GstElement *convolve);

/* Adds " NAME=VALUE" for each of these properties that is not at its default. */
void append_properties (GString *line, GstElement *convolve);

/*
 * Makes the change of a key. variant is the kernel variant that was tried last, and is kept up to date: a step goes on
 * from there, because the element may have refused that variant. FALSE where the key changes no property.
 */
gboolean change_by_key (GstElement *convolve, char key, int *variant);

#endif
