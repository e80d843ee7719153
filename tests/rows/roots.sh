# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# Other releases of Debian, each in a folder of its own, for the scripts of tests/long/ that source this file with top
# set to the project's root. Only root can make them.
#
# The bare systems are kept as SUITE.tar in CACHE, $HOME/.cache/cudaconvolve without it, and what apt fetched in
# SUITE.archives. MIRROR names an archive of Debian; without it debootstrap's own counts.
. "${top:?}/tests/prepare.sh"
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cudaconvolve}
mirror=${MIRROR:-}

# What making a system needs; exits with 77 where that is missing.
roots_needed () {
  [ "$(id -u)" = 0 ] || { echo "only root can make a bare system"; exit 77; }
  command -v apt-get >/dev/null || { echo "there is no apt-get"; exit 77; }
  unshare --mount true 2>/dev/null || { echo "no bare system can be made here: unshare --mount fails, as in a chroot that is no mount"; exit 77; }
  command -v debootstrap >/dev/null || { apt_get update && apt_install debootstrap; }
  mkdir -p "$cache" "$top/out"
}

# root_unpack SUITE FOLDER: a bare system of this release in a new folder. Exits with 77 where debootstrap cannot make
# one.
root_unpack () {
  # Two scripts may want the same release at the same time.
  exec 9>"$cache/$1.lock"
  flock 9
  if [ ! -f "$cache/$1.tar" ]; then
    rm -rf --one-file-system "$cache/$1.new"
    # A debootstrap that is stopped leaves /proc mounted. In a namespace of its own that mount ends with debootstrap.
    # shellcheck disable=SC2086 # no word where MIRROR is not set
    unshare --mount debootstrap --variant=minbase "$1" "$cache/$1.new" $mirror >"$top/out/debootstrap.log" 2>&1 || {
      tail -n 5 "$top/out/debootstrap.log"
      echo "debootstrap cannot make $1${mirror:+ from $mirror}"
      exit 77
    }
    tar -C "$cache/$1.new" -cf "$cache/$1.tar.new" .
    mv "$cache/$1.tar.new" "$cache/$1.tar"
    rm -rf "$cache/$1.new"
  fi
  exec 9>&-
  mkdir -p "$2" "$cache/$1.archives"
  tar -C "$2" -xf "$cache/$1.tar"
  # Packages that were fetched before are not fetched again.
  cp -l "$cache/$1.archives"/*.deb "$2/var/cache/apt/archives/" 2>/dev/null || true
  # A mirror of "testing" may be some days behind.
  printf '%s\n' 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";' 'Acquire::Check-Valid-Until "false";' \
    >"$2/etc/apt/apt.conf.d/keep"
  rm -f "$2/etc/apt/apt.conf.d/docker-clean"
  cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# root_keep_archives SUITE FOLDER: what apt fetched in the system is kept for the next one.
root_keep_archives () {
  cp -n "$2"/var/cache/apt/archives/*.deb "$cache/$1.archives/" 2>/dev/null || true
}

# root_inside FOLDER COMMAND...: the command in the system, with /proc, and with mounts that end with it. Where
# ROOT_MOUNT is set, that folder of this machine is seen inside under the same name.
root_inside () {
  root=$1
  shift
  # shellcheck disable=SC2016 # the inner shell expands these
  ROOT_MOUNT=${ROOT_MOUNT:-} unshare --mount --pid --fork sh -c '
    mount -t proc proc "$0/proc" || exit
    if [ -n "$ROOT_MOUNT" ]; then
      mkdir -p "$0$ROOT_MOUNT" && mount --rbind "$(readlink -f "$ROOT_MOUNT")" "$0$ROOT_MOUNT" || exit
    fi
    exec chroot "$0" "$@"' "$root" "$@"
}

# root_with SUITE NAME PACKAGE...: a system in which these packages are installed, and which is kept as
# CACHE/SUITE-NAME. A name of a package that begins with "?" may be missing. Sets `root` to the folder. ROOT_SECTIONS
# adds sections of the archive, as "contrib non-free".
root_with () {
  suite=$1
  root=$cache/$1-$2
  shift 2
  # Two scripts may want the same system at the same time.
  exec 8>"$root.lock"
  flock 8
  if [ "$(cat "$root/installed" 2>/dev/null)" != "$*" ]; then
    [ -d "$root/etc" ] || root_unpack "$suite" "$root"
    if [ -n "${ROOT_SECTIONS:-}" ]; then
      sed -i "s/^\(deb .* main\).*/\1 $ROOT_SECTIONS/" "$root/etc/apt/sources.list"
    fi
    cat >"$root/install" <<'INSTALL'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt-get -q update
names=
for name in "$@"; do
  case $name in
    \?*) [ -z "$(apt-cache search --names-only "^${name#?}\$")" ] || names="$names ${name#?}" ;;
    *) names="$names $name" ;;
  esac
done
apt-get -q install -y --no-install-recommends $names
INSTALL
    root_inside "$root" sh /install "$@" >"$top/out/$(basename "$root")-apt.log" 2>&1 || {
      tail -n 20 "$top/out/$(basename "$root")-apt.log"
      echo "apt-get could not install packages in $(basename "$root")"
      return 1
    }
    root_keep_archives "$suite" "$root"
    rm -f "$root"/var/cache/apt/archives/*.deb
    echo "$*" >"$root/installed"
  fi
  exec 8>&-
}

# root_sources FOLDER: the project's files in a folder of the system, whose name inside is `sources`. Where SOURCES
# names that folder, it is kept with what was built in it, and the next run builds what changed.
root_sources () {
  sources=${SOURCES:-/src.$$}
  trap 'root_sources_end' EXIT
  mkdir -p "$1$sources"
  (cd "$top" && git ls-files -z --cached --others --exclude-standard >out/root-sources &&
    tar --null --ignore-failed-read -cf - -T out/root-sources) | tar -C "$1$sources" -xf -
}

root_sources_end () {
  [ -n "${SOURCES:-}" ] || rm -rf "${root:?}${sources:?}"
  trap - EXIT
}

# root_build NAME [OPTION...]: builds what root_sources put into the system `root` with these options of `meson
# setup`, and runs the tests. A second call builds what the options change. Prints a line with the versions and
# counts. CC is taken over; TESTS are arguments of `meson test`, or "no"; JOBS sets how many programs run at once.
# What the commands print goes to out/NAME.log.
root_build () {
  built=$1
  shift
  log=$top/out/$built.log
  begin=$(date +%s)
  cat >"$root$sources/inside" <<'INSIDE'
set -eu
export LC_ALL=C.UTF-8 HOME=/root
if [ -d build ]; then meson setup --reconfigure build "$@"; else meson setup build "$@"; fi
echo "versions: GStreamer $(pkg-config --modversion gstreamer-1.0), $("${CC:-cc}" --version | sed 1q)"
ninja -C build -k 0 -j "${JOBS:-$(nproc)}"
# shellcheck disable=SC2086 # TESTS is a list of words
[ "${TESTS:-}" = no ] ||
  meson test -C build --no-rebuild --num-processes "${JOBS:-$(nproc)}" --timeout-multiplier 4 ${TESTS:-}
INSIDE
  status=0
  # shellcheck disable=SC2016 # the inner shell expands these
  root_inside "$root" sh -c 'cd "$0" && exec nice sh inside "$@"' "$sources" -Dwerror=true "$@" >"$log" 2>&1 || status=$?
  cp "$root$sources/build/meson-logs/testlog.txt" "$top/out/$built-tests.log" 2>/dev/null || true
  result=$(awk '/^Ok:/ { ok = $2 } /^Fail:/ { failed = $2 } /^Timeout:/ { late = $2 } /^Skipped:/ { skipped = $2 }
    END {
      if (ok == "") print "no tests were run"
      else print ok " passed, " failed + late " failed, " skipped + 0 " skipped"
    }' "$log")
  [ "$status" = 0 ] || {
    grep -E 'FAILED|FAIL |TIMEOUT|ERROR|error:|warning:' "$log" | head -n 20
    tail -n 5 "$log"
    result="FAILED, $result"
  }
  echo "$built: $(sed -n 's/^versions: //p' "$log"), $*: $result, $(($(date +%s) - begin)) s"
  return "$status"
}
