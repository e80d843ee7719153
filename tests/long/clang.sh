#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests built with clang, warnings as errors: sh tests/long/clang.sh [here | SUITE]...
#
# "here" is this machine's clang, in build-clang/. SUITE is a release of Debian, in a folder that tests/rows/roots.sh
# makes, which needs root. Without arguments: here, and trixie's clang 19 where the user is root. Without CUDA.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
. "$top/tests/rows/roots.sh"
if [ $# = 0 ]; then
  set -- here
  [ "$(id -u)" != 0 ] || set -- here trixie
fi

here () {
  cc=$(command -v clang || command -v clang-19 || command -v clang-14) || { echo "there is no clang"; exit 77; }
  rm -rf build-clang
  CC=$cc meson setup build-clang -Dcuda=disabled -Dwerror=true
  nice ninja -C build-clang
  nice meson test -C build-clang --no-rebuild --num-processes "$(nproc)" --timeout-multiplier 4
  "$cc" --version | sed 1q
}

for suite in "$@"; do
  if [ "$suite" = here ]; then
    here
  else
    roots_needed
    # shellcheck disable=SC2086 # a list of words
    root_with "$suite" clang $packages clang clang-tidy
    root_sources "$root"
      CC=clang root_build "$suite-clang" -Dcuda=disabled
    root_sources_end
  fi
done
