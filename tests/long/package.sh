#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The Debian packages in a bare system: sh tests/long/package.sh [SUITE...]
#
# Makes the packages of the last commit without CUDA, or takes those in the folder PACKAGES. Then for each suite, "bookworm" and
# "trixie" where none is named, in a system that debootstrap makes:
#
#   - the plugin is installed without the library, and gst-inspect-1.0 shows the element;
#   - README's first launch line runs as an ordinary user, without a window, and says why the CPU does the work;
#   - examples/library/sharpen.c is compiled with what the development package and pkg-config say, and sharpens a picture;
#   - cudaconvolve-film covers a box of the clip;
#   - after purging, no file of the packages and no other file of that name is left.
#
# Needs root. The bare systems are kept in CACHE, $HOME/.cache/cudaconvolve without it. MIRROR names an archive of Debian; without it
# debootstrap's own counts.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
. "$top/tests/rows/readme.sh"
. "$top/tests/rows/roots.sh"
[ $# -gt 0 ] || set -- bookworm trixie
roots_needed

if [ -n "${PACKAGES:-}" ]; then
  packages=$(realpath "$PACKAGES")
else
  packages=$top/out/package-test
  rm -rf "$packages"
  sh examples/packaging/build.sh --output "$packages"
fi
ls "$packages"/*.deb

# The commands that run inside. The packages lie in /packages, and the first launch line is in /packages/line.
cat >out/package-inside <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
say () { echo "== $*"; }
apt () { apt-get -q "$@" >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; exit 1; }; }
files () { find / -xdev \( -path /proc -o -path /packages -o -path /var/cache/apt \) -prune -o ! -type d -print | sort; }
there () { dpkg-query -W -f '${binary:Package}\n' | sort; }
ours="gstreamer1.0-cudaconvolve libcudaconvolve0 libcudaconvolve-dev cudaconvolve-tools"

say "what the packages are used with"
apt update
apt install -y --no-install-recommends gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
  gstreamer1.0-libav gcc libc6-dev pkg-config
useradd -m somebody
files >/tmp/before
there >/tmp/there

say "installing"
set --
for package in $ours; do
  set -- "$@" "$(ls /packages/"$package"_*.deb)"
done
# The plugin does not need the library.
apt install -y --no-install-recommends "$1"
if dpkg -s libcudaconvolve0 >/dev/null 2>&1; then exit 1; fi
su somebody -c 'gst-inspect-1.0 cudaconvolve' >/tmp/inspected
grep -E 'Filename|Version' /tmp/inspected
grep -q -E 'Filename *(/usr)?/lib/.*/gstreamer-1.0/libgstcudaconvolve.so$' /tmp/inspected

say "$(cat /packages/line)"
su somebody -c 'cd /packages && timeout 300 sh line' >/tmp/played 2>&1 || { cat /tmp/played; exit 1; }
grep '^Execution ended' /tmp/played
# There is no driver in the system. Packages with CUDA have to find that out; the others have no CUDA to look for one.
case $(dpkg-query -W -f '${Version}' gstreamer1.0-cudaconvolve) in
  *+cuda*) reason='there is no NVIDIA driver' ;;
  *) reason='this build has no CUDA' ;;
esac
grep "^Working on the CPU: .*$reason" /tmp/played || { cat /tmp/played; exit 1; }

say "a program with the library"
apt install -y --no-install-recommends "$@"
mkdir /tmp/program
cp /usr/share/doc/libcudaconvolve-dev/examples/sharpen.c /tmp/program/
chown -R somebody /tmp/program
su somebody -c 'cd /tmp/program && set -e
  cc sharpen.c -o sharpen $(pkg-config --cflags --libs cudaconvolve)
  pkg-config --modversion cudaconvolve
  # fdsink would begin at the start of a file, so cat writes the file.
  frame () {
    printf "P6\n320 180\n255\n"
    gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=320,height=180 "$@" ! fdsink | cat
  }
  frame >picture.ppm
  frame ! cudaconvolve mask="0 -1 0; -1 5 -1; 0 -1 0" >wanted.ppm
  ./sharpen picture.ppm sharp.ppm
  cmp wanted.ppm sharp.ppm
  if cmp -s picture.ppm sharp.ppm; then exit 1; fi
  sha256sum sharp.ppm'

say "the program"
su - somebody -c 'cp /packages/examples/clip.mp4 /packages/clip-boxes.json . && cudaconvolve-film clip.mp4 covered.mkv --boxes=clip-boxes.json' >/tmp/film 2>&1 ||
  { cat /tmp/film; exit 1; }
[ -s /home/somebody/covered.mkv ]
su - somebody -c 'rm clip.mp4 clip-boxes.json covered.mkv'
dpkg -L $ours | sort -u >/tmp/installed

say "removing"
# With what was installed for them: packages with CUDA need more of GStreamer's libraries.
# shellcheck disable=SC2046 # a list of words
apt purge -y $(there | comm -13 /tmp/there -)
rm -rf /tmp/program
if dpkg -l $ours 2>/dev/null | grep -E '^(ii|rc)'; then exit 1; fi
left=
while IFS= read -r file; do
  if [ ! -d "$file" ] && [ -e "$file" ]; then left="$left $file"; fi
done </tmp/installed
[ -z "$left" ] || { echo "these files are left:$left"; exit 1; }
# All other new files are what apt, ldconfig and GStreamer write of any package.
files >/tmp/after
comm -13 /tmp/before /tmp/after | grep -v -E '^/(tmp|var/(lib/(apt|dpkg)|log|cache))/|^/home/somebody/.cache/gstreamer-1.0/' >/tmp/new || true
[ ! -s /tmp/new ] || { echo "these files are new:"; cat /tmp/new; exit 1; }
if find / -xdev \( -path /proc -o -path /packages \) -prune -o -name '*cudaconvolve*' -print | grep .; then exit 1; fi
echo "$(wc -l </tmp/installed) paths were installed, and nothing is left"
END

for suite in "$@"; do
  start=$(date +%s)
  root=$cache/$suite.run.$$
  trap 'rm -rf "$root"' EXIT
  root_unpack "$suite" "$root"
  mkdir -p "$root/packages/examples"
  cp "$packages"/*.deb "$root/packages/"
  cp examples/clip.mp4 "$root/packages/examples/"
  cp examples/clip-boxes.json "$root/packages/"
  readme_lines README.md | sed -n '1s/autovideosink/fakesink/p' >"$root/packages/line"
  [ -s "$root/packages/line" ] || { echo "README.md has no launch line with autovideosink"; exit 1; }
  cp out/package-inside "$root/packages/inside"
  echo "$suite: $(cat "$root/etc/debian_version")"
  status=0
  root_inside "$root" sh /packages/inside || status=$?
  root_keep_archives "$suite" "$root"
  [ "$status" = 0 ] || exit 1
  rm -rf "$root"
  trap - EXIT
  echo "$suite: passed, $(($(date +%s) - start)) s"
done
