#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Convolves a video: sh examples/run.sh [FILE] [PROPERTY=VALUE...]
#
#   sh examples/run.sh                                      the clip of this folder, strongly blurred
#   sh examples/run.sh film.mkv mask=sobel-x bias=0.5       another file, another mask
#   sh examples/run.sh kernel-variant=cpu                   any property of cudaconvolve
#
# Installs missing packages and builds in build/. Then cudaconvolve-film writes the convolved film, with its sound, and a
# before/after picture to out/, and a line shows the progress. Where there is a display, the film plays then.
#
# Without a property that chooses the mask, the mask is a gaussian with sigma=8, which nobody overlooks.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/prepare.sh"

file=$top/examples/clip.mp4
case ${1:-=} in
  -h | --help)
    sed -n '3,12s/^# \{0,1\}//p' "$0"
    exit 0 ;;
esac
if [ $# -gt 0 ] && { [ -e "$1" ] || [ "${1#*=}" = "$1" ]; }; then
  file=$1
  shift
fi
if [ ! -f "$file" ] || [ ! -r "$file" ]; then
  say "$file: no such file, or not readable"
  exit 2
fi
mask=gaussian
for property in "$@"; do
  case $property in
    mask=* | mask-width=* | mask-height=* | sigma=*) mask= ;;
    *=*) ;;
    *)
      say "$property: a property is written NAME=VALUE, and FILE comes first"
      exit 2 ;;
  esac
done

if [ -n "$mask" ]; then set -- "mask=$mask" sigma=8 "$@"; fi

install_missing
targets="plugin/libgstcudaconvolve.so examples/film/cudaconvolve-film" build_project "$top/build"
use_build "$top/build"

name=$(basename "$file")
name=${name%.*}
clip=$top/out/$name-convolved.mp4
picture=$top/out/$name-before-after.png
mkdir -p "$top/out"
"$top/build/examples/film/cudaconvolve-film" --picture="$picture" "$file" "$clip" "$@"
if have_display; then exec gst-launch-1.0 -q playbin uri="file://$clip"; fi
