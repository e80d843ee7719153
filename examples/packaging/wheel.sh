#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a Python wheel: sh examples/packaging/wheel.sh [OPTIONS]
#
#   --cuda                 with CUDA, for all GPUs; takes half an hour and more. Without this option: for the CPU
#   --architectures LIST   with CUDA for fewer GPUs, as in "75;90"
#   --output FOLDER        without this option dist
#   --build FOLDER         where to compile; without this option build-wheel, or build-wheel-cuda
#
# The wheel has the plugin, the shared library, the programs and the Python module. README.md here says what it needs. Files have
# the time SOURCE_DATE_EPOCH, or that of the last commit. The last line of the output is the wheel's name.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cuda=
architectures=all-major
output=$top/dist
build=
while [ $# -gt 0 ]; do
  case $1 in
    --cuda) cuda=yes ;;
    --architectures | --output | --build)
      [ $# -gt 1 ] || { echo "$1 needs a value" >&2; exit 2; }
      case $1 in
        --architectures) architectures=$2 ;;
        --output) output=$(realpath -m "$2") ;;
        --build) build=$(realpath -m "$2") ;;
      esac
      shift ;;
    -h | --help)
      sed -n '3,11s/^# \{0,1\}//p' "$0"
      exit 0 ;;
    *)
      echo "$1: not known. sh $0 --help lists the options." >&2
      exit 2 ;;
  esac
  shift
done

. "$top/tests/prepare.sh"
command -v objdump >/dev/null || { say "There is no objdump, of the package binutils"; exit 1; }
build=${build:-$top/build-wheel${cuda:+-cuda}}
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$top/meson.build")
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct 2>/dev/null || date -r "$top/NEWS.md" +%s)
fi
export SOURCE_DATE_EPOCH
set -- -Dcuda=disabled -Dgstcuda=disabled
if [ -n "$cuda" ]; then
  nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || { say "There is no nvcc on PATH or in /usr/local/cuda/bin"; exit 1; }
  # As in Debian's packages: 13.0 is 130. pip takes it for newer than the wheel without CUDA.
  version=$version+cuda$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p' | tr -d .)
  set -- -Dcuda=enabled -Dgstcuda=enabled "-Dcuda-architectures=$architectures"
fi
build_project "$build" "$@" --prefix=/ --libdir=lib --bindir=bin -Dplugin-dir=gstreamer-1.0 -Dlibrary=true -Dtests=false \
  -Dexamples=true -Dprograms=true
staged=$build/staged
rm -rf "$staged"
DESTDIR=$staged meson install -C "$build" --no-rebuild --strip >"$build/installed.log" || { cat "$build/installed.log"; exit 1; }
python3 "$top/examples/packaging/wheel.py" "$staged" "$version" "$output"
