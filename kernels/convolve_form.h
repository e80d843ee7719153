/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inner forms: pictures in which a mask is better taken than in the pictures of a stream. A form has two passes. One
 * makes an inner picture of an outer one, which convolve_run() or a batch then changes, and the other makes an outer
 * picture of the inner one. README.md here has the arithmetic.
 *
 * Every pass gives the same bytes on the host and on a device, whatever the number of threads.
 */
#ifndef CONVOLVE_FORM_H
#define CONVOLVE_FORM_H

#include "convolve_pool.h"

#ifdef __cplusplus
extern "C"
{
#endif

#pragma GCC visibility push(default)

#define CONVOLVE_FORM_PLANES 4 /* planes of a picture */

/* A picture in memory. Strides are in bytes; rows of 16-bit words are at even addresses on a device. */
typedef struct
{
  void *data; /* the first sample of row 0 */
  ptrdiff_t stride;
} ConvolveFormPlane;

typedef struct
{
  int width, height; /* luma pixels */
  ConvolveFormPlane planes[CONVOLVE_FORM_PLANES];
} ConvolvePicture;

typedef struct ConvolveForm ConvolveForm;

/* How code values stand for light, by the names of ITU-T H.273 and GStreamer. */
typedef enum
{
  CONVOLVE_TRANSFER_LINEAR, /* code values are light, or count as such */
  CONVOLVE_TRANSFER_GAMMA18,
  CONVOLVE_TRANSFER_GAMMA20,
  CONVOLVE_TRANSFER_GAMMA22,
  CONVOLVE_TRANSFER_GAMMA28,
  CONVOLVE_TRANSFER_ADOBE_RGB,
  CONVOLVE_TRANSFER_BT709,     /* BT.601 and BT.2020 of 10 bits, too */
  CONVOLVE_TRANSFER_BT2020_12, /* the same curve with constants of more digits */
  CONVOLVE_TRANSFER_SMPTE240M,
  CONVOLVE_TRANSFER_SRGB,
  CONVOLVE_TRANSFER_LOG100,
  CONVOLVE_TRANSFER_LOG316,
  CONVOLVE_TRANSFER_PQ,  /* SMPTE ST 2084; 1 is 10,000 cd/m2 */
  CONVOLVE_TRANSFER_HLG, /* ARIB STD-B67; light of the scene */
  CONVOLVE_N_TRANSFERS
} ConvolveTransfer;

/* The light of a code value, both from 0 to 1, and the code value of a light. Numbers outside count as 0 or 1. */
double convolve_transfer_decode (ConvolveTransfer transfer, double code);
double convolve_transfer_encode (ConvolveTransfer transfer, double light);

/* What a sample of a pixel is. */
typedef enum
{
  CONVOLVE_LIGHT_COPY,  /* stays as it is, all bits of its word */
  CONVOLVE_LIGHT_COLOR, /* goes through the transfer function */
  CONVOLVE_LIGHT_ALPHA  /* becomes 0 to 65535 */
} ConvolveLightRole;

/*
 * A form in which each sample of the picture is a 16-bit word of this machine's byte order, in the same planes and the
 * same places of a pixel. Words have 16 bits, whatever the depth of the outer samples.
 */
typedef struct
{
  ConvolvePixel pixel; /* of each plane: type, depth, shift, byte order and samples; pixels follow without gaps */
  int planes;          /* 1; or 2 to 4 planes of one sample each */
  ConvolveLightRole role[CONVOLVE_MAX_SAMPLES]; /* of each sample, or of each plane */
  ConvolveTransfer transfer;
  int zero, range; /* the colours' code value of no light, and code values from there to the most light */
  bool weighs; /* colours are multiplied by alpha, of which there is one, about their zero levels, and divided again */
  bool leaves_unseen; /* with weighs: where alpha became 0, packing does not write the colours of `outer` */
  int about[CONVOLVE_MAX_SAMPLES]; /* with a linear function: these levels, as code values of the samples or planes */
} ConvolveLight;

/*
 * Makes the form for pictures on the device, or in host memory where device is NULL. The tables are made here. NULL on
 * error: INVALID, NO_MEMORY, NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveForm *convolve_form_new_light (const ConvolveLight *light, ConvolveDevice *device, ConvolveError *error);

/*
 * Whether every pixel of an outer picture in host memory has the largest alpha, so that weighing changes nothing. The
 * form weighs.
 */
bool convolve_form_is_opaque (const ConvolveForm *form, const ConvolvePicture *outer);

/*
 * Whether every pixel of an outer picture on a device has the largest alpha: the first function enqueues a look at the
 * picture, and the second one waits for the answer. A device has one look at a time. Errors: NO_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_form_look (const ConvolveForm *form, const ConvolvePicture *outer, ConvolveError *error);
ConvolveStatus convolve_form_await_look (const ConvolveForm *form, bool *is_opaque, ConvolveError *error);

void convolve_form_free (ConvolveForm *form); /* NULL is allowed; no pass may be in work */

/* Passes on the host are shared by the threads of the pool, which may be NULL. */
void convolve_form_set_pool (ConvolveForm *form, ConvolvePool *pool);

/*
 * Makes the inner picture of an outer one, or an outer picture of an inner one. original is the outer picture that the
 * inner one was made of: what the work between the passes did not change keeps every bit. outer may be original.
 * On a device the pass is enqueued. Errors: INVALID (pictures without memory or size), NO_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_form_unpack (const ConvolveForm *form, const ConvolvePicture *outer,
    const ConvolvePicture *inner, ConvolveError *error);
ConvolveStatus convolve_form_pack (const ConvolveForm *form, const ConvolvePicture *original,
    const ConvolvePicture *inner, const ConvolvePicture *outer, ConvolveError *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
