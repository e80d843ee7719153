#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every GPU variant of masks and layers under compute-sanitizer, with planes and tensors in device memory of exactly their
# bytes: sh tests/long/gpu-memory.sh [TOOL...]. Tools: memcheck, initcheck, racecheck, synccheck; without names all four.
#
# A build with four planted faults shows first that each tool finds a fault of its kind. The cases of a variant are cut into
# pieces, each with a seed of its own, and the first pieces of all variants run first: a run that is ended early has some
# cases of each. `sh tests/long/gpu-memory.sh table` prints the sums of the pieces that are done.
#
#   MEMCHECK_CASES=3000 OTHER_CASES=300   random cases for each variant, not counting those that it refuses
#   MEMCHECK_PIECE=250 OTHER_PIECE=50     cases in a piece
#   JOBS=8                                programs that run at a time
#   SEED=1                                of the first piece
#   VARIANTS="tiled box"                  only these
#   BUILD=build PLANTED=build-planted     folders with programs; built where they are missing
set -eu
cd "$(dirname "$0")/../.."

: "${MEMCHECK_CASES:=3000}" "${OTHER_CASES:=300}" "${MEMCHECK_PIECE:=250}" "${OTHER_PIECE:=50}" "${JOBS:=8}" "${SEED:=1}"
: "${BUILD:=build}" "${PLANTED:=build-planted}" "${VARIANTS:=}"
tools=${*:-memcheck initcheck racecheck synccheck}
PATH=$PATH:/usr/local/cuda/bin
out=out/gpu-memory

# edit FILE OLD NEW: replaces the only place of OLD in a file of the planted build.
edit () {
  python3 - "$PLANTED/source/kernels/cuda/$1" "$2" "$3" <<'END'
import sys
path, old, new = sys.argv[1:]
text = open(path).read()
if text.count(old) != 1:
    sys.exit('%s has "%s" %d times, and once is wanted' % (path, old, text.count(old)))
open(path, 'w').write(text.replace(old, new))
END
}

# The faults: a byte is read behind the source; the last byte of what goes to the device is left out; the barrier of
# `tiled` is missing; threads of `tiled-cached` wait for a warp of which they are no part.
plant () {
  mkdir -p "$PLANTED/source"
  git ls-files | tar -cf - -T - | tar -xf - -C "$PLANTED/source"
  edit plain/global.cu '  auto tap = [&] (int k) { return taps[k]; };' \
    '  const uint8_t *end = image.source + (image.height - 1) * image.source_stride + image.width * image.pixel_stride;
  (void) *(volatile const uint8_t *) end;
  auto tap = [&] (int k) { return taps[k]; };'
  edit device/device.cu 'code = cudaMemcpyAsync (to, from, bytes, kinds[direction]' \
    'code = cudaMemcpyAsync (to, from, bytes - (direction == CONVOLVE_COPY_TO_DEVICE), kinds[direction]'
  edit plain/tiled.cuh ' __syncthreads (); /* the tile is whole */' ''
  edit ladder/tiled_cached.cu '  __syncthreads ();' '  if (threadIdx.x % 32 == 1)
    __syncwarp (1);
  __syncthreads ();'
  meson setup "$PLANTED/build" "$PLANTED/source" -Dcuda=enabled -Dcuda-architectures=native -Dexamples=false
  ninja -C "$PLANTED/build" tests/convolve_check
  cp "$PLANTED/build/tests/convolve_check" "$PLANTED/"
}

# run TOOL PROGRAM VARIANT CASES SEED: one line, "TOOL PROGRAM VARIANT SEED cases refused failed errors seconds". The cases
# are those that were made, with the refused ones.
run () {
  log=$out/$1-$2-$3-$5
  start=$(date +%s)
  compute-sanitizer --tool "$1" --error-exitcode 9 --print-limit 5 "$BUILD/tests/$2" --device --tight --variant "$3" \
    --taken "$4" --seed "$5" >"$log" 2>&1 || true
  # The last table has the columns cases, refused and failed; that of convolve_check has one more before refused.
  counts=$(awk -v name="$3" -v more="$([ "$2" = check_layer ] || echo 1)" \
    '$1 == name && NF > 6 { line = $2 " " $(3 + more) " " $(4 + more) } END { print line }' "$log")
  errors=$(sed -n 's/^=* ERROR SUMMARY: \([0-9]*\) error.*/\1/p; s/^=* RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' "$log" | tail -n 1)
  echo "$1 $2 $3 $5 ${counts:-- - -} ${errors:--} $(($(date +%s) - start))" >>"$out/pieces"
}

# A row for each tool and variant, "TOOL PROGRAM VARIANT cases refused failed errors seconds of pieces". The cases are those
# that were not refused. A piece without a
# count did not end as it should. Fails unless all cases ran, without a failed case and without an error.
table () {
  awk '
    FILENAME ~ /list$/ { key = sprintf ("%-10s %-15s %-22s", $1, $2, $3); if (!(key in wanted)) order[++n] = key
      wanted[key] += $4; pieces++; next }
    { key = sprintf ("%-10s %-15s %-22s", $1, $2, $3); seconds[key] += $9; done++
      if ($5 == "-" || $8 == "-") { broken[key]++; next }
      cases[key] += $5 - $6; refused[key] += $6; failed[key] += $7; errors[key] += $8 }
    END {
      printf "%-10s %-15s %-22s %8s %8s %8s %8s %8s\n", "tool", "program", "variant", "cases", "refused", "failed", "errors", "seconds"
      for (i = 1; i <= n; i++) {
        key = order[i]
        bad += failed[key] + errors[key] + broken[key] > 0
        short += cases[key] < wanted[key]
        printf "%s %8d %8d %8d %8d %8d%s\n", key, cases[key], refused[key], failed[key], errors[key], seconds[key],
          broken[key] ? "  " broken[key] " pieces without a count" : ""
      }
      printf "first seed %s: %d of %d pieces, %d rows, %d with a fault, %d with too few cases\n", seed, done, pieces, n, bad, short
      exit bad + short > 0
    }' seed="$SEED" "$out/list" "$out/pieces"
}

case ${1:-} in
  run)
    run "$2" "$3" "$4" "$5" "$6"
    exit 0 ;;
  table)
    table
    exit 0 ;;
esac

command -v compute-sanitizer >/dev/null || { echo "there is no compute-sanitizer"; exit 77; }
if ! [ -x "$BUILD/tests/convolve_check" ] || ! [ -x "$BUILD/tests/check_layer" ]; then
  meson setup "$BUILD" -Dcuda=enabled -Dcuda-architectures=native -Dexamples=false
  ninja -C "$BUILD" tests/convolve_check tests/check_layer
fi
"$BUILD/tests/convolve_check" --device --tight --variant global --cases 1 >/dev/null 2>&1 ||
  { echo "there is no GPU that the programs can use"; exit 77; }
[ -x "$PLANTED/convolve_check" ] || plant
mkdir -p "$out"

# planted TOOL VARIANT: the tool must find the fault.
planted () {
  if compute-sanitizer --tool "$1" --error-exitcode 9 --print-limit 1 "$PLANTED/convolve_check" --device --tight --variant "$2" \
    --taken 20 --seed "$SEED" 2>&1 | tee "$out/planted-$1" | grep -q -e 'ERROR SUMMARY: [1-9]' -e 'RACECHECK SUMMARY: [1-9]'; then
    echo "$1 found the fault planted in $2"
  else
    echo "$1 did not find the fault planted in $2: $out/planted-$1"
    exit 1
  fi
}

for tool in $tools; do
  case $tool in
    memcheck) planted memcheck global ;;
    initcheck) planted initcheck global ;;
    racecheck) planted racecheck tiled ;;
    synccheck) planted synccheck tiled-cached ;;
    *)
      echo "$tool: not known. Tools: memcheck initcheck racecheck synccheck" >&2
      exit 2 ;;
  esac
done

for tool in $tools; do
  cases=$OTHER_CASES
  piece=$OTHER_PIECE
  [ "$tool" != memcheck ] || { cases=$MEMCHECK_CASES piece=$MEMCHECK_PIECE; }
  for program in convolve_check check_layer; do
    "$BUILD/tests/$program" --list | while read -r variant place _; do
      case " ${VARIANTS:-$variant} " in
        *" $variant "*) ;;
        *) continue ;;
      esac
      left=$cases
      number=0
      while [ "$place" = device ] && [ "$left" -gt 0 ]; do
        echo "$number $tool $program $variant $((left < piece ? left : piece)) $((SEED + number))"
        left=$((left - piece))
        number=$((number + 1))
      done
    done
  done
done | sort -s -n -k 1,1 | cut -d ' ' -f 2- >"$out/list"
: >"$out/pieces"
BUILD=$BUILD xargs -P "$JOBS" -L 1 sh tests/long/gpu-memory.sh run <"$out/list"
table
