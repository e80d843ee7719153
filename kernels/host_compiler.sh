#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Finds the host compiler for nvcc: host_compiler.sh NVCC OPTIONS...
#
# Prints the compiler for -ccbin, or an empty line where nvcc's own choice works, and exits with 0. The candidates are
# the compiler that NVCC_CCBIN names, or else nvcc's own choice and after that each g++-N of PATH, the newest first.
# Where nvcc compiles a small file with none of them, the script prints the reason and exits with 1.
set -eu
nvcc=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What newer compilers break are the headers, so the file includes those that the kernels include.
cat >"$work/try.cu" <<'END'
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__global__ void twice (float *x) { x[threadIdx.x] *= 2; }
void run_twice (float *x) { twice<<<1, 1>>> (x); }
END

# works OPTIONS...: what nvcc says is in $work/said.
works () {
  "$nvcc" "$@" -c "$work/try.cu" -o "$work/try.o" >"$work/said" 2>&1
}

# The major version that a compiler claims, or nothing where the compiler cannot be run.
major () {
  echo __GNUC__ | "$1" -E -P -x c - 2>/dev/null | tail -n 1 | tr -d ' '
}

if [ -n "${NVCC_CCBIN:-}" ]; then
  first=$NVCC_CCBIN
  if works "$@" -ccbin "$first"; then
    echo "$first"
    exit 0
  fi
else
  first=gcc
  if works "$@"; then
    echo
    exit 0
  fi
fi
version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
limit=$(sed -n 's/.*gcc versions later than \([0-9]*\) are not supported.*/\1/p' "$work/said" | head -n 1)
error=$(grep -i -m 1 'error\|fatal' "$work/said" || head -n 1 "$work/said")

if [ -z "${NVCC_CCBIN:-}" ]; then
  names=$(
    IFS=:
    for folder in $PATH; do
      for path in "$folder"/g++-[0-9]*; do
        [ ! -x "$path" ] || echo "${path##*/g++-}"
      done
    done | grep -x '[0-9]*' | sort -rnu
  )
  for number in $names; do
    path=$(command -v "g++-$number")
    if works "$@" -ccbin "$path"; then
      echo "$path"
      exit 0
    fi
  done
fi

number=$(major "$first")
first="$first${number:+ version $number}"
if [ -z "$limit" ]; then
  echo "nvcc $version cannot compile a small file with the host compiler $first ($error);" \
    "name another compiler in the variable NVCC_CCBIN"
  exit 1
fi
advice="install g++-$limit, or name a compiler that is not too new in the variable NVCC_CCBIN"
# Without its check of versions, nvcc reports errors in headers. Those of the C library remain with an older g++.
if ! works "$@" -allow-unsupported-compiler; then
  error=$(grep -m 1 'error' "$work/said" | cut -c 1-160)
  case $error in
    */c++/*) ;;
    *)
      advice="an older g++ does not help, because nvcc $version does not fit other headers of this system ($error);"
      advice="$advice install a newer CUDA toolkit" ;;
  esac
fi
echo "nvcc $version takes no gcc above version $limit as its host compiler, and here is $first; $advice"
exit 1
