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
# shellcheck source=examples/packaging/common.sh
. "$(dirname "$0")/common.sh"
output=$top/dist
build=
own_values=--build
own_option () {
  [ "$1" = --build ] && build=$(realpath -m "$2")
}
take_options "$@"

. "$top/tests/prepare.sh"
command -v objdump >/dev/null || { say "There is no objdump, of the package binutils"; exit 1; }
build=${build:-$top/build-wheel${cuda:+-cuda}}
version=$(project_version)
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct 2>/dev/null || date -r "$top/NEWS.md" +%s)
fi
export SOURCE_DATE_EPOCH
set -- -Dcuda=disabled -Dgstcuda=disabled
if [ -n "$cuda" ]; then
  # pip takes this version for newer than that of the wheel without CUDA.
  suffix=$(cuda_version)
  version=$version+cuda$suffix
  set -- -Dcuda=enabled -Dgstcuda=enabled "-Dcuda-architectures=$architectures"
fi
build_project "$build" "$@" --prefix=/ --libdir=lib --bindir=bin -Dplugin-dir=gstreamer-1.0 -Dlibrary=true -Dtests=false \
  -Dexamples=true -Dprograms=true
staged=$build/staged
rm -rf "$staged"
DESTDIR=$staged meson install -C "$build" --no-rebuild --strip >"$build/installed.log" || { cat "$build/installed.log"; exit 1; }
python3 "$top/examples/packaging/wheel.py" "$staged" "$version" "$output"
