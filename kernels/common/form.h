/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What forms share: the head of each, and the row that says how its passes are done. */
#ifndef CONVOLVE_COMMON_FORM_H
#define CONVOLVE_COMMON_FORM_H

#include "common/internal.h"
#include "convolve_form.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef enum
{
  CONVOLVE_FORM_UNPACK,
  CONVOLVE_FORM_PACK,
  CONVOLVE_FORM_LOOK, /* on a device alone */
  CONVOLVE_N_FORM_PASSES
} ConvolveFormPass;

/*
 * The pictures of a pass. Unpacking has no outer picture beside the original. Looking has no other one; its answer is the
 * device's, 1 where alpha is not the largest everywhere.
 */
typedef struct
{
  ConvolvePicture original, inner, outer;
} ConvolveFormJob;

typedef struct
{
  size_t size;  /* of the form's struct, which begins with a ConvolveForm */
  int row_unit; /* luma rows that go together: 2 where chroma has half of the rows */

  /* Luma rows first up to end, from one multiple of row_unit to another or to the picture's end, on the host. */
  void (*rows[CONVOLVE_FORM_LOOK]) (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end);

  /* Whether a row in host memory has the largest alpha alone; NULL where the form never weighs. */
  bool (*is_opaque) (const ConvolveForm *form, const ConvolvePicture *outer, int y);

  /* Enqueues a pass on the device: the function of a .cu file, or convolve_form_run_without_cuda (). */
  ConvolveStatus (
      *run) (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, ConvolveError *error);

  void (*clear) (ConvolveForm *form); /* frees what the form holds beside its struct; or NULL */
} ConvolveFormKind;

struct ConvolveForm
{
  const ConvolveFormKind *kind;
  ConvolveDevice *device; /* or NULL */
  ConvolvePool *pool;     /* or NULL */
  int level;              /* of the instruction sets of the CPU: the best one, unless a test says otherwise */
};

/* A form whose other members are 0, or NULL with NO_MEMORY. */
ConvolveForm *convolve_form_new (const ConvolveFormKind *kind, ConvolveDevice *device, ConvolveError *error);

/*
 * The function of a form's .cu file, by the stem: CONVOLVE_FORM_FUNCTION (light); declares convolve_light_run ().
 * Where no .cu file is compiled, one function stands in for all.
 */
#define CONVOLVE_FORM_RUN(stem) \
  convolve_##stem##_run (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, \
      ConvolveError *error)
#if defined CONVOLVE_CUDA || defined __CUDACC__
#define CONVOLVE_FORM_FUNCTION(stem) ConvolveStatus CONVOLVE_FORM_RUN (stem)
#else
ConvolveStatus convolve_form_run_without_cuda (const ConvolveForm *form, ConvolveFormPass pass,
    const ConvolveFormJob *job, ConvolveError *error);
#define CONVOLVE_FORM_FUNCTION(stem) \
  static inline ConvolveStatus CONVOLVE_FORM_RUN (stem) \
  { \
    return convolve_form_run_without_cuda (form, pass, job, error); \
  } \
  struct ConvolveForm
#endif

/* Waits for the answer of the look that was enqueued last. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_device_await_answer (ConvolveDevice *device, unsigned *answer, ConvolveError *error);

/* A row of a plane. */
static inline uint8_t *
convolve_form_row (const ConvolvePicture *picture, int plane, int y)
{
  return (uint8_t *) picture->planes[plane].data + y * picture->planes[plane].stride;
}

#ifdef __cplusplus
}
#endif

#endif
