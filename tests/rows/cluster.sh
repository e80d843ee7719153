# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# examples/cluster/: pieces of a film, joined, are the film that one process makes. tests/long/cluster.sh uses these functions, too.

cluster_film=$top/examples/cluster/film.py
cluster_worker=$top/build/examples/cluster/convolve_segment

# What the programs need besides the element; 77 with the reason where something is missing.
cluster_needs () {
  [ -x "$cluster_worker" ] || { echo "convolve_segment was not built: there is no zlib"; return 77; }
  /usr/bin/python3 -c 'import gi; gi.require_version("GstVideo", "1.0"); from gi.repository import GstVideo' 2>/dev/null ||
    { echo "there are no Python bindings of GStreamer: python3-gi, gir1.2-gst-plugins-base-1.0"; return 77; }
}

film_tool () {
  /usr/bin/python3 tests/rows/cluster.py "$@"
}

# film_of KIND: the name of a test film.
film_of () {
  case $1 in
    closed | open-hevc | short | turned | irregular-mp4) echo "out/cluster/$1.mp4" ;;
    vp8) echo out/cluster/vp8.webm ;;
    transport) echo out/cluster/transport.ts ;;
    *) echo "out/cluster/$1.mkv" ;;
  esac
}

# make_film KIND [SECONDS]: makes a test film anew.
make_film () {
  mkdir -p out/cluster
  film_tool make "$1" "$(film_of "$1")" "${2:-7}"
}

pieces_of () {
  grep -c '"output"' "$1/plan.json"
}

# every_piece FOLDER: makes what is missing, one piece after the other.
every_piece () {
  number=0
  while [ "$number" -lt "$(pieces_of "$1")" ]; do
    "$cluster_film" piece "$1" "$number" || return 1
    number=$((number + 1))
  done
}

# in_pieces KIND SECONDS PIECES [PROPERTY=VALUE...]: a film cut into that many pieces and joined is the film of a pipeline
# that knows nothing of pieces.
in_pieces () {
  film=$(film_of "$1") folder=out/cluster/pieces-$1-$2
  seconds=$2 count=$3
  shift 3
  rm -rf "$folder" "$folder".mkv*
  "$cluster_film" plan "$film" "$folder" --seconds="$seconds" "$@" && every_piece "$folder" || return 1
  [ "$(pieces_of "$folder")" = "$count" ] || { echo "$(pieces_of "$folder") pieces, and $count are expected"; return 1; }
  "$cluster_film" join "$folder" "$folder.mkv" && film_tool same "$film" "$folder.mkv" "$@" &&
    film_tool before "$film" "$folder" "$@"
}

# film_in_pieces KIND SECONDS PIECES [PROPERTY=VALUE...]: makes the film first.
film_in_pieces () {
  cluster_needs && make_film "$1" && in_pieces "$@"
}

# A second run makes nothing, and a piece is made again where its bytes, the input or the properties are others.
cluster_again () {
  cluster_needs && make_film closed 3 || return
  film=$(film_of closed) piece=out/cluster/again.mkv
  rm -f "$piece"*
  "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=2 && before=$(ls -i "$piece") &&
    "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=2 | grep 'there already' || return 1
  [ "$before" = "$(ls -i "$piece")" ] || { echo "the piece was made twice"; return 1; }
  printf x | dd of="$piece" bs=1 seek=5000 conv=notrunc 2>/dev/null
  "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=2 | grep '25 frames' &&
    "$cluster_worker" "$film" 1000000000 2000000000 "$piece" sigma=3 | grep '25 frames' &&
    "$cluster_worker" "$film" 1000000000 1800000000 "$piece" sigma=3 | grep '20 frames' || return 1
  echo "1 2 1" >out/cluster/mask.txt
  "$cluster_worker" "$film" 1000000000 1800000000 "$piece" mask-location=out/cluster/mask.txt | grep '20 frames' || return 1
  echo "1 3 1" >out/cluster/mask.txt
  "$cluster_worker" "$film" 1000000000 1800000000 "$piece" mask-location=out/cluster/mask.txt | grep '20 frames' &&
    "$cluster_worker" "$film" 1000000000 1800000000 "$piece" mask-location=out/cluster/mask.txt | grep 'there already' || return 1
  # The same name, another film.
  film_tool make closed "$film" 4 &&
    "$cluster_worker" "$film" 1000000000 1800000000 "$piece" mask-location=out/cluster/mask.txt | grep '20 frames'
}

# says TEXT COMMAND...: the command fails, and says so.
cluster_says () {
  text=$1
  shift
  if "$@" >out/cluster/said 2>&1; then cat out/cluster/said; echo "no error"; return 1; fi
  cat out/cluster/said
  grep -q -- "$text" out/cluster/said
}

# What cannot be right is refused, with the reason, and leaves no file.
cluster_refusals () {
  cluster_needs && make_film subtitled 3 && make_film transport 3 || return
  film=$(film_of subtitled) piece=out/cluster/refused.mkv folder=out/cluster/refused
  rm -rf "$piece"* "$folder"*
  cluster_says 'the film ends before the range' "$cluster_worker" "$film" 0 9000000000 "$piece" &&
    cluster_says 'no frame in this range' "$cluster_worker" "$film" 9000000000 end "$piece" &&
    cluster_says 'START is not before END' "$cluster_worker" "$film" 5 5 "$piece" &&
    cluster_says 'a whole number of nanoseconds' "$cluster_worker" "$film" 1.5 end "$piece" &&
    cluster_says 'no such property' "$cluster_worker" "$film" 0 end "$piece" masc=box &&
    cluster_says 'not a preset' "$cluster_worker" "$film" 0 end "$piece" mask=nonsense &&
    cluster_says '26 are wanted' "$cluster_worker" --frames=26 "$film" 0 1000000000 "$piece" &&
    cluster_says 'not the file that is wanted' "$cluster_worker" --fingerprint=00 "$film" 0 end "$piece" &&
    cluster_says 'no element' "$cluster_worker" --encoder=nonsense "$film" 0 end "$piece" &&
    cluster_says 'LICENSE' "$cluster_worker" LICENSE 0 end "$piece" || return 1
  # The film under another name is no output.
  ln -f "$film" out/cluster/same.mkv
  sum=$(sha256sum <"$film")
  cluster_says 'the output is the input' "$cluster_worker" "$film" 0 end out/cluster/same.mkv &&
    cluster_says 'the output is the input' "$cluster_worker" "$film" 0 end "./$film" && [ "$sum" = "$(sha256sum <"$film")" ] || return 1
  if [ -n "$(find out/cluster -name 'refused.mkv*' ! -name '*.lock')" ]; then ls out/cluster; return 1; fi
  cluster_says 'cannot be cut' "$cluster_film" plan "$(film_of transport)" "$folder" &&
    "$cluster_film" plan "$film" "$folder" --seconds=1 sigma=2 &&
    cluster_says 'another plan' "$cluster_film" plan "$film" "$folder" --seconds=1 sigma=3 &&
    cluster_says 'pieces are missing: 0 1 2' "$cluster_film" join "$folder" "$folder.mkv" && every_piece "$folder" &&
    cluster_says 'is the same file as' "$cluster_film" join "$folder" out/cluster/same.mkv &&
    cluster_says 'is the same file as' "$cluster_film" join "$folder" "$folder/000000.mkv" &&
    [ "$sum" = "$(sha256sum <"$film")" ] || return 1
  # A film that ends early, after the plan was made.
  cp "$film" out/cluster/whole
  head -c 30000 out/cluster/whole >"$film"
  rm "$folder/000001.mkv"
  cluster_says 'not the file that is wanted' "$cluster_film" piece "$folder" 1
  refused=$?
  cp out/cluster/whole "$film"
  [ "$refused" = 0 ] && every_piece "$folder" && "$cluster_film" join "$folder" "$folder.mkv"
}

# A mask that CPU and GPU compute differently: pieces of both are not joined. The records are made to say so.
cluster_mixed () {
  cluster_needs && make_film closed 3 || return
  film=$(film_of closed) folder=out/cluster/mixed
  rm -rf "$folder"*
  "$cluster_film" plan "$film" "$folder" --seconds=1 sigma=2 && every_piece "$folder" && grep '"reproducible": true' "$folder/000001.mkv.json" &&
    sed -i 's/"device": "cpu/"device": "direct/' "$folder/000001.mkv.json" && "$cluster_film" join "$folder" "$folder.mkv" || return 1
  rm -rf "$folder"*
  # A very high gain is not reproducible.
  "$cluster_film" plan "$film" "$folder" --seconds=1 mask=10000.3171,-20000.5913,10000.7339 divisor=1 && every_piece "$folder" &&
    grep '"reproducible": false' "$folder/000001.mkv.json" && sed -i 's/"device": "cpu/"device": "direct/' "$folder/000001.mkv.json" &&
    cluster_says 'by a CPU and some by a GPU' "$cluster_film" join "$folder" "$folder.mkv"
}

cluster_rows () {
  check "cluster: H.264 in pieces, with sound" film_in_pieces closed 1 7 sigma=2
  check "cluster: open GOPs of H.265 in pieces" film_in_pieces open-hevc 2 4 mask=sobel-x bias=0.5
  check "cluster: a piece that is there is not made again" cluster_again
  check "cluster: what is refused" cluster_refusals
  check "cluster: pieces of a CPU and of a GPU" cluster_mixed
}
