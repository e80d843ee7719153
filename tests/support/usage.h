/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this process uses of the machine while it repeats an operation: memory, memory of the GPU, threads, and file
 * descriptors. All must stay flat after a warm-up. Linux alone.
 */
#ifndef TESTS_SUPPORT_USAGE_H
#define TESTS_SUPPORT_USAGE_H

#include <glib.h>

typedef struct _Usage Usage;

/*
 * Comes before the first thread. All threads then share one heap, and large blocks that are freed go back to the
 * system. Otherwise malloc() has several heaps and keeps such blocks, and resident memory depends on how the threads
 * took turns.
 */
void usage_init (void);

/*
 * For so many operations, named as in "states". The first fifth of the operations is the warm-up. Memory of the GPU
 * is judged where device is set: other processes on the same GPU would be counted too.
 */
Usage *usage_new (const gchar *name, guint64 operations, gboolean device);

/*
 * So many KiB more may be added: to resident memory, because malloc() keeps more of what was freed where there are many
 * threads or large blocks; and to the heap, where others in the process do not use the same all the time.
 */
void usage_allow (Usage *usage, guint resident, guint heap);

/* Whether there are enough samples for a line. */
gboolean usage_is_enough (const Usage *usage);

/* Whether it is time to look, after so many operations; and the look, at a moment at which nothing is under way. */
gboolean usage_is_due (const Usage *usage, guint64 done);
void usage_sample (Usage *usage, guint64 done);

/*
 * Prints a row for each figure: at the start, at the end, the largest, the slope of a straight line through all of
 * them for 1,000 operations, and what that line grows from the first to the last sample. FALSE where a line grows by
 * more than its bound, which the row shows, unless the ends of a count differ by no more than half of it; and where samples
 * are too few. Frees usage. Under a sanitizer, which keeps freed memory, memory is
 * printed and not judged; nor is resident memory under an emulator, which keeps the code that it translated.
 */
gboolean usage_end (Usage *usage);

/* The command that runs programs for another machine, as Meson names it, or NULL where none is needed. */
const gchar *usage_emulator (void);

/* Bytes of memory of the first GPU that are taken, by whichever process; 0 without a GPU. */
guint64 usage_of_device (void);

#endif
