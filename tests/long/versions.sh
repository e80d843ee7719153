#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The ordinary tests with other versions of GStreamer and CUDA: sh tests/long/versions.sh [SUITE...]
#
# In each of these releases of Debian, "bookworm", "trixie" and "testing" where none is named, with the compiler of
# the release and warnings as errors:
#
#   - without CUDA;
#   - without zlib and without the analytics library, too;
#   - with the CUDA toolkit of this machine, if there is one, with and without GstCuda. CUDA=no leaves this out.
#
# "trixie-cuda12" is trixie with the CUDA toolkit of its section non-free, instead of this machine's; only this is
# built then, and the first run fetches some GB. ARCHITECTURES are those of meson's cuda-architectures, 75 where it is
# not set. No GPU is seen in these systems: tests that need one are skipped.
#
# Needs root. The systems are kept in CACHE, $HOME/.cache/cudaconvolve without it: some 2 GB each.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
. "$top/tests/rows/roots.sh"
[ $# -gt 0 ] || set -- bookworm trixie testing
roots_needed
architectures=${ARCHITECTURES:-75}
failed=
unset CC

for name in "$@"; do
  cuda=
  case $name in
    *-cuda12)
      # nvcc 12.4 takes g++ 13.
      # shellcheck disable=SC2086 # a list of words
      ROOT_SECTIONS="contrib non-free" root_with "${name%-cuda12}" cuda12 $packages nvidia-cuda-toolkit g++-13
      cuda=yes ;;
    *)
      # nvcc takes older compilers than that of a new release.
      # shellcheck disable=SC2086
      root_with "$name" build $packages '?g++-14'
      if [ "${CUDA:-}" != no ] && [ -x /usr/local/cuda/bin/nvcc ]; then cuda=yes; fi ;;
  esac
  root_sources "$root"
  if [ "${name%-cuda12}" = "$name" ]; then
    root_build "$name" -Dcuda=disabled -Dzlib=enabled -Danalytics=auto || failed=yes
    root_build "$name-without" -Dcuda=disabled -Dzlib=disabled -Dpng=disabled -Danalytics=disabled || failed=yes
    ROOT_MOUNT=/usr/local/cuda
    export ROOT_MOUNT
  fi
  if [ -n "$cuda" ]; then
    root_build "$name-gstcuda" -Dcuda=enabled "-Dcuda-architectures=$architectures" -Dgstcuda=enabled \
      -Dzlib=enabled -Danalytics=auto || failed=yes
    sed -n 's/^Message: CUDA/CUDA/p' "out/$name-gstcuda.log"
    root_build "$name-cuda" -Dcuda=enabled -Dgstcuda=disabled || failed=yes
  fi
  unset ROOT_MOUNT
  root_sources_end
done
[ -z "$failed" ] || exit 1
