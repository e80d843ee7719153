#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# ONNX's own tests of convolution and pooling: sh tests/long/onnx.sh [WORD...]
#
# Builds the shared library without CUDA in build-onnx/, installs the Python package onnx in out/onnx/ where it is missing, and
# runs tests/library/onnx_layers.py on `auto` and on `cpu-reference`. Without a network that is a SKIP.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
mkdir -p out
python=out/onnx/bin/python
if ! [ -x "$python" ] || ! "$python" -c 'import onnx' 2>/dev/null; then
  if ! { python3 -m venv out/onnx && out/onnx/bin/pip install -q onnx; } >out/onnx-pip.log 2>&1; then
    echo "the Python package onnx cannot be installed: out/onnx-pip.log says why"
    exit 77
  fi
fi
[ -f build-onnx/build.ninja ] || meson setup build-onnx -Dcuda=disabled -Dlibrary=true >out/onnx-build.log
meson compile -C build-onnx cudaconvolve >>out/onnx-build.log
for variant in auto cpu-reference; do
  "$python" tests/library/onnx_layers.py build-onnx/kernels/libcudaconvolve.so --variant "$variant" "$@"
done
