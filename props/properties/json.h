/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON as the record of region-log has it: ASCII alone, so that no reader can split a line in another place. Any
 * locale.
 */
#ifndef CONVOLVE_JSON_H
#define CONVOLVE_JSON_H

#include "properties/properties.h"

G_BEGIN_DECLS

/*
 * Appends a text in quotes, or null. All but printable ASCII becomes \uNNNN. A byte that is not UTF-8 becomes U+FFFD,
 * because JSON has no bytes.
 */
void convolve_json_append_text (GString *json, const gchar *text);

/* Appends a number with as many digits as tell it from all others; null for infinity and for what is no number. */
void convolve_json_append_double (GString *json, gdouble value);

/*
 * Appends an object with all properties of the table; enums and flags are the names that users write. A secret that is
 * set is the text "secret".
 */
void convolve_json_append_properties (GString *json, const ConvolveProperties *properties);

G_END_DECLS

#endif
