/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The terminal of live.c: single keys without Enter, and a terminal that is as before however the program ends. */
#ifndef EXAMPLES_TERMINAL_H
#define EXAMPLES_TERMINAL_H

#include <glib.h>

/*
 * Makes the terminal of standard input hand over single keys, and not show them. Where standard input is no terminal,
 * nothing is changed. The terminal is restored by terminal_close(), by exit(), while the program is stopped by Ctrl-Z,
 * and by signals that kill the program.
 */
void terminal_open (void);
void terminal_close (void);

/* The columns of the terminal of standard output, or 0 where standard output is no terminal. */
guint terminal_columns (void);

#endif
