# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# The examples, and the clip through the element under GStreamer's leak tracer.

# no_leaks ELEMENT PROPERTIES...: fails where a GStreamer object outlives the pipeline. The pattern leaves out the line in which the
# tracer describes its own format.
no_leaks () {
  GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 gst-launch-1.0 -q filesrc location=examples/clip.mp4 \
    ! decodebin ! videoconvert ! "$@" ! fakesink >out/leaks 2>&1 || { cat out/leaks; return 1; }
  ! grep 'object-alive, type-name=(string)[^%]' out/leaks
}

# run_example ARGUMENTS...: runs examples/run.sh without a window, so that no display is needed.
run_example () {
  ended=0
  env -u DISPLAY -u WAYLAND_DISPLAY -u MESON_ARGS sh examples/run.sh "$@" >out/example 2>&1 || ended=$?
  cat out/example
  return "$ended"
}

# frames FILE: how many frames a clip has.
frames () {
  timeout 60 gst-launch-1.0 filesrc location="$1" ! decodebin ! fakesink silent=false -v |
    grep -c 'last-message = chain'
}

# difference PICTURE: the mean difference between its left and its right half, in code values.
difference () {
  timeout 60 gst-launch-1.0 -q filesrc location="$1" ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 \
    ! filesink location=out/grey && python3 -c '
data = open("out/grey", "rb").read()
width, height = 1280, 360
rows = [data[y * width:(y + 1) * width] for y in range(height)]
print(sum(abs(a - b) for row in rows for a, b in zip(row[:width // 2], row[width // 2:])) * 2 // (width * height))'
}

# example PROPERTIES...: the clip has every frame, before and after differ clearly in the picture, the progress reaches the
# end, and the last line names the variant.
example () {
  rm -f out/clip-convolved.mp4 out/clip-before-after.png
  run_example "$@" && [ "$(frames out/clip-convolved.mp4)" = 100 ] &&
    [ "$(difference out/clip-before-after.png)" -ge 6 ] &&
    grep -q '^100 frames, 100%, [1-9][0-9.]* frames/s, 0:00 left' out/example &&
    grep -q '^film: .*100 frames, variant [a-z]' out/example
}

# On a terminal the progress line is overwritten in place. The mask is slow enough for several lines.
example_terminal () {
  command -v script >/dev/null || return 77
  script -qec "build/examples/film/cudaconvolve-film examples/clip.mp4 out/terminal.mkv mask-width=11 kernel-variant=cpu-reference" /dev/null >out/example
  cat -v out/example
  cat -v out/example | grep -q '^^M[0-9]* frames, .* left^\[\[K^M[0-9]* frames, '
}

# A film plays to its end with boxes in spans of time, and what is no span is refused.
example_spans () {
  build/examples/spans examples/clip.mp4 192,8,176,236 0.5-1.2 2-3.5 >out/example 2>&1 && [ ! -s out/example ] &&
    ! build/examples/spans examples/clip.mp4 192,8,176,236 0.5-1.2 3.5-2 >out/example 2>&1 &&
    grep -q '^3.5-2: is no span of seconds' out/example
}

# A folder out/outputs with a film, other names of it, and results of an earlier run.
make_outputs () {
  rm -rf out/outputs
  mkdir -p out/outputs/folder
  cp examples/clip.mp4 out/outputs/film.mp4
  cp examples/heart.txt out/outputs/mask.txt
  ln out/outputs/film.mp4 out/outputs/hard.mp4
  ln -s film.mp4 out/outputs/soft.mp4
  ln -s nowhere.webm out/outputs/dangling.webm
  mkfifo out/outputs/pipe
  for name in before.webm before.png; do echo before >"out/outputs/$name"; done
  state_of out/outputs >out/outputs-before
}

# state_of FOLDER: its names with what they hold.
state_of () {
  (cd "$1" && find . | sort && find . -type f -exec sha256sum {} + | sort)
}

# spares TEXT ARGUMENTS...: cudaconvolve-film fails and says TEXT. The folder out/outputs is as before.
spares () {
  text=$1
  shift
  status=0
  echo "$*"
  timeout 60 build/examples/film/cudaconvolve-film "$@" >out/example 2>&1 </dev/null || status=$?
  cat out/example
  [ "$status" = 1 ] && grep -q -e "$text" out/example && state_of out/outputs | diff out/outputs-before -
}

# A film that cannot be written leaves the input, the earlier result and no other file.
example_spares () {
  make_outputs
  film=out/outputs/film.mp4
  for name in "$film" out/outputs/../outputs/film.mp4 "$PWD/$film" out/outputs/hard.mp4 out/outputs/soft.mp4; do
    spares 'the output is the input' "$film" "$name" &&
      spares 'the output is the input' --picture="$name" "$film" out/outputs/before.webm || return 1
  done
  for name in out/outputs/pipe /dev/null; do
    spares 'is a pipe or a device' --container=mkv "$film" "$name" || return 1
  done
  spares 'is a folder' --container=mkv "$film" out/outputs/folder &&
    spares 'there is no folder out/nowhere' --picture=out/nowhere/a.png "$film" out/outputs/before.webm &&
    spares 'there is no folder out/nowhere' "$film" out/nowhere/a.webm &&
    spares 'a symbolic link to a file that is not there' "$film" out/outputs/dangling.webm &&
    spares 'is empty' --container=mkv "$film" '' &&
    spares 'two outputs' --picture=out/outputs/./a.mkv "$film" out/outputs/a.mkv &&
    spares 'the file of mask-location' --container=mkv "$film" out/outputs/mask.txt mask-location=out/outputs/mask.txt &&
    spares 'no such property' --picture=out/outputs/before.png "$film" out/outputs/before.webm masc=box &&
    spares 'not a preset' --picture=out/outputs/before.png "$film" out/outputs/before.webm mask=nonsense &&
    spares 'no video' LICENSE out/outputs/before.webm
}

# A disk that is full in the middle of the film: what was written goes.
example_spares_later () {
  make_outputs
  # A limit of 50 kB stands for the disk.
  (
    trap '' XFSZ
    ulimit -f 100
    spares 'Is the disk full' examples/clip.mp4 out/outputs/before.webm --quality=100
  )
}

# killed SIGNALS ARGUMENTS...: a signal that the program does not handle, or a second Ctrl-C, leaves nothing behind.
killed () {
  signals=$1
  shift
  # Whoever starts the tests with nohup has them ignore HUP.
  env --default-signal=HUP build/examples/film/cudaconvolve-film "$@" >out/example 2>&1 &
  number=$!
  while ! find out/outputs -name '*.part' | grep -q . && kill -0 "$number"; do sleep 0.1; done
  sleep 1
  for signal in $signals; do
    kill "-$signal" "$number"
    sleep 0.5
  done
  status=0
  wait "$number" || status=$?
  cat out/example
  echo "status $status"
  [ "$status" != 0 ] && state_of out/outputs | diff out/outputs-before -
}

example_killed () {
  make_outputs
  # One frame takes so long that the first Ctrl-C cannot end the film.
  slow="mask-width=255 sigma=60 kernel-variant=cpu-reference"
  # shellcheck disable=SC2086 # a list of words
  killed HUP examples/clip.mp4 out/outputs/before.webm $slow && killed "INT INT" examples/clip.mp4 out/outputs/before.webm $slow
}

# The earlier result stays until the new one takes its place, through a symbolic link, too, and with its rights.
example_replaces () {
  make_outputs
  ln -s before.webm out/outputs/link.webm
  chmod 600 out/outputs/before.webm
  build/examples/film/cudaconvolve-film --picture=out/outputs/before.png examples/clip.mp4 out/outputs/link.webm >out/example &&
    [ -h out/outputs/link.webm ] && [ "$(frames out/outputs/before.webm)" = 100 ] &&
    [ "$(difference out/outputs/before.png)" -ge 1 ] && [ "$(stat -c %a out/outputs/before.webm)" = 600 ] &&
    ! find out/outputs -name '*.part' | grep .
}

# A pipe that nothing is written to gives no frame. The program says so after 10 s, and a signal ends it.
# example_silence yes: waits until it gives up by itself.
example_silence () {
  make_outputs
  sleep 100 >out/outputs/pipe &
  writer=$!
  timeout -s KILL 90 build/examples/film/cudaconvolve-film out/outputs/pipe out/outputs/before.webm >out/example 2>&1 &
  number=$!
  if [ -n "$1" ]; then sleep 62; else sleep 12; fi
  [ -n "$1" ] || kill -TERM "$number"
  ended=0
  wait "$number" || ended=$?
  kill "$writer"
  cat out/example
  grep -q 'pipe: no frame has come for 10 s, after 0 frames' out/example && [ "$ended" != 0 ] &&
    { [ -z "$1" ] || grep -q 'pipe: given up' out/example; } && state_of out/outputs | diff out/outputs-before -
}

# A frame that is worked on for long is no silence.
example_slow_frame () {
  timeout -s KILL 14 build/examples/film/cudaconvolve-film examples/clip.mp4 out/slow.mkv mask-width=255 sigma=60 \
    kernel-variant=cpu-reference iterations=10 >out/example 2>&1
  [ "$?" = 137 ] && rm -f out/slow.mkv.*.part && ! grep 'no frame' out/example
}

# live KIND: the control program by its keys, over pipes or on a terminal; tests/rows/live.py has the kinds.
live () {
  python3 tests/rows/live.py "$1"
}

# refused TEXT ARGUMENTS...: examples/run.sh fails with these arguments and says TEXT.
refused () {
  text=$1
  shift
  ! run_example "$@" && grep -q "$text" out/example
}

# Each preset and each boundary has a picture, as pictures.sh makes them.
pictures () {
  gst-inspect-1.0 cudaconvolve >out/inspected || return 1
  presets=$(sed -n '/^  presets /,/Default/s/.*Default: "< \(.*\) >"/\1/p' out/inspected | sed 's/(string)//g; s/,//g')
  boundaries=$(sed -n '/^  boundary /,/^  [a-z]/s/.*([0-9]): \([a-z0-9-]*\) .*/\1/p' out/inspected)
  [ -n "$presets" ] && [ -n "$boundaries" ] || return 1
  for name in $(echo "$presets" | sed 's/[a-z0-9-]*/preset-&/g') $(echo "$boundaries" | sed 's/^/boundary-/'); do
    echo "$name"
    [ -s "examples/pictures/$name.jpg" ] || { echo "has no picture in examples/pictures/"; return 1; }
    grep -q "]($name.jpg)" examples/pictures/README.md || { echo "is not in the gallery: run examples/pictures.sh"; return 1; }
  done
}

# pictures.sh makes every picture of the folder, and the gallery as it is there. Without a browser the page has no picture.
gallery () {
  rm -rf out/pictures
  without=none
  { command -v chromium && command -v chromedriver; } >/dev/null || without=./page.jpg
  sh examples/pictures.sh out/pictures && diff out/pictures/README.md examples/pictures/README.md &&
    (cd out/pictures && find . | sort) >out/made && (cd examples/pictures && find . | grep -vxF "$without" | sort) | diff out/made -
}

# The left half of the split screen is the film, and the right half is blurred.
split_screen () {
  . tests/rows/readme.sh
  readme_lines examples/README.md | grep 'name=screen' >out/split-line
  line=$(cat out/split-line)
  grey='video/x-raw,format=GRAY8'
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! "$grey" ! filesink location=out/grey &&
    sh -c "$(echo "$line" | sed "s#autovideosink#$grey ! filesink location=out/split-grey#")" && python3 -c '
before, after = (open(name, "rb").read() for name in ("out/grey", "out/split-grey"))
assert len(before) == len(after) == 100 * 640 * 360, (len(before), len(after))
rows = [place for place in range(0, len(before), 640 * 37)]
for name, left in (("left", 0), ("right", 320)):
    part = [abs(before[row + x] - after[row + x]) for row in rows for x in range(left, left + 320)]
    print(name, "half: mean difference", sum(part) / len(part))
    assert sum(part) / len(part) < 1 if name == "left" else sum(part) / len(part) > 4'
}

example_rows () {
  check "examples: a picture of each preset and boundary" pictures
  check "examples: before and after on one screen" split_screen
  check "examples: layers.py" python3 examples/layers.py out
  check "leaks: mask=gaussian" no_leaks cudaconvolve mask=gaussian
  check "leaks: mask=sobel-x" no_leaks cudaconvolve mask=sobel-x
  check "leaks: mask=identity" no_leaks cudaconvolve mask=identity
  check "leaks: a layer" no_leaks cudaconvlayer location=out/gabor.npz stride=4 mosaic=true
  check "examples: run.sh" example
  check "examples: progress on a terminal" example_terminal
  check "examples: run.sh refuses a file that is not there" refused "no such file" nowhere.mp4
  check "examples: run.sh refuses a file without video" refused "no video" LICENSE
  check "examples: run.sh refuses an unknown mask" refused "not a preset" mask=nonsense
  check "examples: run.sh refuses an unknown property" refused "no such property" masc=gaussian
  check "examples: spans" example_spans
  check "examples: files that are not to be lost" example_spares
  check "examples: an error in the middle of a film" example_spares_later
  check "examples: signals leave nothing behind" example_killed
  check "examples: a result takes the place of the earlier one" example_replaces
  check "examples: a film that gives no frame" example_silence "$all"
  check "examples: live with keys from a pipe" live pipe
  check "examples: live restores the terminal" live terminal
  [ -n "$all" ] || return 0
  check "examples: a slow frame" example_slow_frame
  check "examples: live with every variant" live variants
  check "examples: pictures.sh" gallery
  check "examples: run.sh mask=sobel-x" example mask=sobel-x bias=0.5 boundary=zero kernel-variant=cpu
}
