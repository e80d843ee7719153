# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # variables of the scripts that read this file
# What build.sh and wheel.sh share. A script sets own_values to its own options that take a value, and defines own_option NAME VALUE,
# which fails where the option is none of the script's.

top=$(cd "$(dirname "$0")/../.." && pwd)
cuda=
architectures=all-major

# take_options ARGUMENT...: sets cuda, architectures, output and what the script has itself. --help prints the comment at the
# script's top.
take_options () {
  while [ $# -gt 0 ]; do
    name=$1
    value=
    case " --architectures --output $own_values " in
      *" $name "*)
        [ $# -gt 1 ] || { echo "$name needs a value" >&2; exit 2; }
        value=$2
        shift ;;
    esac
    case $name in
      --cuda) cuda=yes ;;
      --architectures) architectures=$value ;;
      --output) output=$(realpath -m "$value") ;;
      -h | --help)
        sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0 ;;
      *) own_option "$name" "$value" || { echo "$name: not known. sh $0 --help lists the options." >&2; exit 2; } ;;
    esac
    shift
  done
}

project_version () {
  sed -n "s/^  version: '\(.*\)',$/\1/p" "$top/meson.build"
}

# The CUDA toolkit's version as it stands in names of packages: 13.0 is 130.
cuda_version () {
  nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) ||
    { echo "There is no nvcc on PATH or in /usr/local/cuda/bin" >&2; return 1; }
  "$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p' | tr -d .
}
