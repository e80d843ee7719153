/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seed and the folder of one run of a test program. */
#ifndef TESTS_SUPPORT_RUN_H
#define TESTS_SUPPORT_RUN_H

#include <glib.h>

/* The seed of this run, from CUDACONVOLVE_SEED or at random. The first call prints it. */
guint32 check_seed (void);

/* A new folder for files; check_remove_folder() removes the folder, which must be empty, and frees the name. */
gchar *check_folder (void);
void check_remove_folder (gchar *folder);

#endif
