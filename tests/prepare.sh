# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# Shared by the scripts, which source this file with top set to the project's root: installing packages, and building.
# MESON_ARGS in the environment holds further options for `meson setup`. `useful` are packages that are installed with the others
# where apt has them, and `targets` what build_project () builds, instead of everything.

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

# The oldest versions that can build the project, as meson.build states them.
oldest_meson=$(sed -n "s/^ *meson_version: '>= \([0-9.]*\)'.*/\1/p" "${top:?}/meson.build")
oldest_gstreamer=$(sed -n "s/^gst_version = '>= \([0-9.]*\)'.*/\1/p" "$top/meson.build")
releases="Debian 12, Ubuntu 24.04, Fedora 38 and newer ones have both"

# at_least VERSION OLDEST: compares the numbers between the points, without a package's epoch and revision.
at_least () {
  printf '%s %s\n' "${1#*:}" "$2" | awk '{
    sub (/[^0-9.].*/, "", $1)
    split ($1, is, ".")
    count = split ($2, oldest, ".")
    for (i = 1; i <= count; i++)
      if (is[i] + 0 != oldest[i] + 0)
        exit is[i] + 0 < oldest[i] + 0
  }'
}

# The installed versions; nothing is printed where there is none.
meson_version () {
  meson --version 2>/dev/null || true
}

gstreamer_version () {
  pkg-config --modversion gstreamer-1.0 2>/dev/null || true
}

# The tools, libraries and elements that are missing, for systems without dpkg and for libraries that were built by hand.
missing_parts () {
  for tool in meson ninja pkg-config cc c++ gst-launch-1.0 gst-inspect-1.0; do
    command -v "$tool" >/dev/null || echo "$tool"
  done
  for library in gstreamer-1.0 gstreamer-video-1.0 gstreamer-check-1.0; do
    pkg-config --exists "$library >= $oldest_gstreamer" 2>/dev/null || echo "$library >= $oldest_gstreamer"
  done
  for element in decodebin qtdemux avdec_h264 vp8enc webmmux pngenc; do
    gst-inspect-1.0 --exists "$element" 2>/dev/null || echo "GStreamer element $element"
  done
}

installed () {
  [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = 'install ok installed' ]
}

# too_old NAME OLDEST VERSION PACKAGE: prints why NAME is too old, or nothing. VERSION is the installed one. Where VERSION
# is empty, the version of PACKAGE that apt would install counts. PACKAGE is empty where there is no apt.
too_old () {
  if [ -n "$3" ] && at_least "$3" "$2"; then return; fi
  candidate=
  if [ -n "$4" ]; then
    candidate=$(LC_ALL=C apt-cache policy "$4" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9].*\)/\1/p')
  fi
  if [ -n "$candidate" ] && at_least "$candidate" "$2"; then
    [ -z "$3" ] || echo "$1 $3 is installed; apt has $candidate, so upgrade or remove the installed one"
  elif [ -n "$3" ]; then
    echo "$1 $3 is installed"
  elif [ -n "$candidate" ]; then
    echo "$1 $candidate is what apt would install"
  fi
}

# Fails where Meson or GStreamer are too old here and apt, if there is one, does not have newer ones.
versions_suffice () {
  old=$(too_old Meson "$oldest_meson" "$(meson_version)" "${1:+meson}"
    too_old GStreamer "$oldest_gstreamer" "$(gstreamer_version)" "${1:+libgstreamer1.0-dev}")
  [ -n "$old" ] || return 0
  say "cudaconvolve needs Meson $oldest_meson and GStreamer $oldest_gstreamer, or newer ones. This system is too old:"
  echo "$old" | sed 's/^/  /' >&2
  say "$releases. Nothing was installed."
  return 1
}

missing_packages () {
  for package in "$@"; do
    installed "$package" || echo "$package"
  done
}

# Those of the useful packages that are missing and that apt has.
useful_packages () {
  # shellcheck disable=SC2086 # a list of words
  for package in $(missing_packages ${useful:-}); do
    LC_ALL=C apt-cache policy "$package" 2>/dev/null | grep -q '^ *Candidate: *[0-9]' && echo "$package"
  done
}

# Runs a command as root: directly where the user is root, otherwise with sudo, which must not ask for a password.
as_root () {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root () {
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

# apt_get ARGUMENTS...: the output is shown where apt-get fails.
apt_get () {
  log=$(mktemp)
  if as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    tail -n 20 "$log" >&2
    say "apt-get failed; its whole output is in $log"
    return 1
  fi
}

apt_install () {
  say "Installing $* (apt-get)"
  apt_get install -y --no-install-recommends "$@"
}

# Installs what is missing, or lists what is missing and fails. Versions are checked before anything is installed.
install_missing () {
  wanted=$packages
  if have_display; then wanted="$wanted $window_packages"; fi
  apt=
  if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    apt=yes
    # shellcheck disable=SC2086 # a list of words
    lacking=$(missing_packages $wanted)
    if [ -n "$lacking" ] && can_be_root; then
      apt_get update && versions_suffice apt || return 1
      # shellcheck disable=SC2086,SC2046
      apt_install $lacking $(useful_packages)
      return
    fi
  fi
  versions_suffice $apt || return 1
  if [ -n "$apt" ] && [ -z "$lacking" ]; then return 0; fi
  parts=$(missing_parts)
  [ -n "$parts" ] || return 0
  say "These are missing:"
  echo "$parts" | sed 's/^/  /' >&2
  if [ -n "$apt" ]; then
    say "Install them, here with:"
    # shellcheck disable=SC2086
    say "  sudo apt-get install --no-install-recommends" $lacking
  else
    say "Install GStreamer $oldest_gstreamer or newer with its headers and the plugin sets base, good, bad and libav, Meson"
    say "$oldest_meson or newer, Ninja, pkg-config, a C and a C++ compiler. $releases."
    say "On Debian and Ubuntu these are the packages"
    # shellcheck disable=SC2086
    echo $packages | fold -s -w 110 | sed 's/^/  /' >&2
  fi
  return 1
}

# The compute capabilities of the GPUs here, as numbers such as 90, one to a line. Prints nothing where there is no GPU.
gpu_capabilities () {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n 's/^ *\([0-9]*\)\.\([0-9]\) *$/\1\2/p' || true
}

# The compute capabilities that nvcc compiles for, one to a line. Prints nothing where there is no nvcc.
nvcc_capabilities () {
  PATH=$PATH:/usr/local/cuda/bin nvcc --list-gpu-arch 2>/dev/null | sed -n 's/^compute_\([0-9]*\)$/\1/p' || true
}

# What to compile the kernels for: the GPUs of this machine, or 75 where there is none, for 75 is the oldest that the
# kernels support. A GPU that is newer than nvcc gets the newest that nvcc knows: the driver compiles its PTX.
architectures_here () {
  { gpu_capabilities | sed 's/^/gpu /'; nvcc_capabilities; } | awk '
    $1 == "gpu" { gpus[count++] = $2; next }
    { known[$1] }
    END {
      for (i = 0; i < count; i++) {
        best = 75
        for (number in known)
          if (number + 0 <= gpus[i] + 0 && number + 0 > best + 0)
            best = number
        print best
      }
      if (count == 0)
        print 75
    }' | sort -nu | paste -s -d ';' -
}

# The options for the GPU code: for the GPUs of this machine; without one for 75, compiled fast, because nobody runs the code here.
# gpu_options KIND: where KIND is ptx, also as PTX for every generation.
gpu_options () {
  fast=true
  [ -z "$(gpu_capabilities)" ] || fast=false
  echo "-Dcuda-architectures=${1:+$1;}$(architectures_here) -Dcuda-fast-compile=$fast"
}

# Runs Ninja, which shows n of m and what is compiled: on a terminal in one line that changes, otherwise in a line each.
# Only without a terminal is the output in the log too, because Ninja has to write to the terminal itself.
ninja_build () {
  # shellcheck disable=SC2086 # a list of words
  if [ -t 2 ]; then
    ninja -C "$1" ${targets:-} >&2
  else
    rm -f "$log.failed"
    { ninja -C "$1" ${targets:-} 2>&1 || : >"$log.failed"; } | tee -a "$log" >&2
    [ ! -e "$log.failed" ]
  fi
}

# build_project FOLDER [MESON OPTIONS...]: configures FOLDER where that is new or has options given, and builds.
# A new folder is for the GPU of this machine where neither MESON_ARGS nor the options name architectures. A folder that was made
# before there was a GPU is configured again.
build_project () {
  folder=$1
  shift
  mkdir -p "${top:?}/out"
  log=$top/out/$(basename "$folder").log
  # shellcheck disable=SC2086,SC2046 # MESON_ARGS and the options are lists of words
  if [ ! -f "$folder/build.ninja" ]; then
    case "${MESON_ARGS:-} $*" in
      *cuda-architectures=* | *cuda=disabled*) ;;
      *) set -- $(gpu_options "") "$@" ;;
    esac
    set -- meson setup "$folder" "$top" ${MESON_ARGS:-} "$@"
  elif [ $# = 0 ] && [ -n "$(gpu_capabilities)" ] && grep -q 'cuda-fast-compile = true' "$folder/meson-private/cmd_line.txt"; then
    set -- meson setup --reconfigure "$folder" "$top" ${MESON_ARGS:-} $(gpu_options "")
  elif [ $# -gt 0 ] || [ -n "${MESON_ARGS:-}" ]; then
    set -- meson setup --reconfigure "$folder" "$top" ${MESON_ARGS:-} "$@"
  else
    set -- true
  fi
  say "Building in $folder"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    say "The configuration failed; its whole output is in $log"
    return 1
  fi
  sed -n 's/^Message: //p' "$log" >&2
  if ! ninja_build "$folder"; then
    say "The build failed; what the compiler says stands above"
    return 1
  fi
}

# use_build FOLDER: sets the environment in which GStreamer finds the plugin that was built in FOLDER.
use_build () {
  GST_PLUGIN_PATH=$1/plugin${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  export GST_PLUGIN_PATH
}
