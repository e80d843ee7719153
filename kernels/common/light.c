/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transfer functions. The numbers are those of ITU-T H.273, and of the standards that it names. */
#include <math.h>

#include "convolve_form.h"

/* Light to the power 1 / gamma, with a straight line below: offset is what makes both meet. */
typedef struct
{
  double gamma, slope, knee, offset; /* the line reaches up to the light `knee`; a slope of 0 is no line */
} Power;

static const Power powers[CONVOLVE_N_TRANSFERS] = {
  [CONVOLVE_TRANSFER_GAMMA18] = { 1.8, 0, 0, 0 },
  [CONVOLVE_TRANSFER_GAMMA20] = { 2.0, 0, 0, 0 },
  [CONVOLVE_TRANSFER_GAMMA22] = { 2.2, 0, 0, 0 },
  [CONVOLVE_TRANSFER_GAMMA28] = { 2.8, 0, 0, 0 },
  [CONVOLVE_TRANSFER_ADOBE_RGB] = { 563.0 / 256, 0, 0, 0 },
  [CONVOLVE_TRANSFER_BT709] = { 1 / 0.45, 4.5, 0.018, 0.099 },
  [CONVOLVE_TRANSFER_BT2020_12] = { 1 / 0.45, 4.5, 0.0181, 0.0993 },
  [CONVOLVE_TRANSFER_SMPTE240M] = { 1 / 0.45, 4, 0.0228, 0.1115 },
  [CONVOLVE_TRANSFER_SRGB] = { 2.4, 12.92, 0.0031308, 0.055 },
};

/* Of SMPTE ST 2084. */
#define PQ_M1 (2610.0 / 16384)
#define PQ_M2 (2523.0 / 32)
#define PQ_C1 (3424.0 / 4096)
#define PQ_C2 (2413.0 / 128)
#define PQ_C3 (2392.0 / 128)

/* Of ARIB STD-B67. */
#define HLG_A 0.17883277
#define HLG_B 0.28466892
#define HLG_C 0.55991073

static double
decode_power (const Power *power, double code)
{
  if (power->slope > 0 && code < power->slope * power->knee)
    return code / power->slope;
  return pow ((code + power->offset) / (1 + power->offset), power->gamma);
}

static double
encode_power (const Power *power, double light)
{
  if (power->slope > 0 && light < power->knee)
    return light * power->slope;
  return (1 + power->offset) * pow (light, 1 / power->gamma) - power->offset;
}

static double
decode_pq (double code)
{
  double root = pow (code, 1 / PQ_M2);

  return pow (fmax (root - PQ_C1, 0) / (PQ_C2 - PQ_C3 * root), 1 / PQ_M1);
}

static double
encode_pq (double light)
{
  double power = pow (light, PQ_M1);

  return pow ((PQ_C1 + PQ_C2 * power) / (1 + PQ_C3 * power), PQ_M2);
}

static double
clip (double value)
{
  return fmin (fmax (value, 0), 1);
}

double
convolve_transfer_decode (ConvolveTransfer transfer, double code)
{
  code = clip (code);
  switch (transfer) {
    case CONVOLVE_TRANSFER_LINEAR:
    case CONVOLVE_N_TRANSFERS:
      return code;
    case CONVOLVE_TRANSFER_LOG100:
      return code > 0 ? pow (10, 2 * (code - 1)) : 0;
    case CONVOLVE_TRANSFER_LOG316:
      return code > 0 ? pow (10, 2.5 * (code - 1)) : 0;
    case CONVOLVE_TRANSFER_PQ:
      return clip (decode_pq (code));
    case CONVOLVE_TRANSFER_HLG:
      return clip (code <= 0.5 ? code * code / 3 : (exp ((code - HLG_C) / HLG_A) + HLG_B) / 12);
    default:
      return clip (decode_power (&powers[transfer], code));
  }
}

double
convolve_transfer_encode (ConvolveTransfer transfer, double light)
{
  light = clip (light);
  switch (transfer) {
    case CONVOLVE_TRANSFER_LINEAR:
    case CONVOLVE_N_TRANSFERS:
      return light;
    case CONVOLVE_TRANSFER_LOG100:
      return light >= 0.01 ? clip (1 + log10 (light) / 2) : 0;
    case CONVOLVE_TRANSFER_LOG316:
      return light >= 0.0031622776601683794 ? clip (1 + log10 (light) / 2.5) : 0;
    case CONVOLVE_TRANSFER_PQ:
      return clip (encode_pq (light));
    case CONVOLVE_TRANSFER_HLG:
      return clip (light <= 1.0 / 12 ? sqrt (3 * light) : HLG_A * log (12 * light - HLG_B) + HLG_C);
    default:
      return clip (encode_power (&powers[transfer], light));
  }
}
