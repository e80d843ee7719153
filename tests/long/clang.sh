#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests built with clang, warnings as errors: sh tests/long/clang.sh. In build-clang/, without CUDA.
set -eu
cd "$(dirname "$0")/../.."

cc=$(command -v clang || command -v clang-19 || command -v clang-14) || { echo "there is no clang"; exit 77; }
rm -rf build-clang
CC=$cc meson setup build-clang -Dcuda=disabled -Dwerror=true
ninja -C build-clang
meson test -C build-clang --no-rebuild --num-processes "$(nproc)"
