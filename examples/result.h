/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that a program writes. The file has its name only when it is complete, and until then the earlier one stays. */
#ifndef EXAMPLES_RESULT_H
#define EXAMPLES_RESULT_H

#include <glib.h>

/* All zero is empty. A result must not move from begin to keep or drop. */
typedef struct
{
  const char *name; /* as the user wrote it */
  char *target;     /* the file of that name, with its folder's full path and without symbolic links */
  char *part;       /* the file to write, in the same folder */
} Result;

/*
 * Makes an empty file beside the named one, and gives its path in part. The named file must not be one that the program
 * reads: neither the input nor a file whose path is the value of an assignment. FALSE with a line on stderr where the name
 * cannot be written. Assignments are NAME=VALUE and end with NULL.
 */
gboolean result_begin (Result *result, const char *name, const char *input, char *const *assignments);

/* Gives the file its name. FALSE with a line on stderr where that fails. The result is empty in either case. */
gboolean result_keep (Result *result);

/* Deletes the file beside the named one. Does nothing to an empty result. */
void result_drop (Result *result);

/* Deletes the files beside the names of all results. For a program that ends at once; may be called anywhere. */
void results_delete (void);

/*
 * From now on a signal that ends the program deletes what is not complete. result_begin() calls this; a program that
 * handled signals itself calls the function when it leaves them alone again.
 */
void results_guard (void);

#endif
