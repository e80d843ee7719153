/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes for allocation queries, by which neighbours of an element have pools of few buffers. */
#ifndef TESTS_SUPPORT_POOLS_H
#define TESTS_SUPPORT_POOLS_H

#include <gst/gst.h>

/*
 * Downstream, for a pad's queries: answers an allocation query with a pool for the caps of the query, of which downstream
 * keeps `least` buffers, and which has `most`. Returns what the probe is to return.
 */
GstPadProbeReturn pools_offer (GstPadProbeInfo *probe, guint least, guint most);

/*
 * Upstream, for a pad's answered queries: the first pool of the answer gets a limit where it has none, which is so many
 * buffers more than the answer asks for. Returns what the probe is to return.
 */
GstPadProbeReturn pools_limit (GstPadProbeInfo *probe, guint more);

#endif
