# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# What the scripts share: installing what the build and the examples need, and building. To be sourced, with top set to
# the project's root. MESON_ARGS in the environment holds further options for `meson setup`.

packages="meson ninja-build pkg-config gcc g++ libc6-dev
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev zlib1g-dev
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav"
window_packages="gstreamer1.0-x gstreamer1.0-gl"

say () {
  printf '%s\n' "$*" >&2
}

have_display () {
  [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]
}

# What is not there of the tools, libraries and elements themselves, for systems without dpkg and for builds by hand.
missing_parts () {
  for tool in meson ninja pkg-config cc c++ gst-launch-1.0 gst-inspect-1.0; do
    command -v "$tool" >/dev/null || echo "$tool"
  done
  for library in gstreamer-1.0 gstreamer-video-1.0 gstreamer-check-1.0; do
    pkg-config --exists "$library >= 1.22" 2>/dev/null || echo "$library >= 1.22"
  done
  for element in decodebin qtdemux avdec_h264 vp8enc webmmux pngenc; do
    gst-inspect-1.0 --exists "$element" 2>/dev/null || echo "GStreamer element $element"
  done
}

missing_packages () {
  for package in "$@"; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
      'install ok installed') ;;
      *) echo "$package" ;;
    esac
  done
}

# With nothing where we are root, with sudo where it asks for no password, not at all otherwise.
as_root () {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root () {
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

apt_install () {
  log=$(mktemp)
  say "Installing $* (apt-get)"
  if as_root apt-get -q update >"$log" 2>&1 &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@" >>"$log" 2>&1
  then
    rm -f "$log"
  else
    tail -n 20 "$log" >&2
    say "apt-get failed; its whole output is in $log"
    return 1
  fi
}

# Installs what is missing, or lists it and fails.
install_missing () {
  wanted=$packages
  if have_display; then wanted="$wanted $window_packages"; fi
  apt=no
  if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    apt=yes
    # shellcheck disable=SC2086 # a list of words
    lacking=$(missing_packages $wanted)
    [ -n "$lacking" ] || return 0
    if can_be_root; then
      # shellcheck disable=SC2086
      apt_install $lacking
      return
    fi
  fi
  parts=$(missing_parts)
  [ -n "$parts" ] || return 0
  say "These are missing:"
  echo "$parts" | sed 's/^/  /' >&2
  if [ "$apt" = yes ]; then
    say "Install them, here with:"
    # shellcheck disable=SC2086
    say "  sudo apt-get install --no-install-recommends" $lacking
  else
    say "Install GStreamer 1.22 or newer with its headers and the plugin sets base, good, bad and libav, Meson 1.0 or"
    say "newer, Ninja, pkg-config, a C and a C++ compiler. On Debian and Ubuntu these are the packages"
    # shellcheck disable=SC2086
    echo $packages | fold -s -w 110 | sed 's/^/  /' >&2
  fi
  return 1
}

# build_project FOLDER [MESON OPTIONS...]: configures FOLDER where that is new or has options given, and builds.
build_project () {
  folder=$1
  shift
  mkdir -p "${top:?}/out"
  log=$top/out/$(basename "$folder").log
  say "Building in $folder"
  # shellcheck disable=SC2086 # MESON_ARGS is a list of words
  if [ ! -f "$folder/build.ninja" ]; then
    set -- meson setup "$folder" "$top" ${MESON_ARGS:-} "$@"
  elif [ $# -gt 0 ] || [ -n "${MESON_ARGS:-}" ]; then
    set -- meson setup --reconfigure "$folder" "$top" ${MESON_ARGS:-} "$@"
  else
    set -- true
  fi
  if "$@" >"$log" 2>&1 && meson compile -C "$folder" >>"$log" 2>&1; then
    sed -n 's/^Message: //p' "$log" >&2
  else
    tail -n 40 "$log" >&2
    say "The build failed; its whole output is in $log"
    return 1
  fi
}

# The environment in which GStreamer finds the plugin built in FOLDER.
use_build () {
  GST_PLUGIN_PATH=$1/plugin${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  export GST_PLUGIN_PATH
}
