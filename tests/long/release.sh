#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The release script in a clone of the last commit: sh tests/long/release.sh
#
# Faults must stop it: an untidy tree, a version that one place lacks, a tag that exists, a library that changed without a new number.
# So must results that are older than the code. Without --tag there is no tag.
# Two runs give the same tarball and list of contents, whose checksums must be right. The list
# must hold for the pip package spdx-tools, which is installed in out/; without a network that check is left out.
# A tag is made, and a signed one where there is gpg.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
git rev-parse --git-dir >/dev/null 2>&1 || { echo "this is no git tree, or there is no git"; exit 77; }
work=$top/out/release-test
rm -rf "$work"
mkdir -p "$work"
git clone -q --no-tags "$top" "$work/clone"
cd "$work/clone"
git config user.name "A tester"
git config user.email tester@example.org
git config user.signingkey tester@example.org
git config gpg.format openpgp
release=examples/packaging/release.sh
count=0

# refuses TEXT ARGUMENTS...: the script fails, and says TEXT.
refuses () {
  text=$1
  shift
  if sh "$release" "$@" >"$work/said" 2>&1 || ! grep -q -e "$text" "$work/said"; then
    cat "$work/said"
    echo "This was expected of release.sh $*: $text"
    return 1
  fi
  count=$((count + 1))
}

# A version that no release has, from the one that is there: 0.2.0 gives 0.102.0.
is=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
next=$(echo "$is" | awk -F . '{ print $1 "." $2 + 100 ".0" }')
sed -i "0,/^## /s//## $next (unreleased)\n\n- Something.\n\n&/" NEWS.md
git commit -q -a -m "NEWS.md: a change"

refuses 'three numbers' 1.2
refuses 'takes none, quick, all or long' --tests most "$next"
git config user.name ''
refuses 'not known; --help' --sgin --tests none "$next"
refuses 'a value is missing' "$next" --tests
refuses 'need your name' --prepare "$next"
refuses 'need your name' --tag --tests none --old-results --try "" "$next"
git config user.name "A tester"
refuses "No: meson.build has $is" --tests none --old-results --try "" "$next"
touch untidy
refuses 'commit or remove' --tests none --old-results --try "" "$next"
rm untidy
sh "$release" --prepare "$next"
refuses 'NEWS.md begins with' --prepare "$next"
sed -i "s/^## $next .*/## $next (unreleased)/" NEWS.md
git commit -q -a -m "NEWS.md: no version"
refuses "No: NEWS.md begins with \"## $next (unreleased)\"" --tests none --old-results --try "" "$next"
git reset -q --hard HEAD~1
sed -i "s/^version: .*/version: $is/" CITATION.cff
git commit -q -a -m "CITATION.cff: another version"
refuses 'CITATION.cff has another version' --tests none --old-results --try "" "$next"
git reset -q --hard HEAD~1
[ "$(grep -c '^date-released: ....-..-..$' CITATION.cff)" = 1 ]
# The last change of the code is newer than the results.
sed -i 's/return NULL;/return (NULL);/' kernels/plan.c
git commit -q -a -m "kernels: a change"
refuses 'No: measure these again' --tests none --try "" "$next"
git tag "v$next"
refuses "The tag v$next exists" --tests none --old-results --try "" "$next"
git tag -d "v$next" >/dev/null

# The last release had a function more, so the number of the library must rise.
git checkout -q -b before
echo 'function int convolve_more (void)' >>kernels/abi.txt
git commit -q -a -m "kernels: a function that goes"
git tag v0.0.1
git checkout -q -
git merge -q -s ours -m "kernels: without the function" before
refuses 'convolve_more' --tests none --old-results --try "" "$next"
git tag -d v0.0.1 >/dev/null
echo "$count faults were refused"

# made: the files of a dry run without packages, with their checksums; no tag.
made () {
  rm -rf out
  TZ=$1 sh "$release" --tests none --old-results --try "" --no-packages "$next" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
  [ -z "$(git tag)" ] || { echo "a tag was made without --tag"; return 1; }
  [ -z "$(git status --porcelain)" ] || { git status --short; return 1; }
  (cd "out/release/$next" && sha256sum -c SHA256SUMS && cp SHA256SUMS "$work/sums$2")
}
made UTC 1
sleep 2
made Asia/Tokyo 2
cmp "$work/sums1" "$work/sums2"

list=out/release/$next/cudaconvolve-$next.spdx.json
python3 - "$list" "out/release/$next/cudaconvolve-$next.tar.xz" <<'END'
import hashlib, json, sys, tarfile
document = json.load(open(sys.argv[1]))
listed = {entry['fileName'][2:]: entry['checksums'][1]['checksumValue'] for entry in document['files']}
with tarfile.open(sys.argv[2]) as tar:
    packed = {m.name.split('/', 1)[1]: hashlib.sha256(tar.extractfile(m).read()).hexdigest() for m in tar if m.isfile()}
assert packed == listed, set(packed.items()) ^ set(listed.items())
print(len(listed), 'files of the tarball are in the list, with their checksums')
END
if [ -z "$(command -v pyspdxtools)" ] && python3 -m venv "$work/venv" >/dev/null 2>&1; then
  "$work/venv/bin/pip" -q install spdx-tools >"$work/pip.log" 2>&1 || true
  PATH=$PATH:$work/venv/bin
fi
if [ -n "$(command -v pyspdxtools)" ]; then
  pyspdxtools -i "$list"
  echo "the list is valid for spdx-tools"
  # A licence that does not exist must be found.
  sed 's/LGPL-2.1-or-later/No-Such-Licence/' "$list" >"$work/wrong.spdx.json"
  if pyspdxtools -i "$work/wrong.spdx.json" >"$work/said" 2>&1; then
    echo "spdx-tools takes a licence that does not exist"
    exit 1
  fi
else
  echo "spdx-tools is not there, so the form of the list was not checked"
fi

# With --tag there is a tag, with the text of NEWS.md.
sh "$release" --tag --tests none --old-results --try "" --no-packages "$next" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
[ "$(git cat-file -t "v$next")" = tag ]
git tag -l --format='%(contents)' "v$next" | head -n 1 | grep -q -x "cudaconvolve $next"
echo "the tag has $(git tag -l --format='%(contents)' "v$next" | wc -l) lines"

# With --sign the tag is signed, by a key that is made for this test alone. The folder's name is short, because GnuPG's sockets lie there.
if command -v gpg >/dev/null; then
  GNUPGHOME=$(mktemp -d)
  export GNUPGHOME
  trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
  git tag -d "v$next" >/dev/null
  # Without a key there is no tag.
  if sh "$release" --sign --tests none --old-results --try "" --no-packages "$next" >"$work/said" 2>&1 || [ -n "$(git tag)" ]; then
    cat "$work/said"
    echo "a tag was made without a key"
    exit 1
  fi
  gpg -q --batch --passphrase '' --quick-generate-key 'A tester <tester@example.org>' default default never 2>/dev/null
  sh "$release" --sign --tests none --old-results --try "" --no-packages "$next" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
  git verify-tag "v$next" 2>&1 | grep 'Good signature'
else
  echo "there is no gpg, so no tag was signed"
fi
