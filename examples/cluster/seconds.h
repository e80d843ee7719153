/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long the steps of a pipeline take, in seconds of the thread that does them. */
#ifndef CLUSTER_SECONDS_H
#define CLUSTER_SECONDS_H

#include <gst/gst.h>

#define SECONDS_MOST 2 /* elements that can be watched */

/* Counts from now on the time in which the elements behind this pad work: from the push of a buffer to its return. */
void seconds_watch (GstPad *src, guint slot);

/* The time in seconds that was counted in a slot. */
double seconds_of (guint slot);

#endif
