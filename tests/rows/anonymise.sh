# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# examples/anonymise: the clip with boxes from the shipped file and with faces that facedetect finds.

anonymise () {
  build/examples/anonymise "$@"
}

# film_with_sound FILE: the clip's video as it is, with four seconds of AAC.
film_with_sound () {
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! qtdemux ! h264parse ! mp4mux name=mux ! filesink location="$1" \
    audiotestsrc num-buffers=172 samplesperbuffer=1024 wave=ticks ! audio/x-raw,rate=44100 ! avenc_aac ! aacparse ! mux.
}

# sound_of DEMUXER FILE OUTPUT: the bytes of the sound as they are in the file.
sound_of () {
  gst-launch-1.0 -q filesrc location="$2" ! "$1" ! audio/mpeg ! filesink location="$3" && [ -s "$3" ]
}

# The face is covered in each of its frames, all other frames stay, and the sound is the same to the byte. No GStreamer
# object outlives the program.
anonymise_boxes () {
  film_with_sound out/sound.mp4 || return 1
  env GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 build/examples/anonymise \
    --boxes=examples/clip-boxes.json --output=out/anonymised.mkv out/sound.mp4 2>out/leaks || { cat out/leaks; return 1; }
  ! grep 'object-alive, type-name=(string)[^%]' out/leaks &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/anonymised.mkv examples/clip-boxes.json &&
    sound_of qtdemux out/sound.mp4 out/sound-before && sound_of matroskademux out/anonymised.mkv out/sound-after &&
    cmp out/sound-before out/sound-after
}

# WebM does not hold AAC, so that the sound is encoded anew. Four seconds have to come out, and another effect.
anonymise_encodes_sound () {
  film_with_sound out/sound.mp4 &&
    anonymise --boxes=examples/clip-boxes.json --effect=blur --output=out/anonymised.webm out/sound.mp4 &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/anonymised.webm examples/clip-boxes.json &&
    gst-launch-1.0 -q filesrc location=out/anonymised.webm ! decodebin ! audio/x-raw ! audioconvert ! audioresample \
      ! audio/x-raw,format=S16LE,channels=1,rate=48000 ! filesink location=out/sound-after &&
    samples=$(($(wc -c <out/sound-after) / 2)) && echo "$samples samples" &&
    [ "$samples" -gt 190000 ] && [ "$samples" -lt 196000 ]
}

# The detector misses the face while it fades in and out. These frames have to be covered, too. The boxes that were saved
# give the same film again.
anonymise_detect () {
  rm -f out/found.json
  if ! anonymise --detect --effect=fill --save-boxes=out/found.json --output=out/detected.webm examples/clip.mp4 \
    >out/example 2>&1; then
    cat out/example
    ! grep -q 'gstreamer1.0-opencv\|opencv-data' out/example || return 77
    return 1
  fi
  cat out/example
  grep -q '^found: faces in [1-9][0-9]* of 100 frames' out/example &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/detected.webm examples/clip-boxes.json 0.1 || return 1
  [ -n "$all" ] || return 0
  anonymise --boxes=out/found.json --effect=fill --output=out/again.webm examples/clip.mp4 region-expand=0.4 \
    region-hold=500000000 && python3 tests/rows/anonymised.py examples/clip.mp4 out/again.webm examples/clip-boxes.json 0.1
}

# refuses TEXT ARGUMENTS...: the program fails with one line, beside its progress, that says TEXT, and leaves no file.
refuses () {
  text=$1
  shift
  rm -f out/refused.webm*
  status=0
  echo "$*"
  anonymise --output=out/refused.webm "$@" >out/example 2>&1 || status=$?
  cat out/example
  [ "$status" = 1 ] && [ "$(grep -vc '^covering: ' out/example)" = 1 ] && grep -q -e "$text" out/example &&
    ! ls out/refused.webm* 2>/dev/null
}

# refuses_boxes TEXT JSON: the same for the contents of a file of boxes.
refuses_boxes () {
  printf '%s\n' "$2" >out/boxes.json
  refuses "$1" --boxes=out/boxes.json examples/clip.mp4
}

box='"x": 1, "y": 2, "width": 30, "height": 40'

anonymise_refuses () {
  boxes=--boxes=examples/clip-boxes.json
  clip=examples/clip.mp4
  refuses "a film is needed" && refuses "either --boxes=FILE.json or --detect" "$clip" &&
    refuses "either --boxes=FILE.json or --detect" "$boxes" --detect "$clip" &&
    refuses "belong to --detect" "$boxes" --cascade=x.xml "$clip" &&
    refuses "nowhere.mp4: no such file" "$boxes" nowhere.mp4 &&
    refuses "no video that can be decoded" "$boxes" LICENSE &&
    refuses "nowhere.json: No such file" --boxes=nowhere.json "$clip" &&
    refuses "effects are pixelate, noise, blur and fill" "$boxes" --effect=smear "$clip" &&
    refuses "no such property to set" "$boxes" "$clip" masc=gaussian &&
    refuses "not a value of cudaconvolve's property region-blocks" "$boxes" "$clip" region-blocks=0 &&
    refuses "has to end in .webm or .mkv" --output=out/refused.avi "$boxes" "$clip" &&
    refuses "there is no folder out/nowhere" --output=out/nowhere/refused.webm "$boxes" "$clip"
}

# Every property of the element that is not on the program's list is refused, with _ for -, too. So are values with which a
# face can be made out.
anonymise_refuses_properties () {
  boxes=--boxes=examples/clip-boxes.json
  clip=examples/clip.mp4
  gst-inspect-1.0 cudaconvolve | sed -n '/^Element Properties/,$s/^  \([a-z][a-z-]*\)  *: .*/\1/p' >out/properties
  [ "$(wc -l <out/properties)" -ge 40 ] || return 1
  while IFS= read -r name; do
    case $name in
      boundary | boundary-color | cuda-device-id | field-mode | frames-in-flight | kernel-variant | n-threads) continue ;;
      region-blocks | region-color | region-effect | region-epsilon | region-expand | region-fallback) continue ;;
      region-feather | region-hold | region-log | region-shape | region-strength) continue ;;
    esac
    refuses "\"$name=1\": this property is not free here" "$boxes" "$clip" "$name=1" || return 1
  done <out/properties
  refuses 'not free here' "$boxes" --effect=blur "$clip" mask=identity &&
    refuses 'not free here' "$boxes" "$clip" apply_to=outside-regions &&
    refuses 'below 0.2 can be undone' "$boxes" --effect=blur "$clip" region-strength=0 &&
    refuses 'below 0.2 can be undone' "$boxes" --effect=blur "$clip" region-strength=0.19 &&
    refuses 'region-strength' "$boxes" --effect=blur "$clip" region-strength=-1 &&
    refuses 'region-strength' "$boxes" --effect=blur "$clip" region-strength=nan &&
    refuses '1 to 3' "$boxes" "$clip" region-blocks=64 &&
    refuses '1 or less' "$boxes" --effect=noise "$clip" region-epsilon=10 &&
    refuses '1 to 3' "$boxes" "$clip" region_blocks=4 &&
    refuses 'pixelate or fill' "$boxes" "$clip" region-effect=mask &&
    refuses 'write rectangle' "$boxes" "$clip" region-shape=ellipse || return 1
  gst-inspect-1.0 --exists facedetect || return 0
  refuses '0.4 or more' --detect "$clip" region-expand=0 && refuses '500000000 or more' --detect "$clip" region-hold=0
}

# free PROPERTIES EFFECT: the face is covered with these properties, too.
free () {
  # shellcheck disable=SC2086 # a list of words
  anonymise --boxes=examples/clip-boxes.json --effect="$2" --output=out/free.webm examples/clip.mp4 $1 &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/free.webm examples/clip-boxes.json
}

anonymise_frees () {
  free "region-blocks=1 kernel-variant=cpu n-threads=2 frames-in-flight=3 field-mode=interlaced boundary=zero" pixelate &&
    free "region-effect=fill region-color=0x00ff0000 region-shape=rectangle region-fallback=none" pixelate &&
    free "region-epsilon=1" noise &&
    free "region-strength=0.2" blur
}

# boxes_of WIDTH: the boxes of the clip, for a film of this width.
boxes_of () {
  python3 -c '
import json, sys
factor = int(sys.argv[1]) / 640
types = json.load(open("examples/clip-boxes.json"))
for tracks in types.values():
    for track in tracks:
        for keyframe in track:
            keyframe.update((name, keyframe[name] * factor) for name in ("x", "y", "width", "height"))
json.dump(types, open("out/boxes.json", "w"), indent=1)' "$1"
}

# Boxes of the upright picture cover the face in films of odd sizes, small ones and turned ones. Boxes of a larger film are
# refused with the line of the first one.
anonymise_sizes () {
  for size in 321x181 64x36; do
    gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! videoscale ! \
      "video/x-raw,width=${size%x*},height=${size#*x}" ! vp8enc deadline=1 cq-level=4 end-usage=cq max-quantizer=20 \
      target-bitrate=30000000 ! webmmux ! filesink location=out/sized.webm &&
      boxes_of "${size%x*}" || return 1
    [ "$size" = 64x36 ] || cp out/sized.webm out/half.webm
    anonymise --boxes=out/boxes.json --effect=fill --output=out/anonymised.webm out/sized.webm &&
      python3 tests/rows/anonymised.py out/sized.webm out/anonymised.webm out/boxes.json 0 "$size" || return 1
  done
  refuses 'clip-boxes.json: line 4: .*outside the film' --boxes=examples/clip-boxes.json out/sized.webm || return 1
  # Boxes of a film that is twice as large may lie in the picture, and then a person has to look.
  boxes_of 321 && anonymise --boxes=out/boxes.json --output=out/anonymised.webm out/half.webm >out/example 2>&1 &&
    ! grep edge out/example && anonymise --boxes=examples/clip-boxes.json --output=out/anonymised.webm out/half.webm \
    >out/example 2>&1 && cat out/example && grep -q 'clip-boxes.json: line 4: the box passes the edge' out/example || return 1
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! videoflip method=counterclockwise \
    ! jpegenc quality=95 ! taginject tags="image-orientation=rotate-90" ! qtmux ! filesink location=out/turned.mov &&
    anonymise --boxes=examples/clip-boxes.json --output=out/anonymised.webm out/turned.mov &&
    python3 tests/rows/anonymised.py out/turned.mov out/anonymised.webm examples/clip-boxes.json 0
}

# The last line counts the frames: new boxes, and those that region-hold holds before and after.
anonymise_counts () {
  anonymise --boxes=examples/clip-boxes.json --output=out/counted.webm examples/clip.mp4 >out/example && cat out/example &&
    [ "$(tail -n 1 out/example)" = "covered: 39 of 100 frames: 39 by new boxes, 0 by held ones; 61 had none" ] &&
    anonymise --boxes=examples/clip-boxes.json --output=out/counted.webm examples/clip.mp4 region-hold=200000000 \
      >out/example && cat out/example &&
    [ "$(tail -n 1 out/example)" = "covered: 49 of 100 frames: 39 by new boxes, 10 by held ones; 51 had none" ]
}

# A frame whose box hides nothing fails the film. Such frames hold the very blocks that pixelate makes. Where nothing is to be
# seen, as in black, nothing has to change.
anonymise_compares () {
  box='"x": 200, "y": 40, "width": 160, "height": 192'
  printf '%s' "{ \"face\": [ [ { \"time\": 1.24, $box }, { \"time\": 2.76, $box } ] ] }" >out/still.json
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! cudaconvolve apply-to=regions regions=200,40,160,192 \
    region-effect=pixelate region-blocks=3 ! videoconvert ! video/x-raw,format=I420 ! matroskamux \
    ! filesink location=out/blocks.mkv &&
    refuses 'in 39 frames, the first at 1.24 s, a box hid nothing' --boxes=out/still.json out/blocks.mkv &&
    anonymise --boxes=out/still.json --effect=fill --output=out/anonymised.webm out/blocks.mkv &&
    gst-launch-1.0 -q videotestsrc pattern=black num-buffers=75 ! video/x-raw,width=640,height=360,framerate=25/1 ! matroskamux \
      ! filesink location=out/black.mkv &&
    anonymise --boxes=out/still.json --output=out/anonymised.webm out/black.mkv
}

# refuses_place X Y WIDTH HEIGHT: a box that is no part of the clip's picture.
refuses_place () {
  refuses_boxes 'line 1: .*outside the film' "{ \"face\": [ [ { \"time\": 1, \"x\": $1, \"y\": $2, \"width\": $3,
    \"height\": $4 } ] ] }"
}

anonymise_refuses_boxes () {
  refuses_boxes 'boxes.json: line 1: unknown keyword; clip-boxes.json in examples/ shows' 'nonsense' &&
    refuses_boxes 'no boxes' '{}' &&
    refuses_boxes '"face" has no keyframe' '{ "face": [ [] ] }' &&
    refuses_boxes 'line 2: a number is needed' "{ \"face\": [ [ { \"time\": 1, $box },
      { \"time\": \"later\", $box } ] ] }" &&
    refuses_boxes '"face", keyframe 1: time, x, y, width and height are needed' '{ "face": [ [ { "time": 1 } ] ] }' &&
    refuses_boxes 'only time, x, y, width and height are known' \
      "{ \"face\": [ [ { \"time\": 1, \"z\": 1, $box } ] ] }" &&
    refuses_boxes '"plate", keyframe 2: time has to be later' \
      "{ \"plate\": [ [ { \"time\": 1, $box }, { \"time\": 1, $box } ] ] }" &&
    refuses_boxes 'time is below 0' "{ \"face\": [ [ { \"time\": -1, $box } ] ] }" &&
    refuses_boxes 'have to be above 0' '{ "face": [ [ { "time": 1, "x": 1, "y": 2, "width": 0, "height": 1 } ] ] }' &&
    refuses_boxes 'line 1: .*look like shares of the picture; write pixels' \
      '{ "face": [ [ { "time": 1, "x": 0.3, "y": 0.1, "width": 0.25, "height": 0.6 } ] ] }' &&
    refuses_boxes 'line 3: "face", keyframe 2: .*shares' "{ \"fa{ce\": [], \"face\": [ [
      { \"time\": 1, $box },
      { \"time\": 2, \"x\": 0, \"y\": 0, \"width\": 1, \"height\": 1 } ] ] }" &&
    refuses_boxes 'below a pixel' '{ "face": [ [ { "time": 1, "x": 200, "y": 50, "width": 0.25, "height": 60 } ] ] }' &&
    refuses_boxes 'below a pixel' '{ "face": [ [ { "time": 1, "x": 200, "y": 50, "width": 60, "height": 0.6 } ] ] }' &&
    refuses_boxes 'line 2: .*outside the film.*which has 640x360' '{ "face": [ [
      { "time": 1, "x": 1200, "y": 276, "width": 960, "height": 1170 } ] ] }' &&
    refuses_boxes 'far over its edge' '{ "face": [ [ { "time": 1, "x": 600, "y": 138, "width": 480, "height": 585 } ] ] }' &&
    refuses_place -50 40 50 40 && refuses_place 50 -40 50 40 && refuses_place 640 40 50 40 && refuses_place 50 360 50 40 &&
    refuses_place 600 40 361 40 && refuses_place 50 300 50 241 && refuses_place -321 40 400 40 && refuses_place 50 -181 50 200 &&
    refuses_boxes 'times are seconds' "{ \"face\": [ [ { \"time\": 31, $box } ] ] }" &&
    refuses_boxes 'line 2: "face": no frame of the film' "{ \"face\": [ [ { \"time\": 1, $box } ],
      [ { \"time\": 31, $box } ] ] }" &&
    refuses_boxes 'too large' '{ "face": [ [ { "time": 1, "x": 1e9, "y": 2, "width": 1, "height": 1 } ] ] }'
}

# After Ctrl-C no file is there, and one that was there before is as it was.
anonymise_stops () {
  echo before >out/stopped.webm
  build/examples/anonymise --boxes=examples/clip-boxes.json --output=out/stopped.webm examples/clip.mp4 \
    >out/example 2>&1 &
  program=$!
  while ! ls out/stopped.webm.*.part >/dev/null 2>&1 && kill -0 "$program"; do sleep 0.02; done
  sleep 0.2
  kill -INT "$program"
  status=0
  wait "$program" || status=$?
  cat out/example
  [ "$status" = 1 ] && [ "$(cat out/stopped.webm)" = before ] && ! ls out/stopped.webm.*.part 2>/dev/null &&
    grep -q 'stopped before the end' out/example
}

anonymise_rows () {
  check "anonymise: boxes from a file, and the sound" anonymise_boxes
  check "anonymise: faces that are found" anonymise_detect
  check "anonymise: mistakes in arguments" anonymise_refuses
  check "anonymise: properties that leave a face readable" anonymise_refuses_properties
  check "anonymise: boxes that hide nothing" anonymise_compares
  check "anonymise: odd, small and turned films" anonymise_sizes
  check "anonymise: counts" anonymise_counts
  check "anonymise: mistakes in files of boxes" anonymise_refuses_boxes
  check "anonymise: Ctrl-C" anonymise_stops
  [ -n "$all" ] || return 0
  check "anonymise: properties that are free" anonymise_frees
  check "anonymise: sound that is encoded" anonymise_encodes_sound
}
