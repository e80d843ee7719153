#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# GStreamer's own tests with the elements: sh tests/long/upstream.sh
#
#   - tests/check/generic/states.c of GStreamer's base plugins, from Debian's source package, compiled for this plugin's elements;
#   - the project's test `stress`, by the threads of GstHarness, for 10 s each, and `memory` with frames out of OpenGL;
#   - gst-validate-1.0: the project's files, and the scenarios that come with the program (seeks, pauses, rates, changes of state) over launch lines with the elements.
#
# gst-validate-1.0 is a part of gst-devtools. Debian 12 has no package of it, so GST_DEVTOOLS may name a folder with its sources,
# which are built in out/. Of these three, what cannot run here is named. Where none of GStreamer's can run, that is a SKIP.
# shellcheck disable=SC2317 # check calls functions by name
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
. "$top/tests/rows/validate.sh"
. "$top/tests/prepare.sh"
mkdir -p out/upstream
build=$top/build-upstream
[ -f "$build/build.ninja" ] || meson setup "$build" -Dcuda=disabled -Dexamples=false >out/upstream/build.log
ninja -C "$build" >>out/upstream/build.log
use_build "$build"
GST_REGISTRY=$build/registry.bin
export GST_REGISTRY

failed=
ran=

# check NAME COMMAND...: as in tests/rows/rows.sh, which counts the whole part as one row.
check () {
  name=$1
  shift
  log=out/upstream/$(echo "$name" | tr -c 'a-zA-Z0-9\n' '-').log
  status=0
  ("$@") >"$log" 2>&1 </dev/null || status=$?
  case $status in
    0)
      ran=yes
      echo "ok: $name" ;;
    77) echo "left out: $name: $(tail -n 1 "$log")" ;;
    *)
      failed=yes
      tail -n 40 "$log"
      echo "FAILED: $name ($log)" ;;
  esac
}

# The sources of the installed version, by apt-get with lists of its own, in which the machine's sources have deb-src in the place of deb.
apt_sources () {
  apt-get -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$top/out/upstream/apt" \
    -o Dir::State::lists="$top/out/upstream/apt/lists" -o APT::Sandbox::User=root "$@"
}

download () {
  command -v apt-get >/dev/null || return 1
  mkdir -p out/upstream/apt/lists/partial
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"out/upstream/apt/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$file" ] || sed -n 's/^deb \(.*\)/deb-src \1/p' "$file" >"out/upstream/apt/$(basename "$file" .list).list"
  done
  apt_sources update >out/upstream/apt.log 2>&1 || return 1
  # A mirror may list a version of the security updates that it does not have; the release's own is as good here.
  cd out/upstream
  apt_sources source --download-only gst-plugins-base1.0 >>apt.log 2>&1 || apt_sources source --download-only --only-source \
    -t "$(. /etc/os-release && echo "$VERSION_CODENAME")" gst-plugins-base1.0 >>apt.log 2>&1 || return 1
  cd "$top"
}

states () {
  [ -f "$(echo out/upstream/gst-plugins-base1.0_*.orig.tar.xz)" ] || download ||
    { echo "the sources of GStreamer's base plugins cannot be had"; return 77; }
  tar -C out/upstream --strip-components=4 -xf out/upstream/gst-plugins-base1.0_*.orig.tar.xz --wildcards '*/tests/check/generic/states.c'
  # shellcheck disable=SC2046 # a list of words
  ${CC:-cc} -DPACKAGE='"cudaconvolve"' out/upstream/states.c -o out/upstream/states $(pkg-config --cflags --libs gstreamer-check-1.0 gmodule-2.0)
  GST_DEBUG=check:5 GST_DEBUG_NO_COLOR=1 out/upstream/states >out/upstream/states-said 2>&1 || { grep -v DEBUG out/upstream/states-said; return 1; }
  for element in cudaconvolve cudaconvlayer; do
    grep -q "testing element $element\$" out/upstream/states-said || { echo "$element was not tested"; return 1; }
  done
  grep '%' out/upstream/states-said
}

# The program from the sources in GST_DEVTOOLS.
build_validator () {
  prefix=$top/out/upstream/validate
  [ -x "$prefix/bin/gst-validate-1.0" ] || {
    rm -rf out/upstream/build-validate
    meson setup out/upstream/build-validate "$GST_DEVTOOLS" --prefix="$prefix" --libdir=lib --auto-features=disabled -Dvalidate=enabled \
      -Dtools=enabled
    ninja -C out/upstream/build-validate install
  } >out/upstream/validate.log 2>&1
  PATH=$prefix/bin:$PATH
  LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export PATH LD_LIBRARY_PATH
}

# scenario NAME LINE: a scenario of the program's own over a launch line; fails where the validator names an element or a pad of ours.
scenario () {
  status=0
  # shellcheck disable=SC2086 # a list of words
  timeout 300 gst-validate-1.0 --set-scenario="$1" $2 >out/upstream/said 2>&1 || status=$?
  tr '\r' '\n' <out/upstream/said | grep -av '^<position' | tail -n 60
  if grep -q 'SKIP' out/upstream/said; then return 77; fi
  if grep -aq 'Detected on <convolve' out/upstream/said; then
    echo "the validator found something in the element"
    return 1
  fi
  return "$status"
}

# Pictures of 12 s, because some scenarios play beyond the clip's end. A source that counts its frames ends early after seeks
# backwards, so these go over a film of 50 s.
pictures="videotestsrc num-buffers=360 ! video/x-raw,format=NV12,width=320,height=180,framerate=30/1"
film="filesrc location=out/upstream/pictures.mov ! decodebin"
clip="filesrc location=examples/clip.mp4 ! decodebin ! videoconvert"
scenarios () {
  gst-launch-1.0 -q videotestsrc num-buffers=1500 ! video/x-raw,format=I420,width=320,height=180,framerate=30/1 ! jpegenc ! qtmux \
    ! filesink location=out/upstream/pictures.mov
  for each in play_15s pause_resume seek_forward seek_with_stop fast_forward scrub_forward_seeking scrub_backward_seeking reverse_playback \
    change_state_intensive; do
    check "$each: gaussian" scenario "$each" "$pictures ! cudaconvolve name=convolve sigma=3 ! fakesink sync=true"
  done
  for each in seek_backward seek_forward_backward; do
    check "$each: gaussian" scenario "$each" "$film ! cudaconvolve name=convolve sigma=3 ! fakesink sync=true"
  done
  for each in pause_resume seek_with_stop scrub_forward_seeking change_state_intensive; do
    check "$each: frames in flight" scenario "$each" "$pictures ! cudaconvolve name=convolve mask=sobel frames-in-flight=3 ! fakesink sync=true"
    check "$each: regions and look-ahead" scenario "$each" \
      "$pictures ! cudaconvolve name=convolve apply-to=regions regions=20,20,90,60 region-lookahead=200000000 ! fakesink sync=true"
  done
  for each in seek_forward seek_backward seek_with_stop scrub_forward_seeking; do
    check "$each: the clip" scenario "$each" "$clip ! cudaconvolve name=convolve ! fakesink sync=true"
  done
}

check "states" states
check "stress, 10 s each" meson test -C "$build" --no-rebuild --setup all stress stress_over_device
check "frames out of OpenGL" env CUDACONVOLVE_OPENGL=1 meson test -C "$build" --no-rebuild memory
no_validator () {
  echo "there is no gst-validate-1.0, and GST_DEVTOOLS names no sources of gst-devtools"
  return 77
}
if ! command -v gst-validate-1.0 >/dev/null && [ -n "${GST_DEVTOOLS:-}" ]; then
  check "building gst-validate-1.0" build_validator
  build_validator
fi
if command -v gst-validate-1.0 >/dev/null; then
  validate_rows
  scenarios
else
  check "gst-validate-1.0" no_validator
fi
[ -z "$failed" ] || exit 1
[ -n "$ran" ] || { echo "nothing of GStreamer's could run"; exit 77; }
