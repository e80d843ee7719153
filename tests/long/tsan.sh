#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The element under ThreadSanitizer: sh tests/long/tsan.sh [TEST...]
#
# ThreadSanitizer sees only the locks of code that was built with it. So GLib, GStreamer and GStreamer's base plugins
# are built with -fsanitize=thread from Debian's sources, once, in a cache folder. The project is then built against
# them in build-tsan-element/, and its tests of the element run there, each race being a failure. TEST is a name of
# `meson test`; without one those run that are listed at the end. They take about an hour on two cores.
#
# CUDACONVOLVE_TSAN   folder with the libraries; default: cudaconvolve/tsan in the user's cache
#
# tests/long/tsan.supp lists what is a fault of GLib or GStreamer, or none at all, with the reasons.
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
cache=${CUDACONVOLVE_TSAN:-${XDG_CACHE_HOME:-$HOME/.cache}/cudaconvolve/tsan}
prefix=$cache/prefix

cannot () {
  echo "$1"
  exit 77
}

# Tools of the build. Debian's packages are installed where this is root; else what is missing is a reason not to run.
install_tools () {
  command -v apt-get >/dev/null || cannot "the sources of GLib and GStreamer come from Debian's packages: there is no apt-get"
  missing=
  for package in bison flex dpkg-dev meson ninja-build pkg-config gcc libffi-dev libpcre2-dev zlib1g-dev \
    libgstreamer-plugins-base1.0-dev gstreamer1.0-libav gstreamer1.0-plugins-bad gstreamer1.0-plugins-good; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || cannot "these packages are missing:$missing"
  # shellcheck disable=SC2086 # names of packages
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
    cannot "these packages cannot be installed:$missing"
}

# apt-get with lists of its own, in which the machine's sources have deb-src in the place of deb.
apt_sources () {
  apt-get -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$cache/apt" -o Dir::State::lists="$cache/apt/lists" \
    -o APT::Sandbox::User=root "$@"
}

download () {
  mkdir -p "$cache/apt/lists/partial" "$cache/src"
  rm -f "$cache"/apt/*.list "$cache"/apt/*.sources
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$cache/apt/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$file" ] || sed -n 's/^deb \(.*\)/deb-src \1/p' "$file" >"$cache/apt/$(basename "$file" .list).list"
  done
  apt_sources update || return 1
  cd "$cache/src"
  # A mirror may list a version of the security updates that it does not have; the release's own is as good here.
  for source in glib2.0 gstreamer1.0 gst-plugins-base1.0; do
    rm -rf "$source"-[0-9]*/
    apt_sources source "$source" ||
      apt_sources source --only-source -t "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$source" || return 1
  done
  cd "$top"
}

# build_library SOURCE OPTION...: builds and installs one of the three. The programs that run in a build are
# instrumented, too: what is found in them is of no interest.
build_library () {
  source=$(echo "$cache"/src/"$1"-[0-9]*/)
  shift
  rm -rf "$source/build-tsan"
  meson setup "$source/build-tsan" "$source" --prefix="$prefix" --libdir=lib --buildtype=debugoptimized --wrap-mode=nofallback \
    -Doptimization=1 -Db_sanitize=thread -Db_lundef=false -Dnls=disabled "$@"
  TSAN_OPTIONS=report_bugs=0 nice ninja -C "$source/build-tsan"
  TSAN_OPTIONS=report_bugs=0 meson install -C "$source/build-tsan" --no-rebuild --quiet
}

# ThreadSanitizer does not see the assembler of g_bit_lock(), whose other form are atomic functions of the compiler.
build_prefix () {
  download || cannot "the sources of GLib and GStreamer cannot be downloaded"
  rm -rf "$prefix"
  sed -i 's/# *define USE_ASM_GOTO 1/#undef USE_ASM_GOTO/' "$cache"/src/glib2.0-[0-9]*/glib/gbitlock.c
  build_library glib2.0 -Dtests=false -Dselinux=disabled -Dlibmount=disabled -Dxattr=false -Dlibelf=disabled -Dman=false
  build_library gstreamer1.0 --auto-features=disabled -Dcheck=enabled -Dtools=enabled -Dptp-helper-permissions=none
  build_library gst-plugins-base1.0 --auto-features=disabled -Dapp=enabled -Dcompositor=enabled -Dplayback=enabled \
    -Dtypefind=enabled -Dvideoconvertscale=enabled -Dvideorate=enabled -Dvideotestsrc=enabled
  # Plugins that only decode, crop or colour what the tests feed in. Not instrumented: their locks are GLib's, which are.
  mkdir -p "$prefix/plain"
  for plugin in isomp4 jpeg libav png videobox videocrop videofilter videoparsersbad; do
    cp "$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgst$plugin.so" "$prefix/plain"
  done
  echo "$recipe" >"$prefix/recipe"
}

cc=${CC:-cc}
[ "$("$cc" -print-file-name=libtsan.so)" != libtsan.so ] || cannot "the compiler has no libtsan"
install_tools

# The libraries are built anew where the compiler or this file's way of building changed.
recipe="1, $("$cc" --version | head -n 1)"
if [ "$(cat "$prefix/recipe" 2>/dev/null)" != "$recipe" ]; then
  build_prefix
fi

# Meson links what it builds with the prefix's folder in the program, and what it finds by pkg-config alone.
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
export LD_LIBRARY_PATH="$prefix/lib"
build=$top/build-tsan-element
if [ "$(cat "$build/recipe" 2>/dev/null)" != "$prefix $recipe" ]; then
  rm -rf "$build"
  TSAN_OPTIONS=report_bugs=0 meson setup "$build" -Dcuda=disabled -Dgstcuda=disabled -Danalytics=disabled -Dexamples=false \
    -Db_sanitize=thread -Db_lundef=false -Doptimization=1
  echo "$prefix $recipe" >"$build/recipe"
fi
TSAN_OPTIONS=report_bugs=0 nice ninja -C "$build"

# The plugins of the machine are not for these libraries. A frame takes some twenty times as long as otherwise.
export GST_PLUGIN_SYSTEM_PATH_1_0="$prefix/lib/gstreamer-1.0:$prefix/plain"
export GST_PLUGIN_SCANNER="$prefix/libexec/gstreamer-1.0/gst-plugin-scanner"
export G_SLICE=always-malloc
export TSAN_OPTIONS="suppressions=$top/tests/long/tsan.supp second_deadlock_stack=1 history_size=7"
[ $# -gt 0 ] || set -- element errors flights memory pipelines masks regions regions_over_device windows \
  windows_over_device layer_element layer_over_device layer_caps pairs pairs_over_device soak soak_over_device
meson test -C "$build" --no-rebuild --num-processes "$(nproc)" --timeout-multiplier 20 --print-errorlogs "$@"
