#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a release from the last commit: sh examples/packaging/release.sh [OPTIONS] VERSION
#
#   --prepare       writes VERSION into meson.build, NEWS.md and CITATION.cff, commits that, and ends
#   --tag           makes the annotated tag at the end; without --tag or --sign there is none
#   --sign          makes a signed tag instead
#   --tests TIER    none, quick (tests/run.sh), all (tests/run.sh --all; the default), long (also tests/long.sh)
#   --old-results   lists results that are older than the code that they measure, where they are an error otherwise
#   --no-packages   no Debian packages and no wheel
#   --cuda          also packages and a wheel with CUDA
#   --try SUITES    the bare systems in which all are tried, "bookworm trixie" without it; "" for none
#
# The tree must be clean, and VERSION must stand in these files. The result is in out/release/VERSION: the tarball, the list of what
# is inside with licences (SPDX), the packages, the wheel, and SHA256SUMS. README.md here says what VERSION is to be.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
. "$top/tests/prepare.sh"
prepare=
tag=
tests=all
with_packages=yes
cuda=
results=--release
suites='bookworm trixie'
version=
while [ $# -gt 0 ]; do
  case $1 in
    --prepare) prepare=yes ;;
    --tag) tag=-a ;;
    --old-results) results= ;;
    --try | --tests)
      [ $# -ge 2 ] || { echo "$1: a value is missing" >&2; exit 2; }
      if [ "$1" = --try ]; then suites=$2; else tests=$2; fi
      shift ;;
    --no-packages) with_packages= ;;
    --cuda) cuda=--cuda ;;
    --sign) tag=-s ;;
    -h | --help)
      sed -n '3,16s/^# \{0,1\}//p' "$0"
      exit 0 ;;
    -*)
      echo "$1: not known; --help lists the options" >&2
      exit 2 ;;
    *) version=$1 ;;
  esac
  shift
done

fail () {
  echo "$*" >&2
  exit 1
}

printf '%s\n' "$version" | grep -q -x '[0-9]\{1,\}\.[0-9]\{1,\}\.[0-9]\{1,\}' || fail "VERSION has three numbers, as in 1.0.1"
case $tests in
  none | quick | all | long) ;;
  *) fail "--tests takes none, quick, all or long" ;;
esac
in_meson=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
heading=$(sed -n '/^## /{p;q;}' NEWS.md)
[ -z "$tag$prepare" ] || git var GIT_COMMITTER_IDENT >/dev/null 2>&1 || fail "A commit and a tag need your name: git config user.name and user.email."

# What a bare system lacks of this script itself.
if command -v dpkg-query >/dev/null; then
  # shellcheck disable=SC2046 # a list of words
  set -- $(missing_packages python3 xz-utils)
  if [ $# -gt 0 ]; then
    can_be_root || fail "Install these: $*"
    apt_get update && apt_install "$@"
  fi
fi
echo "Is the tree clean?"
[ -z "$(git status --porcelain)" ] || { git status --short; fail "No: commit or remove these."; }

if [ -n "$prepare" ]; then
  [ "$heading" = "## $version (unreleased)" ] ||
    fail "NEWS.md begins with \"$heading\", and \"## $version (unreleased)\" was expected."
  sed -i "s/^  version: '.*',$/  version: '$version',/" meson.build
  sed -i "0,/^## .*/s//## $version ($(date +%Y-%m-%d))/" NEWS.md
  sed -i -e "s/^version: .*/version: $version/" -e '/^date-released:/d' CITATION.cff
  echo "date-released: $(date +%Y-%m-%d)" >>CITATION.cff
  git commit -q -m "NEWS.md, meson.build: version $version" meson.build NEWS.md CITATION.cff
  git show --stat --format='%h %s' HEAD
  exit 0
fi

echo "Do meson.build, NEWS.md and CITATION.cff have version $version?"
[ "$in_meson" = "$version" ] || fail "No: meson.build has $in_meson. --prepare changes that."
printf '%s\n' "$heading" | grep -q -x "## $version ([0-9-]\{10\})" ||
  fail "No: NEWS.md begins with \"$heading\", and \"## $version (DATE)\" was expected."
grep -q -x "version: $version" CITATION.cff || fail "No: CITATION.cff has another version. --prepare changes that."
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "The tag v$version exists."

echo "Are the results as new as the code that they measure?"
# shellcheck disable=SC2086 # no word where old results may be
python3 tests/ages.py $results || fail "No: measure these again, or say in tests/results/measured.csv why they hold. --old-results passes over them."

echo "Does the number of the shared library fit?"
number=$(sed -n "s/^abi_number = '\(.*\)'$/\1/p" kernels/meson.build)
for place in "soname libcudaconvolve.so.$number:kernels/abi.txt" "LIBCUDACONVOLVE_$number:kernels/libcudaconvolve.map" \
  "Package: libcudaconvolve$number:examples/packaging/debian/control"; do
  grep -q -x "${place%:*}" "${place##*:}" || fail "No: ${place##*:} lacks \"${place%:*}\"."
done
last=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
mkdir -p out
if [ -n "$last" ] && git show "$last:kernels/abi.txt" >out/abi-before 2>/dev/null; then
  if grep -q -x "soname libcudaconvolve.so.$number" out/abi-before; then
    # Lines of before that are gone, other than counts, which grow with new values.
    gone=$(grep -v -E '^#|CONVOLVE_(LAYER_)?N_' out/abi-before | grep -v -x -F -f kernels/abi.txt || true)
    [ -z "$gone" ] || fail "No: since $last these changed, and the number is still $number:
$gone"
  else
    [ "${last%%.*}" != "v${version%%.*}" ] || fail "No: the number changed since $last, and the first number of the version did not."
  fi
fi

echo "Tests: $tests"
case $tests in
  quick) sh tests/run.sh ;;
  all) sh tests/run.sh --all ;;
  long) sh tests/run.sh --all && sh tests/long.sh ;;
esac

name=cudaconvolve-$version
output=$top/out/release/$version
rm -rf "$output"
mkdir -p "$output"
echo "Making $name.tar.xz"
git archive --prefix="$name/" HEAD | xz -6 >"$output/$name.tar.xz"
mkdir "$output/sources"
tar -C "$output/sources" -xf "$output/$name.tar.xz"
python3 examples/packaging/spdx.py "$output/sources/$name" "$version" \
  "$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)" >"$output/$name.spdx.json"
rm -rf "$output/sources"
# made KIND OPTION: packages and a wheel, which are tried where there can be a bare system.
made () {
  sh examples/packaging/build.sh ${2:+"$2"} --from "$output/$name.tar.xz" --output "$work/$1"
  sh examples/packaging/wheel.sh ${2:+"$2"} --output "$work/$1"
  PACKAGES=$work/$1 try package
  WHEEL=$(ls "$work/$1"/*.whl) try wheel
  mv "$work/$1"/* "$output"
}

# try PART: the part of tests/long/ in the bare systems. The last line of its output says why it cannot run here.
try () {
  [ -n "$suites" ] || return 0
  status=0
  # shellcheck disable=SC2086 # a list of words
  sh "tests/long/$1.sh" $suites || status=$?
  case $status in
    0) echo "Tried in $suites: $1" ;;
    77) echo "Not tried: $1" ;;
    *) fail "$1 failed in a bare system" ;;
  esac
}

work=$top/out/release/work
rm -rf "$work"
TARBALL=$output/$name.tar.xz try tarball
if [ -n "$with_packages" ]; then
  made cpu ""
  [ -z "$cuda" ] || made cuda --cuda
fi
rm -rf "$work"
[ -z "$(git status --porcelain)" ] || { git status --short; fail "The tree is no longer clean."; }
(cd "$output" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS . && sha256sum --quiet -c SHA256SUMS)
echo "Ready in $output:"
sed 's/^/  /' "$output/SHA256SUMS"

# The text of the tag is what NEWS.md says of the version.
sed -n "/^## $version (/,/^## /p" NEWS.md | sed -e '1s/.*/cudaconvolve '"$version"'/' -e '/^## /d' >"$top/out/tag-text"
if [ -n "$tag" ]; then
  git tag "$tag" -F "$top/out/tag-text" --cleanup=whitespace "v$version"
  echo "The tag v$version was made; git push origin v$version makes it public."
else
  echo "No tag was made: with --tag the tag v$version is that of $(git log -1 --format='%h %s')"
fi
