#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tarball in a bare system: sh tests/long/tarball.sh [SUITE...]
#
# Packs the last commit, or takes the file TARBALL. For each suite, "bookworm" and "trixie" where none is named, in a system that
# debootstrap makes: the first command of README.md installs what is missing, builds without CUDA, and convolves the clip. Then
# gst-inspect-1.0 shows the version of meson.build. There is no git there. Needs root. CACHE and MIRROR are as in package.sh.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
. "$top/tests/rows/roots.sh"
[ $# -gt 0 ] || set -- bookworm trixie
roots_needed
if [ -z "${TARBALL:-}" ]; then
  TARBALL=$top/out/tarball.tar.xz
  git archive --prefix=cudaconvolve/ HEAD | xz -0 >"$TARBALL"
fi

cat >out/tarball-inside <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 MESON_ARGS=-Dcuda=disabled
apt-get -q update >/tmp/apt.log 2>&1
apt-get -q install -y --no-install-recommends xz-utils >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; exit 1; }
mkdir /sources
tar -C /sources --strip-components=1 -xf /tarball.tar.xz
cd /sources
sh examples/run.sh >/tmp/run.log 2>&1 || { tail -n 40 /tmp/run.log; exit 1; }
tail -n 5 /tmp/run.log
GST_PLUGIN_PATH=build/plugin gst-inspect-1.0 cudaconvolve | grep -E '^ *Version +'"$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)"'$'
status=0
python3 tests/ages.py || status=$?
[ "$status" = 77 ] || { echo "tests/ages.py without git: exit status $status"; exit 1; }
END

for suite in "$@"; do
  root=$cache/$suite.tarball.$$
  trap 'rm -rf --one-file-system "$root"' EXIT
  root_unpack "$suite" "$root"
  cp "$TARBALL" "$root/tarball.tar.xz"
  cp out/tarball-inside "$root/inside"
  echo "$suite: $(cat "$root/etc/debian_version"), $(basename "$TARBALL")"
  status=0
  root_inside "$root" sh /inside || status=$?
  root_keep_archives "$suite" "$root"
  [ "$status" = 0 ] || exit 1
  rm -rf --one-file-system "$root"
  trap - EXIT
  echo "$suite: passed"
done
