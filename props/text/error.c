/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "text/error.h"

/* The macro turns the name into a string, so the name must stay without spaces. */
/* clang-format off */
G_DEFINE_QUARK (convolve-props-error-quark, convolve_props_error)
/* clang-format on */

gboolean
convolve_props_fail (GError **error, ConvolvePropsError code, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (CONVOLVE_PROPS_ERROR, code, format, arguments));
  va_end (arguments);
  return FALSE;
}
