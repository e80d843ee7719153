#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The wheel in a bare system: sh tests/long/wheel.sh [SUITE...]
#
# Makes the wheel of this tree without CUDA, or takes the file WHEEL. For each suite, "bookworm" and "trixie" where none is
# named, in a system that debootstrap makes: pip installs the wheel, the module convolves an array and is checked,
# gst-inspect-1.0 finds the element through the module, and cudaconvolve-film covers a box of the clip and finds its checksums.
# Prints seconds and megabytes. Needs root. CACHE and MIRROR are as in package.sh.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
. "$top/tests/rows/roots.sh"
[ $# -gt 0 ] || set -- bookworm trixie
roots_needed
if [ -z "${WHEEL:-}" ]; then
  rm -rf out/wheel
  sh examples/packaging/wheel.sh --output out/wheel
  WHEEL=$(ls out/wheel/*.whl)
fi

cat >out/wheel-inside <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
begin=$(date +%s)
took () { echo "$(($(date +%s) - begin)) s: $*, $(du -sxm --exclude=/proc --exclude=/var/cache --exclude=/packages / | cut -f 1) MB"; }
apt () { apt-get -q "$@" >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; exit 1; }; }
took "the bare system"
apt update
apt install -y --no-install-recommends python3-venv python3-numpy
took "Python, its package venv and NumPy"
python3 -m venv --system-site-packages /venv
/venv/bin/pip install -q --no-index /packages/*.whl
took "the wheel"
cd /packages
/venv/bin/python -c '
import cudaconvolve, numpy
picture = numpy.arange(20000, dtype=numpy.uint32).reshape(100, 200).astype(numpy.uint8)
print(cudaconvolve.__version__, "mean of the edges", cudaconvolve.filter2d(picture, "sobel").mean())'
took "the first array"
/venv/bin/python tests/library/python_module.py --cases 400
apt install -y --no-install-recommends gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-libav
# A wheel with CUDA needs libgstcuda-1.0.so.0.
case $(echo /packages/*.whl) in
  *+cuda*) apt install -y --no-install-recommends libgstreamer-plugins-bad1.0-0 ;;
esac
took "GStreamer"
GST_PLUGIN_PATH=$(/venv/bin/python -c 'import cudaconvolve; print(cudaconvolve.plugin_path())') gst-inspect-1.0 cudaconvolve >/tmp/inspected
grep Filename /tmp/inspected
/venv/bin/cudaconvolve-film clip.mp4 covered.mkv --boxes=clip-boxes.json
[ -s covered.mkv ]
took "the clip, covered"
/venv/bin/cudaconvolve-film --check
END

for suite in "$@"; do
  root=$cache/$suite.wheel.$$
  trap 'rm -rf --one-file-system "$root"' EXIT
  root_unpack "$suite" "$root"
  mkdir -p "$root/packages/tests/library" "$root/packages/kernels"
  cp tests/library/python_module.py "$root/packages/tests/library/"
  cp kernels/abi.txt "$root/packages/kernels/"
  cp "$WHEEL" examples/clip.mp4 examples/clip-boxes.json "$root/packages/"
  cp out/wheel-inside "$root/packages/inside"
  echo "$suite: $(cat "$root/etc/debian_version"), $(basename "$WHEEL")"
  status=0
  root_inside "$root" sh /packages/inside || status=$?
  root_keep_archives "$suite" "$root"
  [ "$status" = 0 ] || exit 1
  rm -rf --one-file-system "$root"
  trap - EXIT
  echo "$suite: passed"
done
