# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# Builds with a cross compiler for another machine, and runs the tests under QEMU's user mode. tests/long/arm64.sh and
# tests/long/s390x.sh source this file in the project's root.

# Finds or installs Debian packages for this machine: cross_packages PACKAGE...
cross_packages () {
  command -v dpkg-query >/dev/null || { echo "the packages come from Debian"; exit 77; }
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" = 'install ok installed' ] ||
      lacking="${lacking:-} $package"
  done
  [ -n "${lacking:-}" ] || return 0
  [ "$(id -u)" = 0 ] || { echo "only root can install$lacking"; exit 77; }
  # shellcheck disable=SC2086 # a list of words
  DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $lacking || {
    echo "apt-get could not install$lacking"
    exit 77
  }
}

# The other machine's libraries, unpacked and not configured: no program of that machine has to run for that.
# cross_root FOLDER ARCHITECTURE
cross_root () {
  [ ! -f "$1/complete" ] || return 0
  # shellcheck disable=SC1091
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ "$(id -u)" = 0 ] || { echo "only root can unpack the libraries of $2"; exit 77; }
  rm -rf "$1"
  mkdir -p "$(dirname "$1")"
  (cd / && mmdebstrap --mode=root --variant=extract --architectures="$2" --include=libc6-dev,libgstreamer1.0-dev \
    --include=libgstreamer-plugins-base1.0-dev,libgstreamer-plugins-bad1.0-dev,zlib1g-dev,gstreamer1.0-plugins-base \
    --include=gstreamer1.0-plugins-good,gstreamer1.0-plugins-bad,gstreamer1.0-libav "$suite" "$1") ||
    { echo "mmdebstrap could not unpack the libraries of $2"; exit 77; }
  touch "$1/complete"
}

# cross_tests ARCHITECTURE CPU ENDIAN [TEST...]: builds in build-ARCHITECTURE/ and runs these tests, or all.
# GST_REGISTRY_FORK=no: GStreamer cannot start its scanner, which is a program of the other machine.
cross_tests () {
  architecture=$1
  cpu=$2
  endian=$3
  shift 3
  triplet=$cpu-linux-gnu
  root=${XDG_CACHE_HOME:-$HOME/.cache}/cudaconvolve/$architecture
  cross_packages meson ninja-build pkg-config python3 mmdebstrap qemu-user-static "gcc-$triplet"
  cross_root "$root" "$architecture"
  mkdir -p out
  cat >"out/$architecture.ini" <<END
[constants]
root = '$root'
[binaries]
c = '$triplet-gcc'
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-$cpu-static', '-L', root]
[built-in options]
c_args = ['--sysroot=' + root]
c_link_args = ['--sysroot=' + root]
[properties]
sys_root = root
pkg_config_libdir = [root / 'usr/lib/$triplet/pkgconfig', root / 'usr/share/pkgconfig']
[host_machine]
system = 'linux'
cpu_family = '$cpu'
cpu = '$cpu'
endian = '$endian'
END
  [ -f "build-$architecture/build.ninja" ] ||
    meson setup "build-$architecture" --cross-file "out/$architecture.ini" -Dcuda=disabled -Dwerror=true
  nice ninja -C "build-$architecture" -j "${JOBS:-$(nproc)}"
  GST_REGISTRY_FORK=no nice meson test -C "build-$architecture" --no-rebuild --num-processes "${JOBS:-$(nproc)}" \
    --timeout-multiplier 30 "$@"
}
