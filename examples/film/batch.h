/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many films: those of a folder, or those that a pattern names. */
#ifndef EXAMPLES_BATCH_H
#define EXAMPLES_BATCH_H

#include "options.h"

/* Whether the input names a folder, or is a pattern with * or ? that is no file itself. */
gboolean batch_is (const char *input);

/*
 * Makes a film in the output's folder for each film of the input, with a line for each. Films that are there already are left
 * alone, unless the program made them with other options.
 * FALSE where one failed.
 */
gboolean batch_convolve (const Options *options);

#endif
