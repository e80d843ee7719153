#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A film in pieces, on one machine: sh tests/long/cluster.sh [PART...]
#
#   films    films with closed and open GOPs, irregular frame rates, rotation, HDR, sound and subtitles, in one, two and many pieces
#   calls    the worker is killed before each system call that decides, and each of these calls fails with a full disk
#   killed   two coordinators at once, while workers are killed at random; a truncated input; a disk that is full
#   slurm    slurm.sh with slurmctld, two slurmd and munge: killed workers, a drained node, slurm.sh twice
#   ray      ray_film.py with killed workers
#
# Each part ends with the comparison of every decoded frame. CUDACONVOLVE_KILLS=10 is how many workers are killed in each
# run, CUDACONVOLVE_SECONDS=60 how long its film is, CUDACONVOLVE_SEED=N repeats the moments. Missing packages are
# installed where the user is root. RAY=FOLDER names a virtual environment with ray[data]; without it one is made in out/.
#
# shellcheck disable=SC2317,SC2034 # check calls functions by name; the other files use some variables
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
. "$top/tests/prepare.sh"
. "$top/tests/rows/rows.sh"
. "$top/tests/rows/cluster.sh"
. "$top/tests/long/cluster/engines.sh"
[ $# -gt 0 ] || set -- films calls killed slurm ray
kills=${CUDACONVOLVE_KILLS:-10}
seconds=${CUDACONVOLVE_SECONDS:-60}
seed=${CUDACONVOLVE_SEED:-$(date +%s)}
here=$top/out/cluster
mkdir -p "$here"

need_packages () {
  # shellcheck disable=SC2046 # a list of words
  set -- $(missing_packages "$@")
  [ $# -gt 0 ] || return 0
  can_be_root || { echo "these packages are missing: $*"; return 77; }
  # Debian would start daemons; the tests start their own.
  RUNLEVEL=1 apt_get update && RUNLEVEL=1 apt_install "$@"
}

# --- killing ---

# A worker that leaves its number for the killer.
killable_worker () {
  mkdir -p "$1"
  cat >"$1/convolve_segment" <<END
#!/bin/sh
echo \$\$ >"$1/\$\$.pid"
exec "$cluster_worker" "\$@"
END
  chmod +x "$1/convolve_segment"
  CONVOLVE_SEGMENT=$1/convolve_segment
  export CONVOLVE_SEGMENT
}

# killer FOLDER COUNT: kills workers at random moments, until COUNT are killed or FOLDER/stop is there. FOLDER/killed has
# how many.
killer () {
  /usr/bin/python3 - "$1" "$2" "$seed" <<'END'
import glob, os, random, signal, sys, time
folder, count, chance = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
killed, known, longest = 0, set(), 0.5
while killed < count and not os.path.exists(folder + "/stop"):
    new = sorted((path for path in glob.glob(folder + "/*.pid") if path not in known), key=os.path.getmtime, reverse=True)
    if not new:
        time.sleep(0.02)
        continue
    known.update(new)
    # How long workers live depends on the machine: longer after a hit, shorter after a miss.
    time.sleep(chance.uniform(0, longest))
    longest *= 0.6
    pid = os.path.basename(new[0])[:-4]
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            line = file.read().split(b"\0")
        if os.path.basename(line[0]) == b"convolve_segment":
            os.kill(int(pid), signal.SIGKILL)
            killed += 1
            longest = min(longest * 2, 5)
            open(folder + "/killed", "w").write("%d\n" % killed)
    except (OSError, ProcessLookupError):
        pass
print("%d workers killed" % killed)
END
}

killed_enough () {
  number=$(cat "$1/killed" 2>/dev/null || echo 0)
  echo "killed: $number workers, seed $seed"
  [ "$number" -ge "$kills" ]
}

# The film of the runs below, and its plan.
long_film () {
  [ -s "$here/closed-$seconds.mp4" ] || { make_film closed "$seconds" && mv "$(film_of closed)" "$here/closed-$seconds.mp4"; }
  film=$here/closed-$seconds.mp4
}

# result FOLDER: joins, unless it is joined, and compares every frame. Each piece stands once in the folder, and nothing else.
result () {
  "$cluster_film" status "$1" && "$cluster_film" join "$1" "$1.mkv" && film_tool same "$film" "$1.mkv" sigma=2 || return 1
  [ "$(find "$1" -name '*.mkv' | wc -l)" = "$(pieces_of "$1")" ] && [ -z "$(find "$1" "$1".mkv* -name '*.part*')" ]
}

# --- films ---

films_part () {
  cluster_needs && need_packages gstreamer1.0-plugins-ugly || return
  for kind in closed open open-hevc short refresh vp8 irregular irregular-mp4 turned subtitled hdr late later; do
    case $kind in
      refresh) counts="1 1 1" ;;
      irregular*) counts="1 2 0" ;;
      *) counts="1 2 7" ;;
    esac
    make_film "$kind" || return
    for size in 100 3.5 1; do
      count=${counts%% *}
      counts=${counts#* }
      [ "$count" = 0 ] || { echo "$kind, $count pieces:" && in_pieces "$kind" "$size" "$count" sigma=2; } || return 1
    done
  done
  # With loss, what goes to the encoder is the same.
  make_film closed && folder=$here/lossy && rm -rf "$folder" &&
    "$cluster_film" plan "$(film_of closed)" "$folder" --seconds=1 --encoder="x264enc threads=1 key-int-max=25" sigma=2 &&
    every_piece "$folder" && film_tool before "$(film_of closed)" "$folder" sigma=2 && "$cluster_film" join "$folder" "$folder.mkv"
}

# --- system calls ---

# after_fault FILM PIECE STATE: a record that is there fits its piece, whichever of the two properties it names; a run
# afterwards makes the piece. Over a broken piece the record from before may be there still.
after_fault () {
  if [ -s "$2.json" ] && [ "$3" != broken ]; then
    sigma=$(sed -n 's/.*"properties": "\(.*\)",/\1/p' "$2.json")
    "$cluster_worker" "$1" 1000000000 2000000000 "$2" "$sigma" | grep 'there already' ||
      { echo "a record of $sigma that does not fit its piece"; return 1; }
  fi
  "$cluster_worker" "$1" 1000000000 2000000000 "$2" sigma=2 &&
    [ "$(sed -n 's/.*"frames-decoded-again"//p' "$2.json")" = "$wanted" ] && [ -z "$(find "$here" -name 'call.mkv.*.part*')" ]
}

calls_part () {
  cluster_needs && make_film closed 3 || return
  film=$(film_of closed) piece=$here/call.mkv library=$here/at_call.so
  cc -shared -fPIC -O1 -o "$library" tests/support/at_call.c
  rm -f "$piece"*
  LD_PRELOAD=$library AT_CALL=count "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=2 2>"$here/counts" || return 1
  wanted=$(sed -n 's/.*"frames-decoded-again"//p' "$piece.json")
  cat "$here/counts"
  # The piece, its record and their folder are synced.
  if ! grep -q '^fsync 3$' "$here/counts" || ! grep -q '^rename 2$' "$here/counts"; then echo "not all is synced and renamed"; return 1; fi
  runs=0
  # Over nothing, over a result of other properties, and over the same result with another byte.
  for state in nothing other broken; do
    while read -r function count; do
      for number in $(seq 1 "$count"); do
        for error in 0 28; do
          # A file that cannot be deleted is written over.
          [ "$function $error" != "unlink 28" ] || continue
          rm -f "$piece"*
          case $state in
            other) "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=5 >/dev/null || return 1 ;;
            broken)
              "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=2 >/dev/null || return 1
              printf x | dd of="$piece" bs=1 seek=5000 conv=notrunc 2>/dev/null ;;
          esac
          if LD_PRELOAD=$library AT_CALL=$function:$number:$error "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=2 \
            >"$here/call" 2>&1; then
            cat "$here/call"
            echo "$function $number, error $error, over $state: the worker did not notice"
            return 1
          fi
          [ "$error" = 0 ] || grep -qi 'no space left' "$here/call" || { cat "$here/call"; echo "no reason given"; return 1; }
          after_fault "$film" "$piece" "$state" >"$here/after" || { cat "$here/after"; echo "$function $number, error $error, over $state: wrong afterwards"; return 1; }
          runs=$((runs + 1))
        done
      done
    done <"$here/counts"
  done
  echo "$runs runs: killed before a call, or no space left"
}

# --- killed at random ---

# A coordinator as a person would write it: every missing piece, until none is missing.
coordinator () {
  "$cluster_film" plan "$film" "$1" --seconds=1 sigma=2 || return 1
  tries=0
  while [ "$tries" -lt 100 ] && ! "$cluster_film" status "$1" >/dev/null; do
    tries=$((tries + 1))
    for number in $("$cluster_film" status --list --long "$1"); do
      "$cluster_film" piece "$1" "$number" || true
    done
  done
}

killed_part () {
  cluster_needs && long_film || return
  folder=$here/killed
  rm -rf "$folder" "$folder".* "$here/killer"
  killable_worker "$here/killer"
  killer "$here/killer" "$kills" &
  coordinator "$folder" >"$here/one.log" 2>&1 &
  one=$!
  coordinator "$folder" >"$here/two.log" 2>&1 &
  two=$!
  wait "$one" && wait "$two" || return 1
  touch "$here/killer/stop"
  wait
  echo "there already: $(cat "$here/one.log" "$here/two.log" | grep -c 'there already'), another process makes this piece:" \
    "$(cat "$here/one.log" "$here/two.log" | grep -c 'another process')"
  # Each piece was finished once.
  [ "$(cat "$here/one.log" "$here/two.log" | grep -c ' frames, .* s: decoding')" = "$(pieces_of "$folder")" ] || return 1
  killed_enough "$here/killer" && killed_joins "$folder" && result "$folder" && full_disk
}

# killed_joins FOLDER: joins that are killed leave no film.
killed_joins () {
  for delay in 0.1 0.2 0.3 0.4 0.5; do
    "$cluster_film" join "$1" "$1.mkv" &
    joining=$!
    sleep "$delay"
    kill -9 "$joining" 2>/dev/null || break # the join was faster
    wait "$joining" || true
    if [ -e "$1.mkv" ] && [ ! -e "$1.mkv.json" ]; then echo "a film without its record"; return 1; fi
  done
}

# A disk that takes half of the pieces, which then grows.
full_disk () {
  [ "$(id -u)" = 0 ] || { echo "a full disk: only root can mount one"; return 0; }
  disk=$here/disk
  mkdir -p "$disk"
  mount -t tmpfs -o size="$(($(du -sk "$here/killed" | cut -f 1) / 2))k" cudaconvolve-test "$disk" || { echo "a full disk: no tmpfs can be mounted here"; return 0; }
  status=0
  grown_disk || status=$?
  umount "$disk"
  return "$status"
}

grown_disk () {
  folder=$disk/film
  unset CONVOLVE_SEGMENT
  "$cluster_film" plan "$film" "$folder" --seconds=1 sigma=2 || return 1
  for number in $("$cluster_film" status --list --long "$folder"); do
    "$cluster_film" piece "$folder" "$number" || true
  done >"$here/full.log" 2>&1
  echo "no space left: $(grep -ci 'no space left' "$here/full.log") pieces; $("$cluster_film" status "$folder" || true)"
  grep -qi 'no space left' "$here/full.log" && [ -z "$(find "$folder" -name '*.part*')" ] || return 1
  mount -o remount,size=200m "$disk" && coordinator "$folder" && result "$folder"
}

[ -x "$cluster_worker" ] || build_project "$top/build" -Dcuda=disabled
use_build "$top/build"
GST_REGISTRY=$top/build/registry.bin
export GST_REGISTRY
for part in "$@"; do
  case $part in
    films | calls | killed | slurm | ray) check "$part" "${part}_part" ;;
    *) echo "$part: not known. Parts: films calls killed slurm ray" >&2; exit 2 ;;
  esac
  sed 's/^/     /' "out/test-$part.log" | tail -n 12
done
finish
