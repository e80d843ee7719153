/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads JSON into a tree. */
#ifndef EXAMPLES_JSON_H
#define EXAMPLES_JSON_H

#include <glib.h>

typedef struct _Json Json;

/* The value that is the whole text; to be freed. NULL where the text is no JSON, or nested too deeply. */
Json *json_read (const char *text);
void json_free (Json *value);

/*
 * The member of an object, or NULL where there is none; value may be NULL. Of members of one name the last one counts.
 */
const Json *json_member (const Json *value, const char *name);

/* The number of an array's elements, or of an object's members, and each of them; 0 and NULL for other values. */
guint json_length (const Json *value);
const Json *json_element (const Json *value, guint index);

/* A text, or NULL where value is none. */
const char *json_text (const Json *value);

/* A number, or other where value is none; and one that is cut to an int. */
double json_number (const Json *value, double other);
int json_int (const Json *value, int other);

#endif
