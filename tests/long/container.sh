#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The Containerfile without a container runtime: sh tests/long/container.sh
#
# For each FROM line, debootstrap makes a bare system of the release that the line names. COPY and RUN lines are done in it. In the
# last one cudaconvolve-film covers a box of the clip. Prints minutes and megabytes. Needs root. PACKAGES names a folder of
# packages that are there already. CACHE and MIRROR are as in package.sh.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
. "$top/tests/rows/roots.sh"
roots_needed
roots=$cache/container.$$
trap 'rm -rf --one-file-system "$roots"' EXIT
mkdir -p "$roots"
folder=/
stage=0
stages=
size () { du -sxm --exclude=var/cache/apt/archives "$1" | cut -f 1; }
begin=$(date +%s)

# The folder of a stage by the name behind AS.
of_stage () { printf '%s\n' "$stages" | sed -n "s/^$1 //p"; }

while IFS= read -r line; do
  case $line in
    "FROM docker.io/library/debian:"*)
      stage=$((stage + 1))
      root=$roots/$stage
      suite=$(printf '%s\n' "$line" | sed 's/.*debian:\([a-z]*\)-slim.*/\1/')
      root_unpack "$suite" "$root"
      stages=$(printf '%s\n%s %s' "$stages" "$(printf '%s\n' "$line" | sed -n 's/.* AS //p')" "$root")
      bare=$(size "$root")
      from=$(date +%s)
      folder=/ ;;
    "COPY . "*)
      mkdir -p "$root${line##* }"
      git clone -q "$top" "$root${line##* }"
      if [ -n "${PACKAGES:-}" ]; then
        mkdir -p "$root${line##* }/out/packages"
        cp "$PACKAGES"/*.deb "$root${line##* }/out/packages/"
      fi ;;
    "COPY --from="*)
      copied=${line#COPY --from=}
      source=$(of_stage "${copied%% *}")
      copied=${copied#* }
      cp -r "$source${copied% *}" "$root${copied#* }" ;;
    "WORKDIR "*)
      folder=${line#WORKDIR }
      mkdir -p "$root$folder" ;;
    "RUN "*)
      echo "stage $stage: $line"
      DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 root_inside "$root" sh -c "cd $folder && ${line#RUN }" >"$top/out/container-$stage.log" 2>&1 ||
        { tail -n 30 "$top/out/container-$stage.log"; exit 1; }
      root_keep_archives "$suite" "$root"
      rm -f "$root"/var/cache/apt/archives/*.deb
      echo "stage $stage: $(($(date +%s) - from)) s so far, $bare MB before, $(size "$root") MB now" ;;
    "" | "#"* | "CMD "*) ;;
    *)
      echo "not known: $line"
      exit 1 ;;
  esac
done <examples/packaging/Containerfile

if [ -n "$(ls "$roots"/1/src/out/packages/*.deb 2>/dev/null)" ]; then
  mkdir -p out/container
  cp "$roots"/1/src/out/packages/*.deb out/container/
fi
cp examples/clip.mp4 examples/clip-boxes.json "$root$folder/"
start=$(date +%s)
LC_ALL=C.UTF-8 root_inside "$root" sh -c "cd $folder && cudaconvolve-film clip.mp4 covered.mkv --boxes=clip-boxes.json && gst-inspect-1.0 cudaconvolve | grep Filename"
[ -s "$root$folder/covered.mkv" ]
echo "the clip was covered in $(($(date +%s) - start)) s; from nothing $(($(date +%s) - begin)) s"
