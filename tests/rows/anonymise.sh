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

# refuses TEXT ARGUMENTS...: the program fails with one line that says TEXT, and leaves no file.
refuses () {
  text=$1
  shift
  rm -f out/refused.webm*
  status=0
  anonymise --output=out/refused.webm "$@" >out/example 2>&1 || status=$?
  cat out/example
  [ "$status" = 1 ] && [ "$(wc -l <out/example)" = 1 ] && grep -q -e "$text" out/example &&
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
    refuses "effects are pixelate, blur and fill" "$boxes" --effect=smear "$clip" &&
    refuses "no such property to set" "$boxes" "$clip" masc=gaussian &&
    refuses "not a value of cudaconvolve's property region-blocks" "$boxes" "$clip" region-blocks=0 &&
    refuses "mask: \"nonsense\" (character 1) is not a preset" "$boxes" "$clip" mask=nonsense &&
    refuses "has to end in .webm or .mkv" --output=out/refused.avi "$boxes" "$clip" &&
    refuses "region-types=plate.*not free here" "$boxes" "$clip" region-types=plate &&
    refuses "there is no folder out/nowhere" --output=out/nowhere/refused.webm "$boxes" "$clip"
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
    refuses_boxes 'too large' '{ "face": [ [ { "time": 1, "x": 1e9, "y": 2, "width": 1, "height": 1 } ] ] }'
}

# After Ctrl-C no file is there, and one that was there before is as it was.
anonymise_stops () {
  echo before >out/stopped.webm
  build/examples/anonymise --boxes=examples/clip-boxes.json --output=out/stopped.webm examples/clip.mp4 \
    >out/example 2>&1 &
  program=$!
  while [ ! -s out/stopped.webm.part ] && kill -0 "$program"; do sleep 0.1; done
  kill -INT "$program"
  status=0
  wait "$program" || status=$?
  cat out/example
  [ "$status" = 1 ] && [ "$(cat out/stopped.webm)" = before ] && [ ! -e out/stopped.webm.part ] &&
    grep -q 'stopped before the end' out/example
}

anonymise_rows () {
  check "anonymise: boxes from a file, and the sound" anonymise_boxes
  check "anonymise: faces that are found" anonymise_detect
  check "anonymise: mistakes in arguments" anonymise_refuses
  check "anonymise: mistakes in files of boxes" anonymise_refuses_boxes
  check "anonymise: Ctrl-C" anonymise_stops
  [ -n "$all" ] || return 0
  check "anonymise: sound that is encoded" anonymise_encodes_sound
}
