/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A page for a browser in which a person sees the boxes of a film and corrects them. */
#ifndef FILM_PAGE_H
#define FILM_PAGE_H

#include <gst/gst.h>

/* What the page has to know of a film. */
typedef struct
{
  const gchar *file;     /* the film; shown where a browser can play it */
  const gchar *boxes;    /* JSON, as tracks_load () reads it */
  const gchar *save;     /* the name under which the page saves the boxes */
  gint width, height;    /* of the upright picture, in which the boxes are */
  gint par_n, par_d;     /* the shape of its pixels */
  gint rate_n, rate_d;   /* frames a second; 0 where unknown or not steady */
  GstClockTime duration; /* or GST_CLOCK_TIME_NONE */
} FilmPage;

/* Writes the page, one file without any other. FALSE with error. */
gboolean film_page_write (const FilmPage *page, const gchar *file, GError **error);

#endif
