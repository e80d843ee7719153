#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests: sh tests/run.sh
#
# Installs what is missing, builds into build/, and runs what is below, one line each. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 where nothing failed. Outputs are kept in out/.
#
#   - Meson's tests; those that need a GPU are skipped where none is
#   - the same without CUDA under AddressSanitizer and UndefinedBehaviorSanitizer, in build-asan/
#   - the checks of the variant cpu under ThreadSanitizer, in build-tsan/
#   - the clip through the element under GStreamer's leak tracer
#   - the examples
#
# MESON_ARGS="-Dcuda-architectures=75" sh tests/run.sh     further options for `meson setup`
# shellcheck disable=SC2317 # check calls functions by name
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/examples/prepare.sh"
cd "$top"
mkdir -p out

passed=0
failed=0
skipped=0

# row RESULT NAME: counts and prints one line.
row () {
  case $1 in
    ok) passed=$((passed + 1)) ;;
    SKIP) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
  printf '%-4s %s\n' "$1" "$2"
}

finish () {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] || exit 1
  exit 0
}

# check NAME COMMAND...: a row from a command's exit status; 77 is a skip. What it says is shown where it fails.
check () {
  name=$1
  shift
  log=out/test-$(echo "$name" | tr -c 'a-zA-Z0-9\n' '-').log
  status=0
  "$@" >"$log" 2>&1 </dev/null || status=$?
  case $status in
    0) row ok "$name" ;;
    77) row SKIP "$name" ;;
    *)
      tail -n 40 "$log" | sed 's/^/     /'
      row FAIL "$name ($log)" ;;
  esac
}

# Results of one Meson run from its testlog.json, a JSON object a line: "RESULT NAME, SECONDS" each, outputs of failures
# indented above.
read_testlog () {
  python3 - "$1" <<'END'
import json, sys
words = {'OK': 'ok', 'EXPECTEDFAIL': 'ok', 'SKIP': 'SKIP'}
for line in open(sys.argv[1]):
    test = json.loads(line)
    result = words.get(test['result'], 'FAIL')
    if result == 'FAIL':
        text = (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')
        for shown in text.strip().split('\n')[-60:]:
            print('     ' + shown)
    kind = '' if result != 'FAIL' else ', ' + test['result'].lower()
    print('%s %s, %.1f s%s' % (result, test['name'].split(':')[-1], test['duration'], kind))
END
}

# meson_tests FOLDER PREFIX [VARIABLE=VALUE...]: every Meson test is a row; a failed one more where Meson itself fails.
meson_tests () {
  folder=$1
  prefix=$2
  shift 2
  testlog=$folder/meson-logs/testlog.json
  log=out/test-$folder.log
  rm -f "$testlog"
  say "Running the tests of $folder"
  status=0
  env "$@" meson test -C "$folder" --no-rebuild --num-processes "$(nproc)" >"$log" 2>&1 </dev/null || status=$?
  before=$failed
  if [ -s "$testlog" ] && read_testlog "$testlog" >out/rows; then
    while IFS= read -r line; do
      case $line in
        'ok '* | 'SKIP '* | 'FAIL '*) row "${line%% *}" "$prefix${line#* }" ;;
        *) printf '%s\n' "$line" ;;
      esac
    done <out/rows
  fi
  if [ "$status" != 0 ] && [ "$failed" = "$before" ]; then
    tail -n 40 "$log" | sed 's/^/     /'
    row FAIL "${prefix}meson test, exit status $status ($log)"
  fi
}

# A registry of its own leaves the user's alone. GStreamer's scanner is a program without sanitizers and cannot load this
# build's plugin: that one is scanned in the test's process, all others beforehand, for some of them change the
# floating-point mode or leak as they are loaded.
sanitized_tests () {
  if [ "$(cc -print-file-name=libasan.so)" = libasan.so ] || [ "$(cc -print-file-name=libubsan.so)" = libubsan.so ]
  then
    row SKIP "sanitizers: the compiler has none"
  elif build_project "$top/build-asan" -Dcuda=disabled -Dexamples=true -Db_sanitize=address,undefined -Db_lundef=false
  then
    GST_REGISTRY="$top/build-asan/registry.bin" gst-inspect-1.0 fakesink >out/plugins 2>&1 || true
    meson_tests build-asan "sanitizers: " GST_REGISTRY="$top/build-asan/registry.bin" GST_REGISTRY_FORK=no \
      ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      LSAN_OPTIONS="suppressions=$top/tests/lsan.supp:print_suppressions=0"
  else
    row FAIL "sanitizers: build"
  fi
}

# The kernel library alone: GStreamer and GLib are built without the sanitizer, and it would not understand them.
threads_under_sanitizer () {
  if [ "$(cc -print-file-name=libtsan.so)" = libtsan.so ]; then
    row SKIP "ThreadSanitizer: the compiler has none"
  elif build_project "$top/build-tsan" -Dcuda=disabled -Dexamples=false -Db_sanitize=thread -Db_lundef=false; then
    check "ThreadSanitizer: variant cpu" build-tsan/tests/convolve_check --host --variant cpu --cases 300
  else
    row FAIL "ThreadSanitizer: build"
  fi
}

# Fails where a GStreamer object outlives the pipeline. (The tracer also logs the format of such a line.)
no_leaks () {
  GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 gst-launch-1.0 -q filesrc location=examples/clip.mp4 \
    ! decodebin ! videoconvert ! cudaconvolve "$@" ! fakesink >out/leaks 2>&1 || { cat out/leaks; return 1; }
  ! grep 'object-alive, type-name=(string)[^%]' out/leaks
}

# No window: the tests neither need nor disturb a display.
run_example () {
  ended=0
  env -u DISPLAY -u WAYLAND_DISPLAY -u MESON_ARGS sh examples/run.sh "$@" >out/example 2>&1 || ended=$?
  cat out/example
  return "$ended"
}

# The command of README: both files are there afterwards, and the report names the variant and the speed.
example () {
  rm -f out/clip-convolved.webm out/clip-before-after.png
  run_example "$@" && [ -s out/clip-convolved.webm ] && [ -s out/clip-before-after.png ] &&
    grep -q '^variant: [a-z]' out/example && grep -q '^frames per second: [1-9]' out/example
}

# refused TEXT ARGUMENTS...: it fails and says TEXT.
refused () {
  text=$1
  shift
  ! run_example "$@" && grep -q "$text" out/example
}

# README's launch lines, lines that end in a backslash joined.
readme_lines () {
  sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' README.md | sed -n 's/^ *\(gst-launch-1\.0 .*\)/\1/p'
}

# Runs one as written, but for an end to test pictures and nobody to look at them.
readme_line () {
  case $1 in
    *nvh264dec* | *nvh265dec* | *cudaupload* | *cudadownload*)
      gst-inspect-1.0 --exists cudaupload || return 77 ;;
  esac
  timeout 120 sh -c "$(echo "$1" | sed 's/autovideosink/fakesink/g; s/videotestsrc/videotestsrc num-buffers=30/g')"
}

if ! install_missing; then
  row FAIL "installing what is missing"
  finish
fi
if ! build_project "$top/build"; then
  row FAIL "build"
  finish
fi
meson_tests build ""
sanitized_tests
threads_under_sanitizer

use_build "$top/build"
GST_REGISTRY=$top/build/registry.bin
export GST_REGISTRY
check "examples: layers.py" python3 examples/layers.py out
for mask in gaussian sobel-x identity; do
  check "leaks: mask=$mask" no_leaks "mask=$mask"
done
check "leaks: a layer" no_leaks layer-location=out/gabor.npz stride=4 mosaic=true
check "examples: run.sh" example
check "examples: run.sh mask=sobel-x" example mask=sobel-x bias=0.5 boundary=zero kernel-variant=cpu
check "examples: run.sh refuses a file that is not there" refused "no such file" nowhere.mp4
check "examples: run.sh refuses a file without video" refused "no video" LICENSE
check "examples: run.sh refuses an unknown mask" refused "not a preset" mask=nonsense
check "examples: run.sh refuses an unknown property" refused "no such property" masc=gaussian
if [ -f README.md ]; then
  readme_lines >out/readme-lines
  number=0
  while IFS= read -r line; do
    number=$((number + 1))
    check "README: launch line $number" readme_line "$line"
  done <out/readme-lines
fi
finish
