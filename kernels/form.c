/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of forms, on the host by threads and on the device by their own files. */
#include <stdlib.h>

#include "common/form.h"
#include "cpu/loops/levels.h"
#include "cpu/threads/pool.h"

#define ROWS_OF_JOB 16 /* luma rows that a thread takes at a time, at least */

ConvolveForm *
convolve_form_new (const ConvolveFormKind *kind, ConvolveDevice *device, ConvolveError *error)
{
  ConvolveForm *form = calloc (1, kind->size);

  if (!form) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for an inner form");
    return NULL;
  }
  form->kind = kind;
  form->device = device;
  form->level = convolve_cpu_level_count () - 1;
  return form;
}

void
convolve_form_free (ConvolveForm *form)
{
  if (!form)
    return;
  if (form->kind->clear)
    form->kind->clear (form);
  free (form);
}

void
convolve_form_set_pool (ConvolveForm *form, ConvolvePool *pool)
{
  form->pool = pool;
}

/* A pass on the host. */
typedef struct
{
  const ConvolveForm *form;
  const ConvolveFormJob *job;
  ConvolveFormPass pass;
  int rows; /* of a job */
} Work;

static void
do_rows (const void *data, int first, int count, void *memory)
{
  const Work *work = data;
  int height = work->job->inner.height, from = first * work->rows, to = (first + count) * work->rows;

  work->form->kind->rows[work->pass](work->form, work->job, from, to < height ? to : height);
}

static ConvolveStatus
run_on_host (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, ConvolveError *error)
{
  int unit = form->kind->row_unit, rows = (ROWS_OF_JOB + unit - 1) / unit * unit;
  int jobs = (job->inner.height + rows - 1) / rows;
  Work work = { form, job, pass, rows };

  return convolve_pool_run (form->pool, form->pool ? convolve_pool_threads (form->pool) : 1, jobs, 0, do_rows, &work,
      error);
}

static ConvolveStatus
run (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, ConvolveError *error)
{
  const ConvolvePicture *original = &job->original, *inner = &job->inner, *outer = &job->outer;

  if (inner->width < 1 || inner->height < 1 || original->width != inner->width || original->height != inner->height
      || outer->width != inner->width || outer->height != inner->height || !original->planes[0].data
      || !inner->planes[0].data || !outer->planes[0].data)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "pictures of %dx%d, %dx%d and %dx%d, or without memory",
        original->width, original->height, inner->width, inner->height, outer->width, outer->height);
  return form->device ? form->kind->run (form, pass, job, error) : run_on_host (form, pass, job, error);
}

/* A look on the host. */
typedef struct
{
  const ConvolveForm *form;
  const ConvolvePicture *outer;
  bool *translucent; /* a thread has found such a pixel; atomic */
} Look;

static void
look_at_rows (const void *data, int first, int count, void *memory)
{
  const Look *look = data;
  int from = first * ROWS_OF_JOB, to = (first + count) * ROWS_OF_JOB;

  for (int y = from; y < to && y < look->outer->height && !__atomic_load_n (look->translucent, __ATOMIC_RELAXED); y++)
    if (!look->form->kind->is_opaque (look->form, look->outer, y))
      __atomic_store_n (look->translucent, true, __ATOMIC_RELAXED);
}

bool
convolve_form_is_opaque (const ConvolveForm *form, const ConvolvePicture *outer)
{
  bool translucent = false;
  Look look = { form, outer, &translucent };

  convolve_pool_run (form->pool, form->pool ? convolve_pool_threads (form->pool) : 1,
      (outer->height + ROWS_OF_JOB - 1) / ROWS_OF_JOB, 0, look_at_rows, &look, NULL);
  return !translucent;
}

ConvolveStatus
convolve_form_look (const ConvolveForm *form, const ConvolvePicture *outer, ConvolveError *error)
{
  const ConvolveFormJob job = { *outer, *outer, *outer };

  return form->kind->run (form, CONVOLVE_FORM_LOOK, &job, error);
}

ConvolveStatus
convolve_form_await_look (const ConvolveForm *form, bool *is_opaque, ConvolveError *error)
{
  unsigned translucent = 1;
  ConvolveStatus status = convolve_device_await_answer (form->device, &translucent, error);

  *is_opaque = translucent == 0;
  return status;
}

ConvolveStatus
convolve_form_unpack (const ConvolveForm *form, const ConvolvePicture *outer, const ConvolvePicture *inner,
    ConvolveError *error)
{
  const ConvolveFormJob job = { *outer, *inner, *outer };

  return run (form, CONVOLVE_FORM_UNPACK, &job, error);
}

ConvolveStatus
convolve_form_pack (const ConvolveForm *form, const ConvolvePicture *original, const ConvolvePicture *inner,
    const ConvolvePicture *outer, ConvolveError *error)
{
  const ConvolveFormJob job = { *original, *inner, *outer };

  return run (form, CONVOLVE_FORM_PACK, &job, error);
}
