#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Frames a second by number of workers: figures.sh FILM FOLDER [WORKERS...]
#
# Makes PIECES=8 pieces of LENGTH=4 seconds of FILM with so many workers at once (1 2 4 where none are named), three times:
#
#   decode     a small mask, and an encoder that gets frames of 64x36: decoding takes longest
#   convolve   MASK, by default gaussian sigma=40, and the same encoder
#   encode     a small mask, and ENCODER, by default avenc_ffv1, which loses nothing
#
# KINDS="decode convolve" makes these alone. SMALL_ENCODER, by default avenc_ffv1, encodes the frames of 64x36.
# GPUS="0 1" names the GPUs that pieces take in turn; without GPUS nothing is chosen. CONVOLVE_SEGMENT names the worker. Needs
# the worker and a shell alone. FOLDER/figures.csv has a line for each run: what takes longest, workers, GPUs, frames, seconds, frames a second, seconds of CPU,
# then the seconds of all pieces together: decoding, convolving, encoding, checking, in the whole; and the variants.
set -eu
[ $# -ge 2 ] || { sed -n '3,15s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
film=$1 folder=$2
shift 2
[ $# -gt 0 ] || set -- 1 2 4
worker=${CONVOLVE_SEGMENT:-$here/../../build/examples/cluster/convolve_segment}
pieces=${PIECES:-8}
seconds=${LENGTH:-4}
small="videoconvert ! videoscale method=nearest-neighbour ! video/x-raw,width=64,height=36 ! ${SMALL_ENCODER:-avenc_ffv1}"
mkdir -p "$folder"
csv=$folder/figures.csv
[ -s "$csv" ] || echo "longest,workers,gpus,frames,seconds,frames/s,cpu,decoding,convolving,encoding,checking,all,variants" >"$csv"

# one NUMBER: makes a piece on the GPU whose turn it is. Run by xargs through this script's text in the environment.
# shellcheck disable=SC2016 # the inner shell expands
one='
number=$1
if [ -n "$GPUS" ]; then
  set -- $GPUS
  shift $((number % $#))
  export CUDA_VISIBLE_DEVICES="$1"
fi
exec "$WORKER" --encoder="$ENCODER_HERE" "$FILM" "$((number * LENGTH_HERE))000000000" "$(((number + 1) * LENGTH_HERE))000000000" \
  "$RUN/$number.mkv" $MASK_HERE
'

# measure WHAT WORKERS ENCODER PROPERTY...
measure () {
  what=$1 workers=$2 encoder=$3
  shift 3
  case " ${KINDS:-$what} " in *" $what "*) ;; *) return 0 ;; esac
  run=$folder/$what-$workers
  rm -rf "$run"
  mkdir -p "$run"
  begun=$(date +%s.%N)
  (seq 0 $((pieces - 1)) | WORKER=$worker FILM=$film RUN=$run GPUS=${GPUS:-} LENGTH_HERE=$seconds ENCODER_HERE=$encoder MASK_HERE="$*" \
    xargs -P "$workers" -I '{}' sh -c "$one" sh '{}' >"$run/log" 2>&1 && times >"$run/times") ||
    { cat "$run/log" >&2; exit 1; }
  ended=$(date +%s.%N)
  # Of the processes that the shell waited for: minutes and seconds, in user and system mode.
  cpu=$(sed -n '2s/[ms]/ /gp' "$run/times" | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }')
  # The fields of the records, added up.
  cat "$run"/*.json | awk -F'[:,]' -v what="$what" -v workers="$workers" -v gpus="$(echo "${GPUS:-}" | wc -w)" \
    -v cpu="$cpu" -v wall="$(echo "$begun $ended" | awk '{ print $2 - $1 }')" '
    { name = $1; gsub (/[ "]/, "", name); sum[name] += $2 }
    name == "device" { text = $0; gsub (/.*: "|",/, "", text); gsub (/,/, " ", text); variants = text }
    END {
      printf "%s,%d,%d,%d,%.1f,%.1f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%s\n", what, workers, gpus, sum["frames"], wall, sum["frames"] / wall, cpu,
        sum["seconds-decoding"], sum["seconds-convolving"], sum["seconds-encoding"], sum["seconds-checking"], sum["seconds"], variants
    }' | tee -a "$csv"
}

for workers in "$@"; do
  measure decode "$workers" "$small" sigma=1
  # shellcheck disable=SC2086 # properties are words
  measure convolve "$workers" "$small" ${MASK:-mask=gaussian sigma=40}
  measure encode "$workers" "${ENCODER:-avenc_ffv1}" sigma=1
done
