/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the program tells: lines for people, or one JSON object a line for programs. */
#ifndef EXAMPLES_SAY_H
#define EXAMPLES_SAY_H

#include <glib.h>

/* Says everything in JSON from now on, errors included. */
void say_in_json (void);
gboolean say_is_json (void);

/* Leaves stdout to the film. */
void say_on_stderr (void);

/*
 * Begins a line about an event, adds its values, and ends it. The text is what people read; the values are for programs
 * alone. A value of NULL, or a number below 0, is left out.
 */
void say_begin (const char *event);
void say_text (const char *name, const char *value);
void say_number (const char *name, double value);
void say_end (const char *format, ...) G_GNUC_PRINTF (1, 2);

#endif
