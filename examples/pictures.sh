#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes README's pictures from the clip, with the element of this build: sh examples/pictures.sh [FOLDER]
#
# FOLDER is examples/pictures where none is named. The script writes before-after.jpg, one preset-NAME.jpg for each preset,
# one boundary-NAME.jpg for each boundary, layer-NAME.jpg for the layers of layers.py, and anonymised.jpg, four frames of
# the clip after anonymise.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/examples/prepare.sh"

install_missing
build_project "$top/build"
use_build "$top/build"
folder=${1:-$top/examples/pictures}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

clip="filesrc location=$top/examples/clip.mp4 ! decodebin"
# JPEG has full range and the matrix of BT.601, which the caps do not say.
jpeg="videoconvert ! video/x-raw,format=Y444,colorimetry=1:4:0:0 ! jpegenc quality=88"

# picture NAME FRAME PIPELINE...: plays the clip through the pipeline, and keeps the frame with this number.
picture () {
  name=$1
  frame=$2
  shift 2
  # shellcheck disable=SC2086 # descriptions are lists of words
  gst-launch-1.0 -q $clip ! "$@" ! $jpeg ! multifilesink location="$work/%d.jpg"
  mv "$work/$frame.jpg" "$folder/$name.jpg"
  rm "$work"/*.jpg
  echo "$folder/$name.jpg"
}

# shift_mask SIZE: 41 weights of which only the first is 1 shift the picture by 20 pixels, so that the boundary shows.
shift_mask () {
  echo "$1:" 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
}

values () {
  gst-inspect-1.0 cudaconvolve | sed -n "$1"
}

# strip NAME FILM FRAME...: the middles of these frames side by side, 320 pixels wide.
strip () {
  name=$1
  gst-launch-1.0 -q filesrc location="$2" ! decodebin ! videocrop left=80 right=80 ! videoconvert ! videoscale \
    ! video/x-raw,format=RGB,width=320,height=240 ! pngenc ! multifilesink location="$work/%d.png"
  shift 2
  sinks=
  sources=
  for frame in "$@"; do
    number=$(echo "$sinks" | wc -w)
    sinks="$sinks sink_$number::xpos=$((number * 320))"
    sources="$sources filesrc location=$work/$frame.png ! pngdec ! videoconvert ! side.sink_$number"
  done
  # shellcheck disable=SC2086 # descriptions are lists of words
  gst-launch-1.0 -q compositor name=side $sinks ! ${jpeg% *} quality=75 ! filesink location="$folder/$name.jpg" $sources
  rm "$work"/*.png
  echo "$folder/$name.jpg"
}

"$top/build/examples/anonymise" --boxes="$top/examples/clip-boxes.json" --output="$work/film.mkv" \
  "$top/examples/clip.mp4"
strip anonymised "$work/film.mkv" 35 43 56 65

picture before-after 50 tee name=both ! queue ! compositor name=side sink_1::xpos=640 \
  both. ! queue ! cudaconvolve mask=gaussian mask-width=15 ! side. side.

for preset in $(values 's/,//g; s/.*Presets: //p'); do
  case $preset in
    box | gaussian | binomial | disk) more="mask-width=11" ;;
    motion) more="mask=motion:30 mask-width=21" ;;
    unsharp) more="mask-width=9" ;;
    log) more="mask-width=9 bias=0.5" ;;
    scharr-?) more="bias=0.5 divisor=4" ;;
    laplacian | sobel-? | prewitt-?) more="bias=0.5" ;;
    *) more= ;;
  esac
  # shellcheck disable=SC2086
  picture "preset-$preset" 10 cudaconvolve mask="$preset" $more ! videocrop left=230 right=170 top=130 bottom=50
done

for boundary in $(values '/^  boundary /,/^  [a-z]/s/.*([0-9]): \([a-z0-9-]*\) .*/\1/p'); do
  picture "boundary-$boundary" 10 videocrop left=300 right=180 top=150 bottom=90 ! videoconvert ! video/x-raw,format=RGB \
    ! cudaconvolve mask="$(shift_mask 41x1)" boundary="$boundary" boundary-color=0xff3070c0 \
    ! cudaconvolve mask="$(shift_mask 1x41)" boundary="$boundary" boundary-color=0xff3070c0
done

python3 "$top/examples/layers.py" "$work"
mv "$work/gabor.png" "$folder/layer-filters.png"
picture layer-mosaic 50 videoconvert ! cudaconvolve layer-location="$work/gabor.npz" stride=4 pool-size=2 mosaic=true \
  activation=relu divisor=0.12
picture layer-blurpool 10 videoconvert ! cudaconvolve layer-location="$work/blurpool.npy" stride=2
picture layer-sepia 10 videoconvert ! cudaconvolve layer-location="$work/sepia.npy" ! videoscale \
  ! video/x-raw,width=320,height=180
