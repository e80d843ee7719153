/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encoders for pictures and for sound: which ones this machine has, and the best one for a film. */
#ifndef EXAMPLES_ENCODER_H
#define EXAMPLES_ENCODER_H

#include <gst/gst.h>

#include "container.h"

#define USUAL_QUALITY 75

typedef struct
{
  const char *codec;    /* the name for --codec */
  const char *title;    /* for people */
  const char *element;  /* of GStreamer */
  const char *settings; /* NAME=VALUE, split by spaces; Q stands for the quantizer, T for the number of threads */
  int worst, best;      /* the quantizer of quality 0 and of 100 */
  const char *parser;   /* which the muxers want behind the encoder, or NULL */
  const char *package;  /* where Debian and Ubuntu have the element */
  gboolean even;        /* takes only even widths and heights, where chroma is subsampled */
  int most;             /* pixels of a frame, or 0 */
} Encoder;

/* Whether there are encoders of that name at all, and the names, for messages; to be freed. */
gboolean encoder_is_codec (const char *codec);
char *encoder_codecs (void);

/*
 * The best encoder for frames of these caps in this container that works on this machine. codec is what the user wants, or
 * NULL. The film loses nothing by a sample's depth or by transparency where any encoder keeps them. NULL with error.
 */
const Encoder *encoder_choose (const Container *container, const char *codec, const GstCaps *caps, GError **error);

/* A bin from raw frames of these caps to the muxer; lost tells what the encoder cannot hold, or is NULL. */
GstElement *encoder_make (const Encoder *encoder, const GstCaps *caps, int quality, const char **lost, GError **error);

/* The description of a bin that encodes sound for this container; to be freed. NULL where no encoder is there. */
char *encoder_for_sound (const Container *container, const char **title);

/* Calls back for each row of the table, for a list of what is there. */
void encoder_each (void (*call) (const Encoder *encoder, gboolean works, gpointer data), gpointer data);

#endif
