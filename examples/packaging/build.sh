#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes Debian packages: sh examples/packaging/build.sh [OPTIONS]
#
#   --cuda                 with CUDA, for all GPUs; takes half an hour and more. Without this option: for the CPU
#   --architectures LIST   with CUDA for fewer GPUs, as in "75;90"
#   --from TARBALL         a release; without this option the last commit of this folder, where that is a git tree
#   --output FOLDER        without this option out/packages
#   --no-lintian           does not look for faults in the packages
#
# DEBFULLNAME and DEBEMAIL name the maintainer of the packages. Packages that are needed to build are installed where the user
# is root; otherwise the script lists them.
set -eu
# shellcheck source=examples/packaging/common.sh
. "$(dirname "$0")/common.sh"
output=$top/out/packages
tarball=
commit=
lintian=yes
own_values=--from
own_option () {
  case $1 in
    --from) tarball=$(realpath "$2") ;;
    --no-lintian) lintian= ;;
    *) return 1 ;;
  esac
}
take_options "$@"

. "$top/tests/prepare.sh"
command -v dpkg-query >/dev/null || { say "Debian packages are made on Debian or Ubuntu"; exit 1; }
# shellcheck disable=SC2046 # a list of words
set -- $(missing_packages build-essential debhelper devscripts fakeroot xz-utils ${lintian:+lintian} \
  $(sed -n '/^Build-Depends:/,/^[A-Z]/s/^ \([a-z0-9.-]*\).*/\1/p' "$top/examples/packaging/debian/control" | grep -v debhelper-compat))
if [ $# -gt 0 ]; then
  can_be_root || { say "Install these: $*"; exit 1; }
  apt_get update && apt_install "$@"
fi

# The sources, as NAME_VERSION.orig.tar.xz beside the folder that dpkg-buildpackage works in.
work=$output/work${cuda:+-cuda}
rm -rf "$work"
mkdir -p "$work"
if [ -n "$tarball" ]; then
  upstream=$(basename "$tarball" .tar.xz | sed 's/^cudaconvolve-//')
  cp "$tarball" "$work/cudaconvolve_$upstream.orig.tar.xz"
else
  version=$(project_version)
  # lintian warns of file names that are longer than with this and +cuda130; the commit stands in the changelog.
  upstream=$version+git$(cd "$top" && TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M%S --format=%cd)
  commit=$(cd "$top" && git log -1 --format=%h)
  (cd "$top" && git archive --prefix="cudaconvolve-$upstream/" HEAD) | xz -6 >"$work/cudaconvolve_$upstream.orig.tar.xz"
fi
mkdir "$work/source"
tar -C "$work/source" --strip-components=1 -xf "$work/cudaconvolve_$upstream.orig.tar.xz"
cp -r "$work/source/examples/packaging/debian" "$work/source/debian"
revision=1
if [ -n "$cuda" ]; then
  # A point in the revision is for packages that are not the maintainer's own.
  suffix=$(cuda_version)
  revision=1+cuda$suffix
fi
cd "$work/source"
if [ -n "${DEBEMAIL:-}" ]; then
  sed -i "s/^Maintainer: .*/Maintainer: ${DEBFULLNAME:-cudaconvolve developers} <$DEBEMAIL>/" debian/control
fi
maintainer=$(sed -n 's/^Maintainer: //p' debian/control)
# The date is that of the sources, so that the packages do not depend on when they are made.
cat >debian/changelog <<END
cudaconvolve ($upstream-$revision) unstable; urgency=medium

  * Version $upstream${commit:+, commit $commit}.
    NEWS.md, which is installed as the upstream changelog, has the changes.

 -- $maintainer  $(LC_ALL=C TZ=UTC date -R -r NEWS.md)
END

export DEB_BUILD_PROFILES="${cuda:+pkg.cudaconvolve.cuda}" ARCHITECTURES="$architectures"
DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage -us -uc -sa
cd "$work"
mv ./*.deb ./*.dsc ./*.tar.xz ./*.changes ./*.buildinfo "$output"
cd "$output"
rm -rf "$work"
changes=$(ls -t ./*"_${upstream}-${revision}_"*.changes)
if [ -n "$lintian" ]; then
  echo "lintian --fail-on error,warning $changes"
  lintian --fail-on error,warning "$changes"
  echo "lintian found neither errors nor warnings"
fi
sed -n 's/.* \([^ ]*\.deb\)$/\1/p' "$changes" | sort -u
