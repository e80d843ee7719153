/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One screen about this machine: what it has, and whether the element makes the same bytes here as elsewhere. */
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <glib.h>

/* Says it. FALSE where the element is missing, or makes other bytes. detector is the user's model or command, or NULL. */
gboolean check_machine (const char *detector);

/* Says the versions of the program, of GStreamer and of the plugin. FALSE where there is no plugin. */
gboolean check_version (void);

#endif
