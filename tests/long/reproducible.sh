#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The same bytes from the same sources: sh tests/long/reproducible.sh
#
# `meson dist` packs the last commit, and the tarball must hold the files of `git archive`. The tarball is then built twice without
# CUDA: in folders of other names and depths, with the build folder inside and outside the sources, and with another umask, locale,
# time zone, home, number of jobs, and age of the sources. Plugin and library must be the same bytes, debug information
# included, and must not name the folders.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
git rev-parse --git-dir >/dev/null 2>&1 || { echo "this is no git tree, or there is no git"; exit 77; }
work=$top/out/reproducible
far=$(mktemp -d)
trap 'rm -rf "$far"' EXIT
rm -rf "$work"
mkdir -p "$work"
git clone -q . "$work/clone"
cd "$work/clone"

meson setup build -Dcuda=disabled -Dtests=false -Dexamples=false >"$work/dist.log" 2>&1 ||
  { cat "$work/dist.log"; exit 1; }
meson dist -C build --no-tests --formats xztar >>"$work/dist.log" 2>&1 || { cat "$work/dist.log"; exit 1; }
tarball=$(ls build/meson-dist/cudaconvolve-*.tar.xz)

# unpack FOLDER: the tarball's files without its own folder.
unpack () {
  mkdir -p "$1"
  tar -C "$1" --strip-components=1 -xf "$tarball"
}
mkdir "$work/archive"
git archive HEAD | tar -C "$work/archive" -xf -
unpack "$work/one"
unpack "$far/a/deeper/folder/two"
diff -r "$work/archive" "$work/one"
echo "$(basename "$tarball"): $(find "$work/one" -type f | wc -l) files, those of git archive"
find "$far" -exec touch -h -d '2001-02-03 04:05:06 UTC' '{}' +

# build SOURCES FOLDER [VARIABLE=VALUE...]: compiles everything; ccache would give objects of the other build.
build () {
  sources=$1
  folder=$2
  shift 2
  start=$(date +%s)
  if ! { env -u CFLAGS -u LDFLAGS CCACHE_DISABLE=1 "$@" meson setup "$folder" "$sources" -Dcuda=disabled -Dtests=false -Dexamples=false \
    -Dlibrary=true && env CCACHE_DISABLE=1 "$@" ninja -C "$folder" $jobs; } >"$work/build.log" 2>&1; then
    tail -n 30 "$work/build.log"
    return 1
  fi
  echo "$folder: $(($(date +%s) - start)) s"
}
jobs=-j1
(umask 022 && build "$work/one" "$work/one/build" LC_ALL=C TZ=UTC)
jobs=
(umask 077 && build "$far/a/deeper/folder/two" "$far/other" LC_ALL=C.UTF-8 LANGUAGE=de TZ=Pacific/Auckland HOME="$far")

result=0
for file in plugin/libgstcudaconvolve.so kernels/libcudaconvolve.so.0; do
  sha256sum "$work/one/build/$file" "$far/other/$file"
  cmp "$work/one/build/$file" "$far/other/$file" || result=1
  readelf -S "$work/one/build/$file" | grep -q '\.debug_info' || { echo "$file has no debug information to compare"; result=1; }
  if grep -a -l -e "$work" -e "$far" "$work/one/build/$file" "$far/other/$file"; then
    echo "names a folder of this machine"
    result=1
  fi
done
[ "$result" = 0 ] && echo "the same bytes twice"
exit "$result"
