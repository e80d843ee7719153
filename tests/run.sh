#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests: sh tests/run.sh [--all]
#
# Installs the packages that are missing, builds in build/, and runs the tests. Each test is one row, printed when it
# ends, with its seconds. The last line is "N passed, N failed, N skipped"; the exit status is 0 where nothing failed.
# What the rows print is kept in out/, and their seconds in out/times.
#
#   sh tests/run.sh            every part of the project, with few random cases: minutes
#   sh tests/run.sh --all      also all random cases, the sanitizers, the kernels as PTX for every GPU architecture, the
#                              static analysers and the slow rows: half an hour
#
# MESON_ARGS="-Dcuda-architectures=75" sh tests/run.sh     further options for `meson setup`
#
# The rows stand in tests/rows/, one file for each theme; tests/README.md describes them.
# shellcheck disable=SC2016,SC2317 # inner shells expand some variables themselves; check calls functions by name
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

usage () {
  sed -n '3,14s/^# \{0,1\}//p' "$0"
}

all=
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    -h | --help)
      usage
      exit 0 ;;
    *)
      echo "$argument: not known. Usage: sh tests/run.sh [--all]" >&2
      exit 2 ;;
  esac
done

. "$top/tests/prepare.sh"
# With ccache, what was compiled before is not compiled again. NumPy checks the Python module, mandoc the manual page; MkDocs makes the site.
useful="ccache mandoc python3-numpy${all:+ mkdocs-material python3-venv}"
cd "$top"
mkdir -p out

. "$top/tests/rows/rows.sh"
begin_times out/times

# The tests of a testlog.json that are not among the lines of FILE, as Meson would print them, and the outputs of
# those that failed: rest_of_testlog TESTLOG FILE.
rest_of_testlog () {
  python3 - "$@" <<'END'
import json, sys
printed = open(sys.argv[2]).read().split('\n')
for line in open(sys.argv[1]):
    test = json.loads(line)
    name = test['name'].split(':')[-1].split('/')[-1].strip()
    if test['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP'):
        print('output of %s:' % name)
        text = (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')
        for shown in text.strip().split('\n')[-60:]:
            print('     ' + shown)
    if name not in printed:
        print('0/0 %s %s %.2fs' % (name, test['result'], test['duration']))
END
}

# meson_row LINE: a row from one line of Meson such as " 1/17 project:suite / name   OK   1.23s"; other lines are none.
meson_row () {
  fields=$(printf '%s\n' "$1" | sed -n \
    's#^ *[0-9]*/[0-9]* \(.*[^ ]\)  *\([A-Z]\{2,\}\)  *\([0-9.]*\)s\( .*\)\{0,1\}$#\2 \3 \1#p')
  [ -n "$fields" ] || return 1
  result=${fields%% *}
  fields=${fields#* }
  seconds=$(printf '%.1f s' "${fields%% *}")
  name=${fields##*[:/ ]}
  echo "$name" >>out/rows
  echo "${seconds% s} - $prefix$name" >>"$times"
  case $result in
    OK | EXPECTEDFAIL) row ok "$prefix$name, $seconds" ;;
    SKIP) row SKIP "$prefix$name" ;;
    *) row FAIL "$prefix$name, $seconds, $result" ;;
  esac
}

# meson_tests FOLDER PREFIX SETUP [VARIABLE=VALUE...]: every Meson test is a row, printed when the test ends. SETUP is all,
# for all random cases, or empty. Where Meson itself fails, that is one row more.
meson_tests () {
  folder=$1
  prefix=$2
  setup=$3
  shift 3
  testlog=$folder/meson-logs/testlog${setup:+-$setup}.json
  log=out/test-$folder.log
  rm -f "$testlog" out/meson-lines out/meson-status
  : >out/rows
  : >"$log"
  mkfifo out/meson-lines
  say "Running the tests of $folder"
  before=$failed
  start
  {
    status=0
    env "$@" meson test -C "$folder" --no-rebuild --num-processes "$(nproc)" ${setup:+--setup "$setup"} \
      2>&1 </dev/null || status=$?
    echo "$status" >out/meson-status
  } >out/meson-lines &
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    meson_row "$line" || true
  done <out/meson-lines
  wait
  now
  took "all tests of $folder" >/dev/null
  rm -f out/meson-lines
  if [ -s "$testlog" ]; then
    rest_of_testlog "$testlog" out/rows >out/rest
    while IFS= read -r line; do
      meson_row "$line" || printf '%s\n' "$line" | tee -a "$failures"
    done <out/rest
  fi
  status=$(cat out/meson-status)
  if [ "$status" != 0 ] && [ "$failed" = "$before" ]; then
    tail -n 40 "$log" | sed 's/^/     /'
    row FAIL "${prefix}meson test, exit status $status ($log)"
  fi
}

# stand_in NAME COMMAND: a program of that name in out/stand-ins, a folder that rows put in front of PATH.
stand_in () {
  printf '#!/bin/sh\n%s\n' "$2" >"out/stand-ins/$1"
  chmod +x "out/stand-ins/$1"
}

. "$top/tests/rows/style.sh"
. "$top/tests/rows/sanitizers.sh"
. "$top/tests/rows/examples.sh"
. "$top/tests/rows/film.sh"
. "$top/tests/rows/verify.sh"
. "$top/tests/rows/faces.sh"
. "$top/tests/rows/install.sh"
. "$top/tests/rows/preparing.sh"
. "$top/tests/rows/nvcc.sh"
. "$top/tests/rows/readme.sh"
. "$top/tests/rows/validate.sh"
. "$top/tests/rows/cluster.sh"
. "$top/tests/rows/films.sh"

check_step "packages" install_missing || finish
if [ -n "$all" ]; then
  build_everything || finish
else
  check_step "build" build_project "$top/build" || finish
fi
style_rows
meson_tests build "" "${all:+all}"

use_build "$top/build"
GST_REGISTRY=$top/build/registry.bin
export GST_REGISTRY
example_rows
film_rows
verify_rows
faces_rows
cluster_rows
films_rows
install_rows
preparing_rows
nvcc_rows
readme_rows
validate_rows
if [ -n "$all" ]; then
  analyser_rows
  sanitizer_rows
fi
finish
