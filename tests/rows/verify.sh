# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# examples/verify: the clip, covered with a record, and tampered with in each way that the page names.

face=regions=200,10,160,240 # has the face in all its frames
read_clip='filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! video/x-raw,format=I420'

# cover NAME PROPERTIES...: out/NAME.raw and its record out/NAME.jsonl.
cover () {
  film=$1
  shift
  rm -f "out/$film.jsonl"
  # shellcheck disable=SC2086 # a list of words
  gst-launch-1.0 -q $read_clip ! cudaconvolve apply-to=regions "region-log=out/$film.jsonl" "$@" ! video/x-raw,format=I420 \
    ! filesink location="out/$film.raw"
}

# mux NAME: out/NAME.mkv from out/NAME.raw, without losses.
mux () {
  gst-launch-1.0 -q filesrc location="out/$1.raw" ! rawvideoparse format=i420 width=640 height=360 framerate=25/1 \
    ! matroskamux ! filesink location="out/$1.mkv"
}

# verifies STATUS TEXT FILM RECORD OPTIONS...: the program's exit status, and a line that matches TEXT.
verifies () {
  wanted=$1
  text=$2
  shift 2
  echo "verify $*"
  status=0
  build/examples/verify "$@" >out/example 2>&1 || status=$?
  cat out/example
  [ "$status" = "$wanted" ] && grep -q -e "$text" out/example
}

all_right='100 of 100 frames are those of the record, which has 100; boxes: [1-9][0-9]* covered, 0 bare, 0 that .* faults: 0'

# right PROPERTIES...: the film is that of the record, by an independent reader, too.
right () {
  cover right "$face;220,100,300,90;-20,-20,90,80;polygon:400,50 600,80 500,300" "$@" && mux right &&
    python3 tests/rows/recorded.py check out/right.jsonl out/right.raw &&
    verifies 0 "$all_right" out/right.mkv out/right.jsonl
}

# Each effect and shape, with boxes over each other and over an edge.
verify_right () {
  right region-effect=pixelate region-blocks=5 region-shape=ellipse region-feather=9 region-expand=0.1 &&
    right region-effect=fill region-color=0xff3060c0 && right region-strength=0.2 || return 1
  [ -n "$all" ] || return 0
  right region-effect=pixelate && right region-effect=noise-pixelate region-feather=3 &&
    right region-strength=0.05 region-feather=5 && right mask=box region-strength=0.3 &&
    right region-effect=fill components=y
}

# The film may have the same samples in another order. FFV1 takes some formats as they are.
verify_formats () {
  for formats in NV12:I420 YUY2:Y42B P010_10LE:I420_10LE Y444_10LE:Y444_10LE xRGB:BGRx GRAY8:GRAY8 GRAY16_BE:GRAY16_LE; do
    rm -f out/format.jsonl
    # shellcheck disable=SC2086 # a list of words
    gst-launch-1.0 -q $read_clip ! identity eos-after=9 ! videoconvert ! "video/x-raw,format=${formats%:*}" \
      ! cudaconvolve apply-to=regions "$face" region-log=out/format.jsonl ! videoconvert dither=none \
      ! "video/x-raw,format=${formats#*:}" ! avenc_ffv1 ! matroskamux ! filesink location=out/format.mkv &&
      verifies 0 'boxes: [1-9][0-9]* covered, 0 bare, 0 that .* faults: 0' out/format.mkv out/format.jsonl || return 1
  done
  rm -f out/format.jsonl
  # shellcheck disable=SC2086 # a list of words
  gst-launch-1.0 -q $read_clip ! videoconvert ! video/x-raw,format=NV12 ! cudaconvolve apply-to=outside-regions "$face" \
    region-effect=pixelate region-log=out/format.jsonl ! videoconvert ! video/x-raw,format=I420 ! y4menc \
    ! filesink location=out/format.y4m && verifies 0 "$all_right" out/format.y4m out/format.jsonl
}

# A translucent effect covers nothing, and nobody can tell from the record what picture is in a box.
verify_effects () {
  cover shown "$face" region-effect=fill region-opacity=0.9 && mux shown &&
    verifies 1 ' is bare: at ' out/shown.mkv out/shown.jsonl &&
    cover shown "$face" region-effect=fill region-picture=examples/pictures/layer-filters.png && mux shown &&
    verifies 3 'boxes: 0 covered, 0 bare, [1-9][0-9]* that .* faults: 0' out/shown.mkv out/shown.jsonl
}

# tampered KIND ARGUMENTS...: out/tampered.mkv.
tampered () {
  python3 tests/rows/recorded.py "$@" out/tampered.raw && mux tampered
}

verify_films () {
  cover film "$face" region-effect=pixelate && mux film || return 1
  # shellcheck disable=SC2086 # a list of words
  gst-launch-1.0 -q $read_clip ! filesink location=out/original.raw || return 1
  tampered flip 40 out/film.raw &&
    verifies 1 '^frame 40 of the film is not that of the record (line [0-9]*): its samples were changed' \
      out/tampered.mkv out/film.jsonl &&
    tampered drop 40 out/film.raw &&
    verifies 1 '^frame 40 of the record (line [0-9]*) is missing in the film' out/tampered.mkv out/film.jsonl &&
    tampered drop 99 out/film.raw &&
    verifies 1 '^frame 99 of the record (line [0-9]*) is missing in the film' out/tampered.mkv out/film.jsonl &&
    tampered twice 40 out/film.raw &&
    verifies 1 '^frame 4[01] of the film is in the wrong place: the record has it as frame 40' out/tampered.mkv out/film.jsonl &&
    tampered swap 40 out/film.raw &&
    verifies 1 '^frame 40 of the film is in the wrong place: the record has it as frame 41' out/tampered.mkv out/film.jsonl &&
    grep -q '^frame 41 of the film is in the wrong place: the record has it as frame 40' out/example &&
    tampered bare 40 out/film.raw out/original.raw &&
    verifies 1 '^frame 40 of the film is not that of the record' out/tampered.mkv out/film.jsonl &&
    grep -q '^frame 40 of the film: the box 200,10,160,240 (text, seen) is bare: at [0-9]*,[0-9]* ' out/example &&
    [ "$(grep -c '^frame' out/example)" = 2 ] &&
    verifies 1 'faults: 1$' out/film.mkv out/film.jsonl --last="$(printf %064d 0)" &&
    verifies 0 'faults: 0$' out/film.mkv out/film.jsonl \
      --last="$(tail -n 1 out/film.jsonl | tr -d '\n' | sha256sum | cut -d ' ' -f 1)"
}

verify_records () {
  cover film "$face" region-effect=pixelate && mux film || return 1
  line=$(grep -n '"frame":60,' out/film.jsonl | cut -d : -f 1)
  for kind in change cut repeat exchange; do
    python3 tests/rows/recorded.py "$kind" "$line" out/film.jsonl out/changed.jsonl || return 1
    case $kind in
      cut) place="line $line does not follow line $((line - 1))" ;;
      exchange) place="line $line does not follow line $((line - 1))" ;;
      *) place="line $((line + 1)) does not follow line $line" ;;
    esac
    verifies 1 "^out/changed.jsonl: $place: line [0-9]* was changed, or lines were taken out" out/film.mkv out/changed.jsonl ||
      return 1
  done
  python3 tests/rows/recorded.py shorten out/film.jsonl out/changed.jsonl &&
    verifies 1 'there is no end' out/film.mkv out/changed.jsonl &&
    head -c 5000 out/film.jsonl >out/changed.jsonl &&
    verifies 1 'line [0-9]* is not whole' out/film.mkv out/changed.jsonl &&
    echo '{}' >out/changed.jsonl &&
    verifies 2 'is not the head of a record' out/film.mkv out/changed.jsonl &&
    verifies 2 'No such file' out/film.mkv out/nowhere.jsonl &&
    verifies 2 'nowhere.mkv' out/nowhere.mkv out/film.jsonl &&
    verifies 2 'a film and a record are needed' out/film.mkv
}

# Who makes a new chain for a bare frame is found by the picture, whatever the effect.
verify_pictures () {
  # shellcheck disable=SC2086 # a list of words
  gst-launch-1.0 -q $read_clip ! filesink location=out/original.raw || return 1
  for effect in region-effect=fill region-strength=0.2 ${all:+region-effect=noise-pixelate region-strength=0.05} \
    ${all:+"region-strength=0.3 mask=box"}; do
    # shellcheck disable=SC2086 # a list of words
    cover film "$face" $effect && tampered bare 50 out/film.raw out/original.raw &&
      python3 tests/rows/recorded.py forge 50 out/film.jsonl out/tampered.raw out/forged.jsonl &&
      verifies 1 '^frame 50 of the film: the box 200,10,160,240 (text, seen) is bare: ' out/tampered.mkv out/forged.jsonl &&
      grep -q '100 of 100 frames are those of the record.* 99 covered, 1 bare, 0 that .* faults: 1$' out/example || return 1
  done
  # A mask as it is may hide nothing.
  cover film "$face" region-effect=mask mask=gaussian && mux film &&
    verifies 3 '100 that the picture does not tell; faults: 0' out/film.mkv out/film.jsonl
}

# encode NAME [ENCODER...]: out/NAME.mkv from out/NAME.raw, with losses.
encode () {
  film=$1
  shift
  [ "$#" -gt 0 ] || set -- jpegenc quality=80
  gst-launch-1.0 -q filesrc location="out/$film.raw" ! rawvideoparse format=i420 width=640 height=360 framerate=25/1 \
    ! "$@" ! matroskamux ! filesink location="out/$film.mkv"
}

# Without checksums: a bare box is found in each effect, and a frame that is missing or too many where the picture moves.
verify_lossy () {
  # shellcheck disable=SC2086 # a list of words
  gst-launch-1.0 -q $read_clip ! filesink location=out/original.raw || return 1
  for effect in region-effect=fill region-strength=0.2 region-effect=pixelate; do
    cover film "$face" "$effect" && encode film &&
      verifies 0 "$all_right" --lossy out/film.mkv out/film.jsonl &&
      tampered bare 50 out/film.raw out/original.raw && encode tampered &&
      verifies 1 '^frame 50 of the film: the box 200,10,160,240 (text, seen) is bare: ' --lossy out/tampered.mkv out/film.jsonl ||
      return 1
  done
  verifies 1 ' is not that of the record ' out/film.mkv out/film.jsonl &&
    tampered drop 40 out/film.raw && encode tampered &&
    verifies 1 'of the record (line [0-9]*) is missing in the film' --lossy out/tampered.mkv out/film.jsonl &&
    tampered twice 40 out/film.raw && encode tampered &&
    verifies 1 'of the film is not in the record' --lossy out/tampered.mkv out/film.jsonl
}

# A covered film, which is encoded with losses, with the record of its element. H.264 blurs the edges of boxes and of blocks, most
# where a box of odd size moves over a plain background.
verify_anonymised () {
  moving='"y": 21, "width": 31, "height": 31 }, { "time": 3.5, "x": 541, "y": 261, "width": 31, "height": 31 }'
  echo "{ \"face\": [ [ { \"time\": 0.5, \"x\": 21, $moving ] ] }" >out/moving.json
  for row in examples/clip-boxes.json:pixelate:webm:39 examples/clip-boxes.json:noise:mp4:39 out/moving.json:fill:mp4:76; do
    boxes=${row%%:*} effect=${row#*:} end=${row%:*} count=${row##*:}
    effect=${effect%%:*} end=${end##*:}
    rm -f out/film.jsonl
    film "--boxes=$boxes" "--effect=$effect" examples/clip.mp4 "out/film.$end" region-log=out/film.jsonl &&
      verifies 0 "100 of 100 frames .* boxes: $count covered, 0 bare, 0 that .* faults: 0" --lossy "out/film.$end" out/film.jsonl ||
      return 1
  done
  verifies 1 'is compared with --lossy$' out/film.mp4 out/film.jsonl
}

# In a film with losses a strip of the box is found that is wider than an edge that an encoder blurs. Nobody can tell of a box
# that is all edge.
verify_strips () {
  # shellcheck disable=SC2086 # a list of words
  gst-launch-1.0 -q $read_clip ! filesink location=out/original.raw || return 1
  for effect in fill pixelate; do
    cover film "$face" region-effect=$effect && tampered strip 50 10 16 out/film.raw out/original.raw &&
      film out/tampered.mkv out/strip.mp4 mask=identity &&
      verifies 1 '^frame 50 of the film: the box 200,10,160,240 (text, seen) is bare: ' --lossy out/strip.mp4 out/film.jsonl &&
      grep -q ' 99 covered, 1 bare, 0 that ' out/example || return 1
  done
  cover film regions=200,10,4,240 region-effect=fill && mux film &&
    verifies 3 ' 0 covered, 0 bare, 100 that .* faults: 0$' --lossy out/film.mkv out/film.jsonl
}

verify_rows () {
  check "verify: films that are right" verify_right
  check "verify: translucent effects and pictures" verify_effects
  check "verify: films that were tampered with" verify_films
  check "verify: records that were tampered with" verify_records
  check "verify: bare boxes in the picture" verify_pictures
  check "verify: a film that was anonymised" verify_anonymised
  check "verify: a strip of a box" verify_strips
  [ -n "$all" ] || return 0
  check "verify: films with losses" verify_lossy
  check "verify: other formats" verify_formats
}
