/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that change while the film plays, by its time. */
#ifndef EXAMPLES_KEYFRAMES_H
#define EXAMPLES_KEYFRAMES_H

#include <gst/gst.h>

/*
 * Whether each of these texts is PROPERTY=TIME:VALUE,... with a property of the element that can be controlled, times
 * that ascend, in seconds or in per cent of the film, and values in the property's range. FALSE with error. NULL is no
 * text.
 */
gboolean keyframes_check (char *const *texts, GstElement *element, GError **error);

/*
 * Lets GstController set the properties by the time of each frame. Between two times the curve is smooth and does not overshoot.
 * source is asked for the film's duration where a time is in per cent.
 */
gboolean keyframes_set (char *const *texts, GstElement *element, GstElement *source, GError **error);

#endif
