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
#   - installing, in build-install/, and host compilers for nvcc, in build-nvcc/
#
# MESON_ARGS="-Dcuda-architectures=75" sh tests/run.sh     further options for `meson setup`
# shellcheck disable=SC2016,SC2317 # inner shells expand some variables themselves; check calls functions by name
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
  ("$@") >"$log" 2>&1 </dev/null || status=$?
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

# The command of README: the clip has every frame, the picture shows a difference that nobody overlooks, the progress goes
# to the end, and the report names the variant and the speed.
example () {
  rm -f out/clip-convolved.webm out/clip-before-after.png
  run_example "$@" && [ "$(frames out/clip-convolved.webm)" = 100 ] &&
    [ "$(difference out/clip-before-after.png)" -ge 6 ] &&
    grep -q '^100 frames, 100%, [1-9][0-9.]* frames/s, 0:00 left' out/example &&
    grep -q '^variant: [a-z]' out/example && grep -q '^frames per second: [1-9]' out/example
}

# A window that takes a fifth of a second for each frame: the encoder has every frame all the same, no frame is convolved
# twice, and the film does not go faster than it plays.
example_slow_window () {
  build/examples/convolve_file --clip=out/slow.webm --sink="identity sleep-time=200000 ! fakesink" \
    examples/clip.mp4 sigma=8 >out/example && cat out/example &&
    grep -q '^stats: frames = 100$' out/example && [ "$(frames out/slow.webm)" = 100 ] &&
    awk '/^frames per second:/ { exit !($4 > 5.5 && $4 < 26) }' out/example
}

# example_ends COMMAND OPTIONS...: a film of 40 seconds at its own pace, which ends early by the command. The clip has
# the frames until then and says how long it is, which a clip that is broken off does not. The picture is there too.
example_ends () {
  command=$1
  shift
  rm -f out/ends.webm out/ends.png
  [ -s out/film.webm ] || gst-launch-1.0 -q videotestsrc num-buffers=1000 ! video/x-raw,width=320,height=180,framerate=25/1 \
    ! vp8enc deadline=1 cpu-used=8 ! webmmux ! filesink location=out/film.webm
  build/examples/convolve_file --clip=out/ends.webm --picture=out/ends.png "$@" out/film.webm sigma=8 \
    >out/example 2>&1 &
  program=$!
  sleep 4
  $command
  wait "$program" || { cat out/example; return 1; }
  cat out/example
  number=$(sed -n 's/^frames: //p' out/example)
  written=$(frames out/ends.webm)
  echo "$written frames in the clip"
  [ "$written" -ge 1 ] && [ "$written" -lt 500 ] && [ $((number - written)) -le 2 ] && [ -s out/ends.png ] &&
    python3 -c '
import struct, sys
head = open("out/ends.webm", "rb").read(4096)
place = head.index(b"\x44\x89\x88") + 3
sys.exit(struct.unpack(">d", head[place:place + 8])[0] < 400)'
}

interrupt () {
  kill -INT "$program"
}

# On a terminal the line is overwritten.
example_terminal () {
  command -v script >/dev/null || return 77
  script -qec "build/examples/convolve_file --sink=fakesink examples/clip.mp4" /dev/null >out/example
  cat -v out/example
  cat -v out/example | grep -q '^^M[0-9]* frames, .* left^\[\[K^M[0-9]* frames, '
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

# Installing is tried in a build of its own, so that the prefix of build/ stays as the user chose it.
install_build () {
  rm -rf out/install
  mkdir -p out/install
  build_project "$top/build-install" -Dcuda=disabled -Dtests=false -Dexamples=false -Dzlib=disabled "$@"
}

# Runs a command with a registry of its own, and without the variables that name folders of plugins.
gst_alone () {
  env -u GST_PLUGIN_PATH -u GST_PLUGIN_SYSTEM_PATH GST_REGISTRY="$top/out/install/registry.bin" "$@"
}

# found_in FOLDER [COMMAND...]: gst-inspect-1.0, run by the command, finds the element in the folder's plugin.
found_in () {
  where=$1
  shift
  rm -f out/install/registry.bin
  gst_alone "$@" gst-inspect-1.0 cudaconvolve >out/install/inspected 2>&1
  grep Filename out/install/inspected || cat out/install/inspected
  grep -q "Filename *$where/libgstcudaconvolve.so\$" out/install/inspected
}

# installs [VARIABLE=VALUE...]: what `meson install` says is in out/installed, and the line that it prints in out/line.
# Meson 1.0 shows a script's arguments alone, in quotes.
installs () {
  gst_alone "$@" meson install -C build-install --no-rebuild >out/installed || return 1
  cat out/installed
  sed -n 's/.*\(export GST_PLUGIN_PATH=.*:$GST_PLUGIN_PATH}\).*/\1/p' out/installed | tail -n 1 >out/line
}

# found_by_line FOLDER: the printed line is enough for GStreamer.
found_by_line () {
  found_in "$1" sh -c '. "$0" && "$@"' "$top/out/line"
}

# The prefix decides, and uninstalling leaves nothing.
install_prefix () {
  install_build --prefix="$top/out/install" --libdir=lib -Dplugin-dir= && installs &&
    found_by_line "$top/out/install/lib/gstreamer-1.0" &&
    ninja -C build-install uninstall && [ ! -e out/install/lib/gstreamer-1.0/libgstcudaconvolve.so ]
}

# The user's own folder is searched without a line. A shell can read the line of a name with a space.
install_plugin_dir () {
  data=$top/out/install/home
  export XDG_DATA_HOME="$data"
  install_build -Dplugin-dir="$data/gstreamer-1.0/plugins" && installs &&
    [ ! -s out/line ] && found_in "$data/gstreamer-1.0/plugins" &&
    install_build -Dplugin-dir="$top/out/install/a folder" && installs && found_by_line "$top/out/install/a folder" &&
    ! meson setup --reconfigure build-install -Dplugin-dir='~/plugins' >out/installed && cat out/installed &&
    grep -q 'plugin-dir: Meson does not expand' out/installed
}

# A packager's build: files below DESTDIR, and a line that names the folder they are for. None for GStreamer's folder.
install_destdir () {
  plugins=$(pkg-config --variable=pluginsdir gstreamer-1.0)
  staged=$top/out/install/staged
  install_build --prefix=/opt/convolve --libdir=lib -Dplugin-dir= && installs DESTDIR="$staged" &&
    [ "$(find "$staged" -type f)" = "$staged/opt/convolve/lib/gstreamer-1.0/libgstcudaconvolve.so" ] &&
    grep -q '^export GST_PLUGIN_PATH=/opt/convolve/lib/gstreamer-1.0\${' out/line &&
    install_build -Dplugin-dir="$plugins" && installs DESTDIR="$staged" &&
    [ "$(find "$staged" -type f)" = "$staged$plugins/libgstcudaconvolve.so" ] && [ ! -s out/line ]
}

install_devenv () {
  install_build && found_in "$top/build-install/plugin" meson devenv -C build-install
}

# stand_in NAME COMMAND: a program of that name in out/stand-ins, a folder that rows put in front of PATH.
stand_in () {
  printf '#!/bin/sh\n%s\n' "$2" >"out/stand-ins/$1"
  chmod +x "out/stand-ins/$1"
}

# host_compilers: every gcc and g++-N in front of PATH claims to be version 99, which no nvcc takes.
host_compilers () {
  nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || return 77
  rm -rf out/stand-ins build-nvcc
  mkdir -p out/stand-ins
  for name in gcc g++ g++-98 $(IFS=:; for folder in $PATH; do (cd "$folder" 2>/dev/null && ls) done | grep -x 'g++-[0-9]*'); do
    stand_in "$name" "exec $(command -v gcc) -U__GNUC__ -D__GNUC__=99 \"\$@\""
  done
}

# nvcc_setup OPTIONS...: configures with the stand-ins; what Meson says is in out/configured.
nvcc_setup () {
  rm -rf build-nvcc
  status=0
  env -u NVCC_CCBIN PATH="$top/out/stand-ins:$PATH" meson setup build-nvcc -Dtests=false -Dexamples=false -Dgstcuda=disabled \
    -Dcuda-architectures=75 "$@" >out/configured 2>&1 || status=$?
  cat out/configured
  return "$status"
}

# An older g++ is found, and the newer one before it is not taken.
nvcc_older_compiler () {
  host_compilers || return
  stand_in g++-97 "exec $(command -v g++) \"\$@\""
  stand_in g++-96 "exec $(command -v g++) \"\$@\""
  echo 'int main () { return 0; }' >out/try.cu
  "$nvcc" -c out/try.cu -o out/try.o || return 77
  nvcc_setup -Dcuda=enabled && grep -q '^Message: CUDA: .* with the host compiler .*/g++-97 for' out/configured &&
    grep -q -e '-ccbin .*/stand-ins/g++-97 ' build-nvcc/build.ninja &&
    ninja -C build-nvcc kernels/convolve_device.o
}

# Without one the build is for the CPU, or fails where CUDA is asked for; both say which version is wanted.
nvcc_no_compiler () {
  host_compilers || return
  # What helps depends on the system's other headers, too.
  wanted='nvcc [0-9.]* takes no gcc above version [0-9]* as its host compiler, and here is gcc version 99; '
  nvcc_setup && grep -q "^Message: CUDA: $wanted.*, so this build has the cpu variant alone" out/configured &&
    ! nvcc_setup -Dcuda=enabled && grep -q "ERROR: .*CUDA: $wanted" out/configured
}

# old_system MESON GSTREAMER APT-MESON APT-GSTREAMER: stand-ins for a system with these versions of what is installed,
# and of what apt has; "-" is none. apt-get notes its arguments in out/apt-get and installs nothing.
old_system () {
  rm -rf out/stand-ins out/apt-get
  mkdir -p out/stand-ins
  : >out/apt-get
  # meson and pkg-config that say nothing are as good as none to the scripts.
  stand_in meson "[ \"\$*\" = --version ] && [ $1 != - ] && echo $1"
  stand_in pkg-config "case \$* in '--modversion gstreamer-1.0') [ $2 != - ] && echo $2 ;; *) false ;; esac"
  stand_in dpkg-query "case \$* in *' gcc') echo install ok installed ;; *) exit 1 ;; esac"
  stand_in apt-cache "case \$2 in
    meson) echo '  Candidate: $3' ;;
    libgstreamer1.0-dev) echo '  Candidate: $4' ;;
  esac"
  stand_in apt-get "echo \"\$*\" >>'$top/out/apt-get'; case \$* in *install*) echo no more than a stand-in; exit 1 ;; esac"
  stand_in id 'echo 0'
}

# says TEXT...: run.sh fails on that system, and the texts are in what it says.
says () {
  ! run_example >/dev/null || return 1
  cat out/example out/apt-get
  for text in "$@"; do
    grep -q -e "$text" out/example || { echo "It does not say: $text"; return 1; }
  done
}

# Nothing is installed on a system whose versions are too old, and the text says which ones, and who has newer ones.
old_versions () {
  PATH=$top/out/stand-ins:$PATH
  old_system - - 0.61.2-1 1.20.3-0ubuntu1 && says 'needs Meson 1.0 and GStreamer 1.22' 'Meson 0.61.2-1 is what apt' \
    'GStreamer 1.20.3-0ubuntu1 is what apt' 'Debian 12, Ubuntu 24.04' && ! grep install out/apt-get &&
    old_system 0.61.2 1.20.3 0.61.2-1 1.20.3-0ubuntu1 && says 'Meson 0.61.2 is installed' 'GStreamer 1.20.3 is installed' &&
    ! grep install out/apt-get &&
    old_system 1.3.2 - 0.61.2-1 1.20.3-0ubuntu1 && says 'GStreamer 1.20.3-0ubuntu1 is' && ! grep install out/apt-get &&
    ! grep '^  Meson' out/example &&
    old_system 0.61.2 - 1.0.1-5 1.22.0-2+deb12u1 && says 'Meson 0.61.2 is installed; apt has 1.0.1-5' &&
    ! grep install out/apt-get
}

# What is new enough, or unknown to apt-cache, is installed.
new_versions () {
  PATH=$top/out/stand-ins:$PATH
  old_system - - 1.0.1-5 1.22.0-2+deb12u1 && says 'apt-get failed' && grep -q '^-q install .*meson' out/apt-get &&
    old_system 1.10.0 1.100 '(none)' '(none)' && says 'apt-get failed' && grep -q '^-q install' out/apt-get &&
    old_system - - '1:2.0~rc1-1' '1:1.28.8-2' && says 'apt-get failed' && grep -q '^-q install' out/apt-get
}

# A system without apt, and one where nobody may install.
old_versions_elsewhere () {
  old_system 0.61.2 1.20.3 - -
  stand_in sudo 'exit 1'
  stand_in id 'echo 1000'
  rm out/stand-ins/apt-get out/stand-ins/dpkg-query
  for tool in sh env cat sed awk grep basename dirname fold mkdir rm mktemp tail chmod; do
    ln -sf "$(command -v "$tool")" out/stand-ins/
  done
  # shellcheck disable=SC2123 # for this row nothing else is to be found
  PATH=$top/out/stand-ins
  says 'Meson 0.61.2 is installed' 'GStreamer 1.20.3 is installed' 'Debian 12, Ubuntu 24.04, Fedora' &&
    stand_in meson 'echo 1.3.2' && stand_in pkg-config 'case $* in --modversion*) echo 1.24.2 ;; esac' &&
    says 'These are missing' '^  ninja' 'Install GStreamer 1.22 or newer' && ! grep -q 'too old' out/example &&
    stand_in dpkg-query 'exit 1' && stand_in apt-get exit && says 'sudo apt-get install .*meson' &&
    stand_in pkg-config 'echo 1.20.3' && says 'GStreamer 1.20.3 is installed'
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
check "examples: a slow window" example_slow_window
check "examples: Ctrl-C" example_ends interrupt --sink=fakesink
check "examples: a window that is closed" example_ends : --sink="identity error-after=30 ! fakesink"
check "examples: progress on a terminal" example_terminal
check "examples: run.sh refuses a file that is not there" refused "no such file" nowhere.mp4
check "examples: run.sh refuses a file without video" refused "no video" LICENSE
check "examples: run.sh refuses an unknown mask" refused "not a preset" mask=nonsense
check "examples: run.sh refuses an unknown property" refused "no such property" masc=gaussian
check "install: the prefix decides, and the printed line is enough" install_prefix
check "install: the option plugin-dir" install_plugin_dir
check "install: DESTDIR" install_destdir
check "install: meson devenv" install_devenv
check "preparing: versions that are too old" old_versions
check "preparing: versions that are new enough" new_versions
check "preparing: without apt, without root" old_versions_elsewhere
check "nvcc: an older g++ where the newest is refused" nvcc_older_compiler
check "nvcc: no g++ that nvcc takes" nvcc_no_compiler
if [ -f README.md ]; then
  readme_lines >out/readme-lines
  number=0
  while IFS= read -r line; do
    number=$((number + 1))
    check "README: launch line $number" readme_line "$line"
  done <out/readme-lines
fi
finish
