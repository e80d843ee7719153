/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of this folder that the program carries in itself; texts.py writes texts.c at build time. */
#ifndef FILM_TEXTS_H
#define FILM_TEXTS_H

extern const char film_faces_py[];
extern const char film_golden_csv[];
extern const char film_page_html[];

#endif
