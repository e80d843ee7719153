#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes all pictures of the project from the clip, with the element of this build, and the gallery that shows them:
#
#   sh examples/pictures.sh                            all pictures, in examples/pictures/
#   sh examples/pictures.sh FOLDER [PATTERN...]        in FOLDER; pictures whose names match a pattern alone
#   sh examples/pictures.sh examples/pictures 'preset-disk' 'boundary-*'
#
# The script writes before-after.jpg, one preset-NAME.jpg for each preset, one boundary-NAME.jpg for each boundary,
# layer-NAME.jpg for the layers of layers.py, anonymised.jpg, four frames of the clip with a covered face, page.jpg, the page of boxes
# in a browser, and README.md with all others and the pipeline of each. A new preset or boundary is in the element's lists, so the script makes its picture.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/prepare.sh"

install_missing
targets="plugin/libgstcudaconvolve.so examples/film/cudaconvolve-film" build_project "$top/build"
use_build "$top/build"
folder=${1:-$top/examples/pictures}
[ $# = 0 ] || shift
patterns=${*:-*}
mkdir -p "$folder"
# The gallery takes the place of no other page.
if [ -e "$folder/README.md" ] && [ "$(head -n 1 "$folder/README.md")" != "# Gallery" ]; then
  say "$folder/README.md: is not a gallery of this script; give another folder"
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

clip="filesrc location=$top/examples/clip.mp4 ! decodebin"
# JPEG has full range and the matrix of BT.601, which the caps do not say.
jpeg="videoconvert ! video/x-raw,format=Y444,colorimetry=1:4:0:0 ! jpegenc quality=88"

# wanted NAME: whether the name matches one of the patterns.
wanted () {
  set -f
  for pattern in $patterns; do
    # shellcheck disable=SC2254 # a pattern is one
    case $1 in $pattern) set +f; return 0 ;; esac
  done
  set +f
  return 1
}

# note NAME.EXTENSION PIPELINE...: a row of the gallery. Words with spaces get quotes, as a shell needs them.
note () {
  # shellcheck disable=SC2016 # the backticks are Markdown
  printf '| ![](%s) | `%s` | `' "$1" "${1%.*}"
  shift
  for word in "$@"; do
    case $word in
      *' '*) printf '%s="%s" ' "${word%%=*}" "${word#*=}" ;;
      *) printf '%s ' "$word" ;;
    esac
  done | sed "s#$work#out#g; s/ \$//"
  printf '` |\n'
}

# picture NAME FRAME PIPELINE...: plays the clip through the pipeline, and keeps the frame with this number.
picture () {
  name=$1
  frame=$2
  shift 2
  note "$name.jpg" "$@" >>"$work/gallery"
  wanted "$name" || return 0
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
  gst-launch-1.0 -q compositor name=side $sinks ! ${jpeg% *} quality=75 ! filesink location="$work/$name.jpg" $sources
  mv "$work/$name.jpg" "$folder/$name.jpg"
  rm "$work"/*.png
  echo "$folder/$name.jpg"
}

note anonymised.jpg build/examples/film/cudaconvolve-film examples/clip.mp4 out/film.mp4 --boxes=examples/clip-boxes.json \
  >>"$work/gallery"
if wanted anonymised; then
  "$top/build/examples/film/cudaconvolve-film" "$top/examples/clip.mp4" "$work/film.mp4" \
    --boxes="$top/examples/clip-boxes.json"
  strip anonymised "$work/film.mp4" 35 43 56 65
fi

# The page of boxes needs a browser.
if wanted page && command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
  cp "$top/examples/clip.mp4" "$work/clip.mp4"
  "$top/build/examples/film/cudaconvolve-film" "$work/clip.mp4" "$work/film.mp4" --boxes="$top/examples/clip-boxes.json" \
    --page="$work/page.html"
  python3 "$top/tests/rows/page.py" "$work/page.html" "$top/examples/clip-boxes.json" "$work/saved.json" "$work/page.png"
  # shellcheck disable=SC2086 # a description is a list of words
  gst-launch-1.0 -q filesrc location="$work/page.png" ! pngdec ! videoconvert ! ${jpeg% *} quality=75 \
    ! filesink location="$folder/page.jpg"
  rm "$work/page.png"
  echo "$folder/page.jpg"
fi

picture before-after 50 tee name=both ! queue ! compositor name=side sink_1::xpos=640 \
  both. ! queue ! cudaconvolve mask=gaussian mask-width=15 ! side. side.

for preset in $(values '/^  presets /,/Default/s/.*Default: "< \(.*\) >"/\1/p' | sed 's/(string)//g; s/,//g'); do
  mask=$preset
  case $preset in
    box | gaussian | binomial | disk) more="mask-width=11" ;;
    motion) mask=motion:30 more="mask-width=21" ;;
    unsharp) more="mask-width=9" ;;
    log) more="mask-width=9 bias=0.5" ;;
    scharr-?) more="bias=0.5 divisor=4" ;;
    scharr | kirsch) more="divisor=4" ;;
    laplacian | sobel-? | prewitt-?) more="bias=0.5" ;;
    *) more= ;;
  esac
  # shellcheck disable=SC2086
  picture "preset-$preset" 10 cudaconvolve mask="$mask" $more ! videocrop left=230 right=170 top=130 bottom=50
done

for boundary in $(values '/^  boundary /,/^  [a-z]/s/.*([0-9]): \([a-z0-9-]*\) .*/\1/p'); do
  more=
  [ "$boundary" != constant ] || more="boundary-color=0xff3070c0"
  # shellcheck disable=SC2086
  picture "boundary-$boundary" 10 videocrop left=300 right=180 top=150 bottom=90 ! videoconvert ! video/x-raw,format=RGB \
    ! cudaconvolve mask="$(shift_mask 41x1)" boundary="$boundary" $more \
    ! cudaconvolve mask="$(shift_mask 1x41)" boundary="$boundary" $more
done

python3 "$top/examples/layers.py" "$work"
note layer-filters.png python3 examples/layers.py out >>"$work/gallery"
! wanted layer-filters || mv "$work/gabor.png" "$folder/layer-filters.png"
picture layer-mosaic 50 videoconvert ! cudaconvlayer location="$work/gabor.npz" stride=4 pool-size=2 mosaic=true \
  activation=relu divisor=0.12
picture layer-blurpool 10 videoconvert ! cudaconvlayer location="$work/blurpool.npy" stride=2
picture layer-sepia 10 videoconvert ! cudaconvlayer location="$work/sepia.npy" ! videoscale \
  ! video/x-raw,width=320,height=180

cat - "$work/gallery" >"$work/README.md" <<'END'
# Gallery

`sh examples/pictures.sh` writes this page and its pictures. A pipeline goes in the place of `...`:

    gst-launch-1.0 filesrc location=examples/clip.mp4 ! decodebin ! ... ! videoconvert ! autovideosink

| picture | name | pipeline, or command |
| --- | --- | --- |
END
mv "$work/README.md" "$folder/README.md"
echo "$folder/README.md"
