# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# cudaconvolve-film: films of every kind, and what may happen to a program that writes one. films.py has the films.

film_build=$top/build
film_program=$film_build/examples/film/cudaconvolve-film
film_folder=out/films

# The films are made by ffmpeg.
films_need () {
  [ -x "$film_program" ] || { echo "cudaconvolve-film was not built"; return 77; }
  command -v ffprobe >/dev/null || { echo "ffmpeg is missing: the package ffmpeg"; return 77; }
  mkdir -p "$film_folder"
}

films_table () {
  films_need || return
  python3 tests/rows/films.py "$film_program" "$film_folder" "$@"
}

films_losses () {
  films_need || return
  python3 tests/rows/films.py --losses "$film_folder"
}

# A film of 60 seconds, so that a program can be met in the middle, and one of a second.
films_long () {
  [ -s "$film_folder/long.mp4" ] ||
    ffmpeg -v error -nostdin -y -f lavfi -i testsrc2=s=640x360:r=25:d=60 -f lavfi -i sine=440:d=60 -c:v libx264 \
      -preset ultrafast -pix_fmt yuv420p -c:a aac "$film_folder/long.mp4"
}

films_short () {
  [ -s "$film_folder/short.mp4" ] ||
    ffmpeg -v error -nostdin -y -f lavfi -i testsrc2=s=320x180:r=25:d=1 -f lavfi -i sine=440:d=1 -c:v libx264 -preset ultrafast \
      -pix_fmt yuv420p -c:a aac "$film_folder/short.mp4"
}

# An empty folder for outputs, with an earlier film that has to stay.
films_place () {
  place=$film_folder/place
  rm -rf "$place"
  mkdir -p "$place" && echo before >"$place/film.mp4"
}

# only_before: the earlier film is as it was, and nothing else lies beside it.
only_before () {
  ls -A "$place"
  [ "$(cat "$place/film.mp4")" = before ] && [ "$(ls -A "$place")" = film.mp4 ]
}

# refuses_film TEXT COMMAND...: the command fails, and its last line says TEXT. The earlier film stays.
refuses_film () {
  said=$1
  shift
  status=0
  echo "$*"
  "$@" >"$film_folder/said" 2>&1 </dev/null || status=$?
  cat "$film_folder/said"
  [ "$status" = 1 ] || [ "$status" = 2 ] || { echo "exit status $status"; return 1; }
  tail -n 1 "$film_folder/said" | grep -q -i -e "$said" || { echo "the last line does not say $said"; return 1; }
  only_before
}

# begin_film: the program runs in the background, and is in the middle of the film when the function returns.
begin_film () {
  films_long && films_place || return
  "$film_program" "$film_folder/long.mp4" "$place/film.mp4" mask=gaussian >"$film_folder/said" 2>&1 </dev/null &
  program=$!
  waited=0
  while [ "$(du -k "$place" | cut -f1)" -lt 40 ] && [ "$waited" -lt 200 ] && kill -0 "$program"; do
    sleep 0.05
    waited=$((waited + 1))
  done
  kill -0 "$program"
}

# Where the program was killed, the earlier film is as it was, and the next run ends well and leaves nothing else.
films_killed () {
  films_need && begin_film || return
  kill -KILL "$program"
  wait "$program" 2>/dev/null
  ls -A "$place"
  [ "$(cat "$place/film.mp4")" = before ] && films_short &&
    "$film_program" "$film_folder/short.mp4" "$place/film.mp4" mask=gaussian && ffprobe -v error "$place/film.mp4"
}

# A signal that can be caught leaves nothing behind.
films_stopped () {
  for signal in INT TERM; do
    films_need && begin_film || return
    kill -"$signal" "$program"
    status=0
    wait "$program" || status=$?
    cat "$film_folder/said"
    echo "SIG$signal: exit status $status"
    [ "$status" != 0 ] && only_before || return 1
  done
}

# A disk that is full: a file system of its own where this may be mounted, and otherwise a limit for the size of files.
films_full () {
  films_need && films_long && films_place || return
  if mount -t tmpfs -o size=200k tmpfs "$place" 2>/dev/null; then
    echo before >"$place/film.mp4"
    refused=0
    refuses_film '/film.mp4: cannot be written. Is the disk full' "$film_program" "$film_folder/long.mp4" "$place/film.mp4" mask=identity || refused=1
    umount "$place"
    return "$refused"
  fi
  # shellcheck disable=SC3045 # dash and bash know ulimit -f
  refuses_film '/film.mp4: cannot be written. Is the disk full' sh -c "trap '' XFSZ; ulimit -f 200; exec \"\$@\"" sh "$film_program" \
    "$film_folder/long.mp4" "$place/film.mp4" mask=identity
}

# GStreamer with these plugins alone has no encoder, or no decoder.
films_without () {
  films_need && films_short && films_place || return
  plugins=$top/$film_folder/plugins
  rm -rf "$plugins"
  mkdir -p "$plugins"
  folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)
  for name in app audioconvert audioparsers audioresample coreelements isomp4 matroska playback typefindfunctions \
    videoconvertscale videoconvert videoscale videofilter videoparsersbad videorate volume; do
    [ ! -e "$folder/libgst$name.so" ] || ln -s "$folder/libgst$name.so" "$plugins"
  done
  set -- env GST_PLUGIN_SYSTEM_PATH_1_0="$plugins"
  refuses_film 'decoder.*h.\?264\|h.\?264.*decoder' "$@" GST_REGISTRY="$plugins/registry" "$film_program" \
    "$film_folder/short.mp4" "$place/film.mp4" mask=identity || return
  # libav's decoders; its own encoders for MP4 are none that the program takes.
  ln -s "$folder/libgstlibav.so" "$plugins"
  refuses_film 'encoder.*install' "$@" GST_REGISTRY="$plugins/registry2" "$film_program" \
    "$film_folder/short.mp4" "$place/film.mp4" mask=identity
}

# The tests may run as root, who may write anywhere. So somebody else runs the program where root can become another.
films_forbidden () {
  films_need && films_short && films_place || return
  refuses_film 'nowhere' "$film_program" "$film_folder/short.mp4" "$place/nowhere/film.mp4" mask=identity || return
  open=$(mktemp -d) && chmod 755 "$open" && cp "$film_folder/short.mp4" "$open" && cp "$film_program" "$open" &&
    cp "$film_build"/plugin/*.so "$open" && mkdir "$open/closed" && echo before >"$open/closed/film.mp4" || return
  place=$open/closed
  chmod 555 "$place"
  set -- env HOME="$open" GST_PLUGIN_PATH="$open" GST_REGISTRY=/dev/null "$open/cudaconvolve-film" "$open/short.mp4" \
    "$place/film.mp4" mask=identity
  if [ "$(id -u)" = 0 ]; then
    if ! setpriv --reuid=65534 --regid=65534 --clear-groups true; then
      rm -rf "$open"
      echo "there is no setpriv: the package util-linux"
      return 77
    fi
    set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
  fi
  refused=0
  refuses_film 'permission\|not.*writ\|denied' "$@" || refused=1
  rm -rf "$open"
  return "$refused"
}

# The film itself as its output, under any name. The film has the same bytes afterwards.
films_itself () {
  films_need && films_short && films_place || return
  cp "$film_folder/short.mp4" "$film_folder/itself.mp4"
  ln -sf itself.mp4 "$film_folder/link.mp4" && ln -f "$film_folder/itself.mp4" "$film_folder/hard.mp4" || return
  for name in itself.mp4 link.mp4 hard.mp4 ./itself.mp4 ../films/itself.mp4; do
    refuses_film 'input\|same\|itself' "$film_program" "$film_folder/itself.mp4" "$film_folder/$name" mask=identity || return
    cmp "$film_folder/short.mp4" "$film_folder/itself.mp4" || return
  done
  rm -f "$film_folder/itself.mp4" "$film_folder/link.mp4" "$film_folder/hard.mp4"
}

# What was written wrongly changes nothing, and the line names it.
films_typos () {
  films_need && films_short && films_place || return
  set -- "$film_program" "$film_folder/short.mp4" "$place/film.mp4"
  refuses_film 'maks' "$@" maks=identity &&
    refuses_film 'gausian' "$@" mask=gausian &&
    refuses_film 'sigma' "$@" mask=gaussian sigma=wide &&
    refuses_film 'boundary' "$@" boundary=black &&
    refuses_film 'qualty' "$@" --qualty=3 mask=identity &&
    refuses_film 'codec' "$@" --codec=h267 mask=identity &&
    refuses_film 'quality' "$@" --quality=better mask=identity &&
    refuses_film 'nowhere.mp4' "$film_program" nowhere.mp4 "$place/film.mp4" mask=identity &&
    refuses_film 'nowhere.json' "$@" --boxes=nowhere.json &&
    refuses_film 'mp4.*mkv\|mkv.*mp4' "$film_program" "$film_folder/short.mp4" "$place/film.txt" mask=identity
}

# Each line of --json is an object, and the last one tells how the run ended.
films_json () {
  films_need && films_short && films_place || return
  "$film_program" --json "$film_folder/short.mp4" "$place/film.mp4" mask=identity >"$film_folder/json" &&
    python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
print("\n".join(map(str, lines)))
sys.exit(not lines or not all(isinstance(line, dict) for line in lines))' <"$film_folder/json" || return
  echo before >"$place/film.mp4"
  ! "$film_program" --json "$film_folder/short.mp4" "$place/film.mp4" maks=identity >"$film_folder/json" 2>&1 &&
    tail -n 1 "$film_folder/json" | python3 -c 'import json, sys; print(json.load(sys.stdin))' && only_before
}

films_rows () {
  check "films: streams, times and pictures" films_table ${all:+--all}
  check "films: killed in the middle" films_killed
  check "films: a full disk" films_full
  check "films: no decoder, no encoder" films_without
  check "films: a folder that may not be written" films_forbidden
  check "films: the film as its own output" films_itself
  check "films: what is written wrongly" films_typos
  check "films: lines for programs" films_json
  [ -n "$all" ] || return 0
  check "films: stopped in the middle" films_stopped
  check "films: the comparison sees losses" films_losses
}
