#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every call of a device and every allocation fails once: sh tests/long/calls.sh. Plainly, under AddressSanitizer
# with its search for leaks, without locked memory, and with drivers that do not work where there is a CUDA
# toolkit. On a GPU the calls of its driver fail, too. In build-calls/, build-calls-asan/ and build-calls-cuda/.
#
#   CUDACONVOLVE_CUDA=disabled    leaves out the build with CUDA, which takes minutes
#   BUILD=FOLDER                  only what needs a GPU, with the build with CUDA that is there; nothing is built
#   CUDACONVOLVE_TESTS=COMMAND    runs tests by name; otherwise meson test does
# shellcheck disable=SC3045 # dash and bash have ulimit -l
set -eu
cd "$(dirname "$0")/../.."
top=$PWD

# tests FOLDER NAME...: runs these tests with all their cases. A lone skip is no failure.
tests () {
  folder=$1
  shift
  meson test -C "$folder" --no-rebuild --setup all --num-processes 1 --print-errorlogs "$@"
  echo "$folder, $*: $(date +%T)"
}

# setup FOLDER OPTION...: configures a folder, anew or again.
setup () {
  folder=$1
  shift
  if [ -d "$folder" ]; then
    meson configure "$folder" "$@"
  else
    meson setup "$folder" -Dexamples=false -Dwerror=true "$@"
  fi
  ninja -C "$folder"
}

# The programs tell how many calls failed, and with what first error; a skip where there is no GPU is printed, too.
on_gpu () {
  folder=$1
  if [ -n "${CUDACONVOLVE_TESTS:-}" ]; then
    $CUDACONVOLVE_TESTS neighbour_sticky neighbour_full neighbour_unlocked failing_start failing_driver
  else
    meson test -C "$folder" --no-rebuild --num-processes 1 --verbose \
      neighbour_sticky neighbour_full neighbour_unlocked failing_start failing_driver
  fi
}

if [ -n "${BUILD:-}" ]; then
  on_gpu "$BUILD"
  exit
fi

setup build-calls -Dcuda=disabled
tests build-calls failing no_memory trampolines
(
  ulimit -l 0
  tests build-calls failing memory
)

setup build-calls-asan -Dcuda=disabled -Db_sanitize=address,undefined -Db_lundef=false
GST_REGISTRY_FORK=no ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0 \
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
  LSAN_OPTIONS="suppressions=$top/tests/lsan.supp:print_suppressions=0" tests build-calls-asan failing no_memory

if [ "${CUDACONVOLVE_CUDA:-auto}" = disabled ] || ! [ -x "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" ]; then
  echo "no build with CUDA: the drivers that do not work, and the calls of a GPU's driver, were left out"
  exit 0
fi
setup build-calls-cuda -Dcuda=enabled "-Dcuda-architectures=${CUDACONVOLVE_ARCHITECTURES:-75}"
tests build-calls-cuda driver_no_gpu driver_unknown driver_not_ready driver_old driver_none trampolines
on_gpu build-calls-cuda
