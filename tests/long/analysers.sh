#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# gcc's -fanalyzer and clang's static analyser over all C files: sh tests/long/analysers.sh [gcc | clang]...
#
# Takes the compilers of Debian trixie in a folder, because older versions have more false alarms. Each file of a
# build without CUDA is analysed once, as the build compiles it first. A finding that tests/analysers/explained.txt
# does not explain fails. So does an analyser that does not find the faults of tests/analysers/planted.c, which stand
# at the end of a file in each of kernels/, props/ and plugin/. Other warnings of the compilers are findings, too.
# What the analysers say is kept in out/analyser-gcc and out/analyser-clang.
#
# Needs root. SUITE names another release of Debian; JOBS sets how many files are analysed at once.
set -eu
cd "$(dirname "$0")/../.."
top=$(pwd)
. "$top/tests/rows/roots.sh"
. "$top/tests/rows/style.sh"
suite=${SUITE:-trixie}
[ $# -gt 0 ] || set -- gcc clang
planted="kernels/plan.c props/text/grid.c plugin/regions/regions.c"

roots_needed
# shellcheck disable=SC2086 # a list of words
root_with "$suite" clang $packages clang clang-tidy
root_sources "$root"
for file in $planted; do
  cat tests/analysers/planted.c >>"$root$sources/$file"
done

# Level 2 of optimisation, as users build: the analyser of gcc then sees inlined functions.
cat >"$root$sources/analyse" <<'INSIDE'
set -eu
export LC_ALL=C.UTF-8 HOME=/root
jobs=${JOBS:-$(nproc)}
case $1 in gcc) CC=gcc ;; clang) CC=clang ;; esac
export CC
meson setup "build-$1" -Dcuda=disabled >/dev/null
mkdir -p "found-$1"
# Some files are made by the build, and all headers must be there.
ninja -C "build-$1" -t targets all | sed -n 's/^\(.*\.[ch]\): CUSTOM_COMMAND.*/\1/p' |
  xargs -r ninja -C "build-$1" >/dev/null
python3 - "$1" <<'PYTHON' >"commands-$1"
import json, os, shlex, sys
which = sys.argv[1]
seen = set()
for entry in json.load(open(f'build-{which}/compile_commands.json')):
    name = os.path.normpath(os.path.join(entry['directory'], entry['file']))
    if name in seen or not name.endswith('.c'):
        continue
    seen.add(name)
    name = os.path.relpath(name)
    words = shlex.split(entry['command'])
    words[words.index('-o') + 1] = '/dev/null'
    words = [word for word in words if not word.startswith(('-MD', '-MQ', '-MF')) and not word.endswith('.d')]
    words = [word for word in words if not word.endswith('.o')] + ['-fdiagnostics-color=never', '-fanalyzer']
    log = f'found-{which}/' + name.replace('/', '-')
    if which == 'gcc':
        print(f'cd {entry["directory"]} && {shlex.join(words)} 2>../{log};',
              f'sed -i "s#^/usr/[^ :]*#{name}#" ../{log}')
    else:
        print(f'clang-tidy -p build-clang --quiet --checks="-bugprone-*" {name} >{log} 2>/dev/null')
PYTHON
# What is found in a header of a library belongs to the file that includes it. clang-tidy fails where it has a
# finding; a file that does not compile is a finding.
tr '\n' '\0' <"commands-$1" | xargs -0 -P "$jobs" -I '{}' sh -c '{} || true'
INSIDE

rm -f out/analyser-*.txt
failed=
for which in "$@"; do
  begin=$(date +%s)
  # shellcheck disable=SC2016 # the inner shell expands these
  root_inside "$root" sh -c 'cd "$0" && exec nice sh analyse "$1"' "$sources" "$which" \
    >"out/analyser-$which.log" 2>&1 || {
    tail -n 20 "out/analyser-$which.log"
    echo "$which could not analyse"
    exit 1
  }
  rm -rf "out/analyser-$which"
  cp -r "$root$sources/found-$which" "out/analyser-$which"
  # Findings have names of files from the build folder on, or whole ones.
  cat "out/analyser-$which"/* | sed "s#^$sources/##; s#^\.\./##" |
    grep -E '^[^ :]+:[0-9]+:[0-9]+: (warning|error):' | sort -u >"out/analyser-$which.txt" || true
  # What lies behind the end of a source was planted.
  : >out/analyser-planted.txt
  for file in $planted; do
    lines=$(wc -l <"$file")
    awk -F : -v file="$file" -v lines="$lines" '$1 == file && $2 > lines' "out/analyser-$which.txt" \
      >>out/analyser-planted.txt
  done
  grep -v -x -F -f out/analyser-planted.txt "out/analyser-$which.txt" >out/analyser-rest.txt || true
  for file in $planted; do
    for name in 'leak|unix.Malloc' 'null-dereference|core.NullDereference'; do
      grep -E "^$file:.*($name)" out/analyser-planted.txt >/dev/null || {
        echo "$which did not find the planted fault $name in $file"
        failed=yes
      }
    done
  done
  echo "$suite, $which: $(find "out/analyser-$which" -type f | wc -l) files," \
    "$(wc -l <out/analyser-planted.txt) findings in planted faults," \
    "$(wc -l <out/analyser-rest.txt) others, $(($(date +%s) - begin)) s"
  unexplained out/analyser-rest.txt || failed=yes
done
[ -z "$failed" ] || exit 1
echo "all findings are explained"
