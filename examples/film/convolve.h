/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One film from its beginning to its end. */
#ifndef EXAMPLES_CONVOLVE_H
#define EXAMPLES_CONVOLVE_H

#include "options.h"

/* Makes the film that the options ask for. FALSE with a line where that fails; the output is as before then. */
gboolean convolve_film (const Options *options);

#endif
