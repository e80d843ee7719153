#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Long and hard use of the element: sh tests/long/soak.sh [PART...]
#
# What the process uses must stay flat, the last frames must be those of a new pipeline, and nothing may post an error
# or write a critical message. Each part runs on the CPU, over the fake device, and on a GPU where there is one, in
# build-soak/. Parts, and the variable that sets the amount of each:
#
#   states     CUDACONVOLVE_SOAK_STATES     cycles from NULL to PLAYING and back; 10,000
#   masks      CUDACONVOLVE_SOAK_MASKS      changes of the mask while frames run; 100,000
#   caps       CUDACONVOLVE_SOAK_CAPS       changes of caps; 1,000
#   seeks      CUDACONVOLVE_SOAK_SEEKS      seconds of seeks and flushes; 60
#   frames     CUDACONVOLVE_SOAK_FRAMES     frames in system memory; 1,000,000
#   elements   CUDACONVOLVE_SOAK_ELEMENTS   frames of each of forty elements at once; 20,000
#   processes  CUDACONVOLVE_SOAK_PROCESSES  changes of the mask in each of four processes at once; 10,000
#   cuda       CUDACONVOLVE_SOAK_CUDA       frames in CUDA memory, on a GPU alone; 10,000,000
#
# CUDACONVOLVE_SEED=N repeats a run; the first program prints the seed otherwise.
set -eu
cd "$(dirname "$0")/../.."
top=$PWD

# nvcc takes long, and without a GPU nothing would run what it makes.
gpu=
build=$top/build-soak
if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
  gpu=yes
  build=$top/build-soak-cuda
fi

amount () {
  case $1 in
    states) echo "${CUDACONVOLVE_SOAK_STATES:-10000}" ;;
    masks) echo "${CUDACONVOLVE_SOAK_MASKS:-100000}" ;;
    caps) echo "${CUDACONVOLVE_SOAK_CAPS:-1000}" ;;
    seeks) echo "${CUDACONVOLVE_SOAK_SEEKS:-60}" ;;
    frames) echo "${CUDACONVOLVE_SOAK_FRAMES:-1000000}" ;;
    elements) echo "${CUDACONVOLVE_SOAK_ELEMENTS:-20000}" ;;
    processes) echo "${CUDACONVOLVE_SOAK_PROCESSES:-10000}" ;;
    cuda) echo "${CUDACONVOLVE_SOAK_CUDA:-10000000}" ;;
    *)
      echo "$1: not known. Parts: states masks caps seeks frames elements processes cuda" >&2
      exit 1 ;;
  esac
}

# run_part WHERE PART FOLDER [NAME=VALUE...]: each part in a process of its own, so that none finds another's memory.
# tests/meson.build says why GLIBC_TUNABLES is set.
run_part () {
  where=$1 part=$2 folder=$3
  shift 3
  echo "--- $part, $where"
  count=$(amount "$part")
  status=0
  env GST_PLUGIN_PATH="$build/$folder" GST_REGISTRY="$build/soak-$(basename "$folder").registry" GST_REGISTRY_FORK=no \
    GLIBC_TUNABLES=glibc.malloc.tcache_count=0 CUDACONVOLVE_CLIP="$top/examples/clip.mp4" "$@" "$build/tests/soak" "$part=$count" || status=$?
  case $status in
    0) ran=$((ran + 1)) ;;
    77) left_out=$((left_out + 1)) ;;
    *)
      failed=$((failed + 1))
      echo "--- $part, $where: FAILED with the status $status" ;;
  esac
}

for part in "$@"; do
  amount "$part" >/dev/null
done
[ -f "$build/build.ninja" ] || meson setup "$build" -Dexamples=false "-Dcuda=$([ "$gpu" ] && echo enabled || echo disabled)"
ninja -C "$build" tests/soak plugin/libgstcudaconvolve.so tests/element/fake/libgstcudaconvolve.so

ran=0
failed=0
left_out=0
[ $# -gt 0 ] || set -- states masks caps seeks frames elements processes cuda
for part in "$@"; do
  if [ "$part" = cuda ]; then
    run_part "on a GPU" "$part" plugin
    continue
  fi
  run_part "on the CPU" "$part" plugin CUDACONVOLVE_VARIANT=cpu
  run_part "over the fake device" "$part" tests/element/fake CUDACONVOLVE_OVER_DEVICE=1
  [ -z "$gpu" ] || run_part "on a GPU" "$part" plugin
done
echo "$ran runs passed, $failed failed, $left_out left out"
[ "$failed" = 0 ] || exit 1
[ "$ran" -gt 0 ] || { echo "frames in CUDA memory need a GPU and cudaupload"; exit 77; }
