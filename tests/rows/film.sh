# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# cudaconvolve-film: boxes from a file that are covered, properties that follow keyframes, and the streams that are kept.

film () {
  build/examples/film/cudaconvolve-film "$@"
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
film_boxes () {
  film_with_sound out/sound.mp4 || return 1
  env GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 build/examples/film/cudaconvolve-film \
    --boxes=examples/clip-boxes.json out/sound.mp4 out/anonymised.mkv 2>out/leaks || { cat out/leaks; return 1; }
  ! grep 'object-alive, type-name=(string)[^%]' out/leaks &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/anonymised.mkv examples/clip-boxes.json &&
    sound_of qtdemux out/sound.mp4 out/sound-before && sound_of matroskademux out/anonymised.mkv out/sound-after &&
    cmp out/sound-before out/sound-after
}

# WebM does not hold AAC, so that the sound is encoded anew. Four seconds have to come out, and another effect.
film_encodes_sound () {
  film_with_sound out/sound.mp4 &&
    film --boxes=examples/clip-boxes.json --effect=blur out/sound.mp4 out/anonymised.webm &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/anonymised.webm examples/clip-boxes.json &&
    gst-launch-1.0 -q filesrc location=out/anonymised.webm ! decodebin ! audio/x-raw ! audioconvert ! audioresample \
      ! audio/x-raw,format=S16LE,channels=1,rate=48000 ! filesink location=out/sound-after &&
    samples=$(($(wc -c <out/sound-after) / 2)) && echo "$samples samples" &&
    [ "$samples" -gt 190000 ] && [ "$samples" -lt 196000 ]
}

# refuses TEXT ARGUMENTS...: the program fails with one line, beside its progress, that says TEXT, and leaves no file.
refuses () {
  text=$1
  shift
  rm -f out/refused.*
  status=0
  echo "$*"
  film "$@" >out/example 2>&1 || status=$?
  cat out/example
  [ "$status" = 1 ] && [ "$(grep -vc '^covering: \|^\[OpenH264\]' out/example)" = 1 ] && grep -q -e "$text" out/example &&
    ! ls out/refused.* 2>/dev/null
}

# refuses_boxes TEXT JSON: the same for the contents of a file of boxes.
refuses_boxes () {
  printf '%s\n' "$2" >out/boxes.json
  refuses "$1" --boxes=out/boxes.json examples/clip.mp4 out/refused.webm
}

box='"x": 1, "y": 2, "width": 30, "height": 40'

film_refuses () {
  boxes=--boxes=examples/clip-boxes.json
  clip=examples/clip.mp4
  out=out/refused.webm
  refuses "a film and the name of the film to write" "$clip" &&
    refuses "clip.mp4: --check takes no films" --check "$clip" "$out" &&
    refuses "belong to --boxes or --cover" --effect=fill "$clip" "$out" &&
    refuses "nowhere.mp4: no such file" nowhere.mp4 "$out" &&
    refuses "nowhere/: no such file or folder" nowhere/ out/made/ &&
    refuses "out: is a folder; name the film to write, as out/NAME.mp4" "$clip" out &&
    refuses "put the pattern in quotes" "$clip" "$out" examples &&
    refuses "no video that can be decoded" LICENSE "$out" &&
    refuses "nowhere.json: No such file" --boxes=nowhere.json "$clip" "$out" &&
    refuses "effects are pixelate, noise, blur and fill" "$boxes" --effect=smear "$clip" "$out" &&
    refuses "no such property to set" "$boxes" "$clip" "$out" masc=gaussian &&
    refuses "no such property to set" "$clip" "$out" masc=gaussian &&
    refuses "not a value of cudaconvolve's property region-blocks" "$boxes" "$clip" "$out" region-blocks=0 &&
    refuses '"": not a value of .* sigma; it takes -1 to 1000' "$clip" "$out" sigma= &&
    refuses "boundary; it takes zero, replicate" "$clip" "$out" boundary=mirrored &&
    refuses "n-threads; it takes whole numbers from 0" "$clip" "$out" n-threads=many &&
    refuses "region-color; it takes a number as 0xffff0000" "$clip" "$out" region-color=red &&
    refuses "has to end in one of mp4, mov, mkv, webm" "$clip" out/refused.avi &&
    refuses "the codecs are h264, h265" --codec=h266 "$clip" "$out" &&
    refuses "WebM holds no such video; write one of vp9" --codec=h264 "$clip" "$out" &&
    refuses "write 0 to 100" --quality=101 "$clip" "$out" &&
    refuses "Unknown option .*have no dashes and come last" --masc=box "$clip" "$out" &&
    refuses "there is no folder out/nowhere" "$clip" out/nowhere/refused.webm
}

# A film of rings loses its detail up to the middle, and has the detail back at the end. The film keeps its frames.
film_keyframes () {
  gst-launch-1.0 -q videotestsrc pattern=zone-plate kx2=60 ky2=34 num-buffers=100 \
    ! video/x-raw,width=640,height=360,framerate=25/1 ! vp8enc deadline=1 cpu-used=4 end-usage=cq cq-level=4 \
    max-quantizer=20 target-bitrate=30000000 ! webmmux ! filesink location=out/rings.webm &&
    film out/rings.webm out/animated.mkv --keyframes=sigma=0%:0.5,50%:12,100%:0.5 &&
    python3 tests/rows/animated.py out/rings.webm out/animated.mkv sharp &&
    film out/rings.webm out/animated.mkv --keyframes=bias=0:0,2:-1,4:0 mask=identity &&
    python3 tests/rows/animated.py out/rings.webm out/animated.mkv bright &&
    film examples/clip.mp4 out/animated.webm --keyframes=sigma=0:1,4:3 --keyframes=bias=0:0,4:0.1 mask=unsharp \
      boundary=reflect && [ "$(frames out/animated.webm)" = 100 ]
}

film_keyframes_refused () {
  clip=examples/clip.mp4
  out=out/refused.mkv
  refuses 'boxes move by --boxes' "$clip" "$out" --keyframes=regions=0:1 &&
    refuses 'can be controlled' "$clip" "$out" --keyframes=mask=0:1 &&
    refuses 'not in the range' "$clip" "$out" --keyframes=bias=0:0,1:2 &&
    refuses 'write --keyframes=PROPERTY' "$clip" "$out" --keyframes=sigma &&
    refuses 'write --keyframes=PROPERTY' "$clip" "$out" --keyframes=sigma=0:1,2:two &&
    refuses 'times have to ascend' "$clip" "$out" --keyframes=sigma=2:1,1:2 &&
    refuses 'above 100%' "$clip" "$out" --keyframes=sigma=0%:1,101%:2
}

# Every property of the element that is not on the program's list is refused, with _ for -, too. So are values with which a
# face can be made out.
film_refuses_properties () {
  boxes=--boxes=examples/clip-boxes.json
  clip=examples/clip.mp4
  out=out/refused.mkv
  gst-inspect-1.0 cudaconvolve | sed -n '/^Element Properties/,$s/^  \([a-z][a-z-]*\)  *: .*/\1/p' >out/properties
  [ "$(wc -l <out/properties)" -ge 40 ] || return 1
  while IFS= read -r name; do
    case $name in
      boundary | boundary-color | cuda-device-id | field-mode | frames-in-flight | kernel-variant | n-threads) continue ;;
      region-blocks | region-color | region-effect | region-epsilon | region-expand | region-fallback) continue ;;
      region-feather | region-hold | region-log | region-lookahead | region-picture | region-shape | region-strength) continue ;;
    esac
    refuses "\"$name=1\": this property is not free here" "$boxes" "$clip" "$out" "$name=1" || return 1
  done <out/properties
  refuses 'not free here' "$boxes" --effect=blur "$clip" "$out" mask=identity &&
    refuses 'not free here' "$boxes" "$clip" "$out" apply_to=outside-regions &&
    refuses 'below 0.2 can be undone' "$boxes" --effect=blur "$clip" "$out" region-strength=0 &&
    refuses 'below 0.2 can be undone' "$boxes" --effect=blur "$clip" "$out" region-strength=0.19 &&
    refuses 'region-strength' "$boxes" --effect=blur "$clip" "$out" region-strength=-1 &&
    refuses 'region-strength' "$boxes" --effect=blur "$clip" "$out" region-strength=nan &&
    refuses '1 to 3' "$boxes" "$clip" "$out" region-blocks=64 &&
    refuses '1 or less' "$boxes" --effect=noise "$clip" "$out" region-epsilon=10 &&
    refuses '1 to 3' "$boxes" "$clip" "$out" region_blocks=4 &&
    refuses 'pixelate or fill' "$boxes" "$clip" "$out" region-effect=mask &&
    refuses 'write rectangle' "$boxes" "$clip" "$out" region-shape=ellipse &&
    refuses 'keyframes are free for' "$boxes" "$clip" "$out" --keyframes=region-opacity=0:0.5,4:0 &&
    refuses 'keyframes are free for' "$boxes" "$clip" "$out" --keyframes=region_strength=0:0.3,4:0 &&
    refuses 'keyframes are free for' "$boxes" "$clip" "$out" --keyframes=region-blocks=0:3,2:60
}

# free PROPERTIES EFFECT: the face is covered with these properties, too.
free () {
  # shellcheck disable=SC2086 # a list of words
  film --boxes=examples/clip-boxes.json --effect="$2" examples/clip.mp4 out/free.mp4 $1 &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/free.mp4 examples/clip-boxes.json
}

film_frees () {
  free "region-blocks=1 kernel-variant=cpu n-threads=2 frames-in-flight=3 field-mode=interlaced boundary=zero" pixelate &&
    free "region-effect=fill region-color=0x00ff0000 region-shape=rectangle region-fallback=none" pixelate &&
    free "region-effect=fill region-picture=examples/pictures/layer-filters.png" pixelate &&
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
film_sizes () {
  for size in 321x181 64x36; do
    gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! videoscale ! \
      "video/x-raw,width=${size%x*},height=${size#*x}" ! vp8enc deadline=1 cq-level=4 end-usage=cq max-quantizer=20 \
      target-bitrate=30000000 ! webmmux ! filesink location=out/sized.webm &&
      boxes_of "${size%x*}" || return 1
    [ "$size" = 64x36 ] || cp out/sized.webm out/half.webm
    film --boxes=out/boxes.json --effect=fill out/sized.webm out/anonymised.webm &&
      python3 tests/rows/anonymised.py out/sized.webm out/anonymised.webm out/boxes.json 0 "$size" || return 1
  done
  refuses 'clip-boxes.json: line 4: .*outside the film' --boxes=examples/clip-boxes.json out/sized.webm out/refused.mkv || return 1
  # Boxes of a film that is twice as large may lie in the picture, and then a person has to look.
  boxes_of 321 && film --boxes=out/boxes.json out/half.webm out/anonymised.webm >out/example 2>&1 &&
    ! grep edge out/example && film --boxes=examples/clip-boxes.json out/half.webm out/anonymised.webm \
    >out/example 2>&1 && cat out/example && grep -q 'clip-boxes.json: line 4: the box passes the edge' out/example || return 1
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! videoflip method=counterclockwise \
    ! jpegenc quality=95 ! taginject tags="image-orientation=rotate-90" ! qtmux ! filesink location=out/turned.mov &&
    film --boxes=examples/clip-boxes.json out/turned.mov out/anonymised.webm &&
    python3 tests/rows/anonymised.py out/turned.mov out/anonymised.webm examples/clip-boxes.json 0
}

# The last line counts the frames: new boxes, and those that region-hold holds before and after.
film_counts () {
  film --boxes=examples/clip-boxes.json examples/clip.mp4 out/counted.webm >out/example && cat out/example &&
    [ "$(tail -n 1 out/example)" = "covered: 39 of 100 frames: 39 by new boxes, 0 by held ones; 61 had none" ] &&
    film --boxes=examples/clip-boxes.json examples/clip.mp4 out/counted.webm region-hold=200000000 \
      >out/example && cat out/example &&
    [ "$(tail -n 1 out/example)" = "covered: 49 of 100 frames: 39 by new boxes, 10 by held ones; 51 had none" ]
}

# A frame whose box hides nothing fails the film. Such frames hold the very blocks that pixelate makes. Where nothing is to be
# seen, as in black, nothing has to change.
film_compares () {
  box='"x": 200, "y": 40, "width": 160, "height": 192'
  printf '%s' "{ \"face\": [ [ { \"time\": 1.24, $box }, { \"time\": 2.76, $box } ] ] }" >out/still.json
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! cudaconvolve apply-to=regions regions=200,40,160,192 \
    region-effect=pixelate region-blocks=3 ! videoconvert ! video/x-raw,format=I420 ! matroskamux \
    ! filesink location=out/blocks.mkv &&
    refuses 'in 39 frames, the first at 1.24 s, a box hid nothing' --boxes=out/still.json out/blocks.mkv out/refused.mkv &&
    film --boxes=out/still.json --effect=fill out/blocks.mkv out/anonymised.webm &&
    gst-launch-1.0 -q videotestsrc pattern=black num-buffers=75 ! video/x-raw,width=640,height=360,framerate=25/1 ! matroskamux \
      ! filesink location=out/black.mkv &&
    film --boxes=out/still.json out/black.mkv out/anonymised.webm
}

# A box of one time covers one frame, which is told. The file begins with the mark of a Windows editor.
film_of_one_keyframe () {
  printf '\357\273\277{ "face": [ [ { "time": 1.3, "x": 200, "y": 40, "width": 160, "height": 192 } ] ] }' >out/one.json
  film --boxes=out/one.json examples/clip.mp4 out/anonymised.webm >out/example 2>&1
  cat out/example
  grep -q 'warning: out/one.json: line 1: a track of one keyframe covers one frame alone' out/example &&
    grep -q '^covered: 1 of 100 frames' out/example
}

# A preview hides nothing: chroma stays, so that most edges of saturated bars do.
film_previews () {
  box='"x": 20, "y": 20, "width": 90, "height": 200'
  printf '%s' "{ \"face\": [ [ { \"time\": 0, $box }, { \"time\": 1, $box } ] ] }" >out/still.json
  gst-launch-1.0 -q videotestsrc pattern=smpte num-buffers=25 ! video/x-raw,format=Y444,width=640,height=360,framerate=25/1 \
    ! avenc_ffv1 ! matroskamux ! filesink location=out/bars.mkv &&
    film --boxes=out/still.json --preview out/bars.mkv out/preview.mkv >out/example && cat out/example &&
    [ "$(tail -n 1 out/example)" = "preview: nothing is covered; 25 of 25 frames would be" ]
}

# rgb_of FILE OUTPUT: the pictures as a player shows them.
rgb_of () {
  gst-launch-1.0 -q filesrc location="$1" ! decodebin ! videoconvert ! video/x-raw,format=RGB ! filesink location="$2" && [ -s "$2" ]
}

# A film that does not name its colours has those of its height before it is turned, here fewer than 576 lines, for players and
# in pictures. It is all yellow, so that its turn does not matter. The file's entry of colours is made into an empty one.
film_colours () {
  gst-launch-1.0 -q videotestsrc num-buffers=5 pattern=solid-color foreground-color=0xffffff00 \
    ! video/x-raw,format=I420,width=640,height=360,framerate=25/1 ! avenc_mpeg4 bitrate=8000000 ! qtmux ! filesink location=out/named.mov &&
    PYTHONPATH=tests/rows python3 - <<'END' || return 1
from film_list import turn
named = open('out/named.mov', 'rb').read()
assert named.count(b'colr') == 1
for degrees in 0, 90:
    open('out/untagged-%d.mov' % degrees, 'wb').write(turn(degrees)(named.replace(b'colr', b'free')))
END
  for turn in 0 90; do
    film "out/untagged-$turn.mov" "out/colours-$turn.mkv" --codec=ffv1 mask=identity &&
      film "out/untagged-$turn.mov" "out/colours-$turn-%05d.png" mask=identity || return 1
  done
  for file in .mkv -00001.png; do
    rgb_of "out/colours-0$file" out/rgb-before && rgb_of "out/colours-90$file" out/rgb-after && cmp out/rgb-before out/rgb-after || return 1
  done
  # Chroma stays on the left, too.
  ! command -v ffprobe || { film out/untagged-0.mov out/colours.mp4 mask=identity --codec=h264 &&
    ffprobe -v error -select_streams v -show_entries stream=chroma_location -of csv out/colours.mp4 | grep -x stream,left; }
}

# refuses_place X Y WIDTH HEIGHT: a box that is no part of the clip's picture.
refuses_place () {
  refuses_boxes 'line 1: .*outside the film' "{ \"face\": [ [ { \"time\": 1, \"x\": $1, \"y\": $2, \"width\": $3,
    \"height\": $4 } ] ] }"
}

film_refuses_boxes () {
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
    refuses_boxes 'boxes.json: line 1: "face": no frame of the film .*times are seconds' \
      "{ \"face\": [ [ { \"time\": 31, $box }, { \"time\": 32, $box } ] ] }" &&
    refuses_boxes 'line 2: "face": no frame of the film' "{ \"face\": [ [ { \"time\": 1, $box }, { \"time\": 2, $box } ],
      [ { \"time\": 31, $box } ] ] }" &&
    refuses_boxes 'too large' '{ "face": [ [ { "time": 1, "x": 1e9, "y": 2, "width": 1, "height": 1 } ] ] }'
}

# After Ctrl-C no file is there, and one that was there before is as it was.
film_stops () {
  echo before >out/stopped.webm
  build/examples/film/cudaconvolve-film --boxes=examples/clip-boxes.json examples/clip.mp4 out/stopped.webm \
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

# A sequence of pictures, one picture, and pipes.
film_inputs () {
  rm -rf out/inputs && mkdir -p out/inputs &&
    film examples/clip.mp4 out/inputs/p%03d.png && [ "$(find out/inputs -name 'p*.png' | wc -l)" = 100 ] &&
    ! find out/inputs -name '*.part' | grep . &&
    film out/inputs/p%03d.png out/inputs/pictures.mkv --rate=50 && [ "$(frames out/inputs/pictures.mkv)" = 100 ] &&
    film out/inputs/p001.png out/inputs/one.jpg && [ "$(frames out/inputs/one.jpg)" = 1 ] &&
    film - - mask=box <out/inputs/pictures.mkv >out/inputs/pipe.mkv && [ "$(frames out/inputs/pipe.mkv)" = 100 ] &&
    film "file://$PWD/examples/clip.mp4" out/inputs/uri.mov && [ "$(frames out/inputs/uri.mov)" = 100 ] &&
    refuses 'more than one picture' examples/clip.mp4 out/refused.png &&
    refuses 'there is no such picture' out/inputs/none%03d.png out/refused.mkv
}

# Films of a folder are made once, and one that fails does not keep the others from being made.
film_folder () {
  rm -rf out/folder out/folder-made && mkdir -p out/folder && cp examples/clip.mp4 'out/folder/a b.mp4' &&
    cp LICENSE out/folder/bad.mkv || return 1
  for text in '1 made, 0 there already, 1 failed' '0 made, 1 there already, 1 failed'; do
    ! film out/folder out/folder-made >out/example 2>&1 && cat out/example && grep -q "^films: $text" out/example || return 1
  done
  [ "$(frames 'out/folder-made/a b.mp4')" = 100 ] && [ "$(find out/folder-made -type f | wc -l)" = 2 ] || return 1
  # Made anew with other options, but not where nobody knows how the film was made.
  for text in '1 made, 0 there already, 1 failed' '0 made, 1 there already, 1 failed'; do
    ! film out/folder out/folder-made sigma=3 >out/example 2>&1 && cat out/example && grep -q "^films: $text" out/example || return 1
  done
  rm out/folder-made/.cudaconvolve-film && ! film out/folder out/folder-made sigma=4 >out/example 2>&1 && cat out/example &&
    grep -q 'left as it is, whatever made it' out/example &&
    film 'out/folder/a*' out/folder-made --container=mkv && [ "$(frames 'out/folder-made/a b.mkv')" = 100 ] &&
    refuses 'is that of the input' out/folder out/folder &&
    refuses 'are for one film' out/folder out/folder-made --cover=faces --preview
}

# Films without their index fail at once, and each one says so: GStreamer may lose the error of a film that is read fast. A
# damaged film gets its warning in a folder, too, and counts.
film_broken () {
  rm -rf out/broken out/broken-made && mkdir -p out/broken && python3 -c '
data = open("examples/clip.mp4", "rb").read()
index, frames = data.index(b"moov") - 4, data.index(b"mdat") - 4
for number in range(6):
    open("out/broken/bad%d.mp4" % number, "wb").write(data[:index] + data[frames:frames + 20000])' || return 1
  for run in 1 2 3; do
    ! timeout 20 build/examples/film/cudaconvolve-film 'out/broken/bad*' out/broken-made >out/example 2>&1 || return 1
    cat out/example
    [ "$(grep -c 'no playable streams' out/example)" = 6 ] || { echo "run $run"; return 1; }
  done
  film examples/clip.mp4 out/whole.mkv mask=identity >out/example 2>&1 && head -c $(($(wc -c <out/whole.mkv) * 6 / 10)) out/whole.mkv >out/broken/cut.mkv ||
    return 1
  ! timeout 60 build/examples/film/cudaconvolve-film out/broken out/broken-made mask=box >out/example 2>&1 && cat out/example &&
    grep -q 'warning: out/broken/cut.mkv: the film states 4.0 s and ends after 2' out/example &&
    grep -q '^films: 1 made, 0 there already, 6 failed, 1 with warnings$' out/example
}

# Behind damage a decoder may give several frames one time, which no encoder of H.264 takes: here frames 2 and 3 have that of 1.
film_repeated_times () {
  gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=50 ! video/x-raw,width=640,height=360,framerate=25/1 ! jpegenc ! matroskamux \
    ! filesink location=out/times.mkv && python3 - <<'END' || return 1
data = open('out/times.mkv', 'rb').read()
for time in 80, 120:
    block = b'\x81' + time.to_bytes(2, 'big') + b'\x80'
    assert block in data
    data = data.replace(block, b'\x81\x00\x28\x80', 1)
open('out/times.mkv', 'wb').write(data)
END
  for end in mp4 mkv; do
    film out/times.mkv "out/times-made.$end" >out/example 2>&1 || { cat out/example; return 1; }
    cat out/example
    [ "$(frames "out/times-made.$end")" = 50 ] || return 1
  done
}

# What could go unseen gets a warning: a film that ends before the time that it states, and boxes that count in other
# pixels than those that a player shows.
film_warns () {
  film examples/clip.mp4 out/whole.mkv mask=identity >out/example 2>&1 && ! grep 'warning' out/example || return 1
  head -c $(($(wc -c <out/whole.mkv) * 6 / 10)) out/whole.mkv >out/cut.mkv
  film out/cut.mkv out/cut-made.mkv >out/example 2>&1
  cat out/example
  grep -q 'warning: out/cut.mkv: the film states 4.0 s and ends after 2' out/example || return 1
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! videoscale \
    ! video/x-raw,width=480,height=360,pixel-aspect-ratio=4/3 ! jpegenc ! matroskamux ! filesink location=out/wide.mkv &&
    film out/wide.mkv out/wide-made.mkv --boxes=examples/clip-boxes.json >out/example 2>&1
  cat out/example
  grep -q "warning: .*480x360 pixels, which players show as 640x360" out/example
}

# Three pictures of 0.1 s each; GStreamer 1.22 itself finds no end of such a file.
film_gif () {
  gst-inspect-1.0 --exists avdec_gif || return 77
  python3 -c '
frame = b"\x21\xf9\x04\x00\x0a\x00\x00\x00" + b"\x2c" + bytes(4) + b"\x10\x00\x10\x00\x00" + b"\x02\x03\x84\x8f\x05\x00"
head = b"GIF89a\x10\x00\x10\x00\x80\x00\x00" + bytes(3) + b"\xff\xff\xff"
open("out/film.gif", "wb").write(head + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00" + 3 * frame + b"\x3b")' &&
    timeout 20 build/examples/film/cudaconvolve-film out/film.gif out/gif.mkv --codec=ffv1 && [ "$(frames out/gif.mkv)" = 3 ]
}

# The program's own checksums are some of the tests' ones, hold here, and are told in time, in JSON, too.
film_check () {
  [ "$(wc -l <examples/film/golden.csv)" -ge 90 ] && grep -v '^#' examples/film/golden.csv >out/golden &&
    ! grep -vxF -f tests/element/mask/golden.csv out/golden &&
    timeout 20 build/examples/film/cudaconvolve-film --check >out/example && cat out/example &&
    grep -q '^bytes  *auto (.*cpu.*): the same as elsewhere, [1-9]' out/example && grep -q '^encoders  *[a-z0-9]* by ' out/example &&
    film --version | grep -q '^cudaconvolve [0-9.]*, /' && film --check --json >out/example && python3 -c '
import json
lines = [json.loads(line) for line in open("out/example")]
assert any(line["event"] == "golden" and line["variant"] == "cpu" and line["made"] and not line["wrong"] for line in lines)'
}

# Each line is JSON, errors and progress, too. The library of openh264enc writes a line of its own when a film ends.
film_json () {
  film examples/clip.mp4 out/json.mkv --json >out/example 2>out/errors && ! film examples/clip.mp4 out/json.mkv masc=box --json \
    >>out/example 2>>out/errors && cat out/example && ! grep -v '^\[OpenH264\]' out/errors && python3 -c '
import json
lines = [json.loads(line) for line in open("out/example")]
events = [line["event"] for line in lines]
assert {"progress", "stream", "film", "error"} == set(events), events
assert [line["frames"] for line in lines if line["event"] == "film"] == [100]
assert all(line["percent"] <= 100 for line in lines if line["event"] == "progress")'
}

# The manual page and the folder's own pages have each option of --help, and no tool for manual pages finds a fault.
film_manual () {
  page=build/examples/film/cudaconvolve-film.1
  film --help | sed -n 's/^  .*\(--[a-z-]*\).*/\1/p' >out/options
  [ "$(wc -l <out/options)" -ge 20 ] || { cat out/options; return 1; }
  while IFS= read -r option; do
    sed 's/\\-/-/g' "$page" | grep -q -e "^.fB.*$option.fR" || { echo "$page lacks $option"; return 1; }
    case $option in
      --help*) ;;
      *) grep -q -e "\`${option}[\`=]" examples/film/*.md || { echo "no page in examples/film/ has $option"; return 1; } ;;
    esac
  done <out/options
  lints=
  ! command -v mandoc || { lints=yes; mandoc -T lint -W warning "$page" || return 1; }
  ! command -v man || {
    lints=yes
    LC_ALL=C.UTF-8 man -l --warnings "$page" >out/manual 2>out/said && cat out/said && [ ! -s out/said ] && grep -q '^EXIT STATUS' out/manual || return 1
  }
  [ -n "$lints" ] || { echo "there is neither mandoc nor man"; return 77; }
}

film_rows () {
  check "film: boxes from a file, and the sound" film_boxes
  check "film: mistakes in arguments" film_refuses
  check "film: properties that leave a face readable" film_refuses_properties
  check "film: boxes that hide nothing" film_compares
  check "film: a preview" film_previews
  check "film: colours of a turned film" film_colours
  check "film: odd, small and turned films" film_sizes
  check "film: counts" film_counts
  check "film: mistakes in files of boxes" film_refuses_boxes
  check "film: Ctrl-C" film_stops
  check "film: pictures, pipes and addresses" film_inputs
  check "film: a folder" film_folder
  check "film: broken films of a folder" film_broken
  check "film: a box of one keyframe" film_of_one_keyframe
  check "film: warnings" film_warns
  check "film: frames at one time, as behind damage" film_repeated_times
  check "film: --check" film_check
  check "film: JSON lines" film_json
  check "film: a GIF" film_gif
  check "film: the manual page" film_manual
  check "film: keyframes" film_keyframes
  check "film: keyframes that cannot be" film_keyframes_refused
  [ -n "$all" ] || return 0
  check "film: properties that are free" film_frees
  check "film: sound that is encoded" film_encodes_sound
}
