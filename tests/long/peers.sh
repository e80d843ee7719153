#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The element beside FFmpeg, OpenCV, SciPy and ImageMagick: sh tests/long/peers.sh [CASES]
#
# Runs tests/element/mask/ports.py with 1,000 masks at random, or CASES, in build-peers/. OpenCV and SciPy are installed in out/peers/
# by pip, and FFmpeg and ImageMagick by apt-get where this is root. What cannot be had is named and left out.
# CUDACONVOLVE_SEED repeats a run. ONNX's own tests are the part `onnx`.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
. "$top/tests/prepare.sh"
cases=${1:-1000}
mkdir -p out
python=out/peers/bin/python
if ! "$python" -c 'import cv2, scipy' 2>/dev/null; then
  { python3 -m venv out/peers && out/peers/bin/pip install -q opencv-python-headless scipy; } >out/peers-pip.log 2>&1 ||
    echo "OpenCV and SciPy cannot be installed: out/peers-pip.log says why"
fi
[ -x "$python" ] || python=python3
if command -v apt-get >/dev/null && can_be_root; then
  # shellcheck disable=SC2046 # a list of words
  set -- $(missing_packages ffmpeg imagemagick)
  [ $# = 0 ] || { apt_get update && apt_install "$@"; } || echo "these packages cannot be installed: $*"
fi
[ -f build-peers/build.ninja ] || meson setup build-peers -Dcuda=disabled -Dexamples=false >out/peers-build.log
ninja -C build-peers plugin/libgstcudaconvolve.so >>out/peers-build.log
use_build "$top/build-peers"
GST_REGISTRY=$top/build-peers/registry.bin
export GST_REGISTRY
"$python" tests/element/mask/ports.py --cases "$cases"
