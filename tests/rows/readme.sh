# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# The launch lines of README, AGENTS.md and the pages, run as they are written. What they are to hide has to be hidden.

# readme_lines FILE: the launch lines of a file, and those of cudaconvolve-film; lines that end in a backslash are joined.
readme_lines () {
  sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' "$1" | sed -n 's/^ *\(\(gst-launch-1\.0\|cudaconvolve-film\) .*\)/\1/p'
}

# Runs a line as written, except that test pictures end after 30 frames and windows are left out; they stand in for a camera, too.
readme_line () {
  case $1 in
    *nvh264dec* | *nvh265dec* | *cudaupload* | *cudadownload*)
      gst-inspect-1.0 --exists cudaupload ||
        { echo "without a driver GStreamer has no elements for CUDA memory"; return 77; } ;;
    *glupload*)
      gst-inspect-1.0 --exists glupload || { echo "needs gstreamer1.0-gl"; return 77; }
      [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || export GST_GL_PLATFORM=egl GST_GL_WINDOW=egl-device
      timeout 60 gst-launch-1.0 -q videotestsrc num-buffers=1 ! glupload ! fakesink || { echo "there is no OpenGL"; return 77; } ;;
    *onnxinference*) echo "needs weights; the test detectors runs the line with models that stand in for them"; return 77 ;;
    *gvadetect*) echo "needs DL Streamer; the test regions writes the metadata as its elements do"; return 77 ;;
    *facedetect*) gst-inspect-1.0 --exists facedetect || { echo "needs gstreamer1.0-opencv"; return 77; } ;;
    *gabor.npz*) [ -s out/gabor.npz ] || python3 examples/layers.py out || return 1 ;;
    *--cover=faces*)
      have_model 2>out/example || { cat out/example; return 77; }
      rm -f out/covered.json ;;
    *openh264enc*) gst-inspect-1.0 --exists openh264enc || { echo "this system has no openh264enc"; return 77; } ;;
  esac
  status=0
  timeout 120 env PATH="$top/build/examples/film:$PATH" \
    sh -c "$(echo "$1" | sed 's/autovideosink/fakesink/g; s/v4l2src/videotestsrc/g; s/videotestsrc/videotestsrc num-buffers=30/g')" || status=$?
  rm -f film.mkv film.jsonl # a record is never written over
  return "$status"
}

# hides_face BOXES PIPELINE: the clip's face is covered in all frames in which the file has a box.
hides_face () {
  echo "$2"
  sh -c "gst-launch-1.0 -q $2 ! videoconvert ! video/x-raw,format=I420,colorimetry=bt709 ! matroskamux \\
    ! filesink location=out/hidden.mkv" &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/hidden.mkv "$1" 0
}

# Lines for regions of the clip are for its face. Noise looks like some of its detail by chance, and has tests of its own;
# the line with facedetect has a row of its own.
readme_hides () {
  for page in README.md plugin/regions.md ${all:+AGENTS.md}; do
    readme_lines "$page" | grep -v -e noise-pixelate -e facedetect | sed -n 's/^gst-launch-1\.0 \(.*clip\.mp4.* apply-to=regions [^!]*[^! ]\) *!.*/\1/p' >out/hiding
    [ -s out/hiding ] || { echo "$page has no line for regions of the clip"; return 1; }
    while IFS= read -r line; do
      hides_face examples/clip-boxes.json "$line" </dev/null || return 1
    done <out/hiding
  done
}

# OpenCV's detector finds the face from 1.48 s on, when the face is clear.
readme_detects () {
  gst-inspect-1.0 --exists facedetect || { echo "needs gstreamer1.0-opencv"; return 77; }
  [ -e /usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml ] || { echo "needs opencv-data"; return 77; }
  printf '%s' '{"face": [[{"time": 1.48, "x": 200, "y": 41, "width": 160, "height": 195},
    {"time": 2.76, "x": 200, "y": 14, "width": 160, "height": 195}]]}' >out/clear.json
  # shellcheck disable=SC2016 # the backticks are Markdown
  line=$(tr '\n' ' ' <plugin/regions.md | sed -n 's/.*`\(facedetect [^`]*\)`.*/\1/p')
  hides_face out/clear.json "filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! $line"
}

# Each row of the table of errors: with these properties gst-launch-1.0 fails, or plays, and says these words.
readme_errors () {
  # shellcheck disable=SC2016 # the backticks are Markdown
  sed -n 's/^| `\(.*\)` | \(fails\|plays\) | `\([^`]*\)` |.*/\1|\2|\3/p' AGENTS.md >out/errors
  [ "$(wc -l <out/errors)" -ge 10 ] || { echo "AGENTS.md has no table of errors"; return 1; }
  while IFS='|' read -r settings ends words; do
    echo "$settings: $ends, and says: $words"
    status=0
    sh -c "gst-launch-1.0 videotestsrc num-buffers=3 ! cudaconvolve $settings ! fakesink" >out/said 2>&1 </dev/null || status=$?
    case $ends-$status in plays-0 | fails-[1-9]*) ;; *) status=wrong ;; esac
    if [ "$status" = wrong ] || ! grep -q -F -e "$words" out/said; then
      cat out/said
      return 1
    fi
  done <out/errors
}

# readme_python FILE: the program in Python, without a window.
readme_python () {
  /usr/bin/python3 -c 'import gi; gi.require_version("Gst", "1.0")' 2>/dev/null || { echo "needs python3-gst-1.0"; return 77; }
  # shellcheck disable=SC2016 # the backticks are Markdown
  sed -n '/^```python$/,/^```$/{/^```/d;p;}' "$1" | sed 's/autovideosink/fakesink/' >out/readme.py
  grep -q cudaconvolve out/readme.py && timeout 120 /usr/bin/python3 out/readme.py
}

# The documentation site: every link leads somewhere, a search finds a property by its name, and all pictures are there.
readme_site () {
  python3 plugin/docs/site.py "$top/out" || return
  grep -q '"elements/cudaconvolve.html#region-effect"' out/site/search/search_index.json &&
    grep -q 'id="region-effect"' out/site/elements/cudaconvolve.html &&
    (cd out/site && find . -path './examples/pictures/*' -name '*.jpg' | sort) >out/made &&
    find ./examples/pictures -name '*.jpg' | sort | diff out/made -
}

readme_rows () {
  check "README: includes run down the rooms" python3 tests/rooms.py
  check "README: names, words, tables and links" python3 tests/readme.py "$top/build/plugin"
  check "README: the documentation site" readme_site
  [ -z "$all" ] || check "README: which results are older than the code, a list" python3 tests/ages.py
  check "README: lines for regions hide the face" readme_hides
  check "README: the line with facedetect hides the face" readme_detects
  check "README: the program in Python" readme_python README.md
  check "AGENTS: the program in Python" readme_python AGENTS.md
  check "AGENTS: errors" readme_errors
  check "README: weights in Python" /usr/bin/python3 tests/rows/weights.py
  for file in README.md AGENTS.md plugin/*.md examples/README.md; do
    readme_lines "$file" >out/readme-lines
    number=0
    while IFS= read -r line; do
      number=$((number + 1))
      check "$file: launch line $number" readme_line "$line"
    done <out/readme-lines
  done
}
