/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>

#include "common/internal.h"

/* The errors of CUDA whose documentation says that the process must be terminated and started again. */
static const int lasting[] = {
  226, /* cudaErrorContained */
  700, /* cudaErrorIllegalAddress */
  702, /* cudaErrorLaunchTimeout */
  710, /* cudaErrorAssert */
  714, /* cudaErrorHardwareStackError */
  715, /* cudaErrorIllegalInstruction */
  716, /* cudaErrorMisalignedAddress */
  717, /* cudaErrorInvalidAddressSpace */
  718, /* cudaErrorInvalidPc */
  719, /* cudaErrorLaunchFailure */
  721, /* cudaErrorTensorMemoryLeak */
  810, /* cudaErrorMpsClientTerminated */
  911, /* cudaErrorExternalDevice */
};

bool
convolve_error_is_lasting (const ConvolveError *error)
{
  for (size_t i = 0; i < sizeof (lasting) / sizeof (lasting[0]); i++)
    if (error->status == CONVOLVE_DEVICE_FAILED && error->native == lasting[i])
      return true;
  return false;
}

ConvolveStatus
convolve_fail (ConvolveError *error, ConvolveStatus status, int native, const char *format, ...)
{
  va_list arguments;

  if (error) {
    error->status = status;
    error->native = native;
    va_start (arguments, format);
    vsnprintf (error->text, sizeof (error->text), format, arguments);
    va_end (arguments);
  }
  return status;
}
