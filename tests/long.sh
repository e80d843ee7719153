#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests that take hours: sh tests/long.sh [PART...]
#
# Each part is a script in tests/long/ that can also be run alone; without names all parts run, one after the other. Each is
# one row, printed when it ends, with its seconds. A part that cannot run here is a SKIP with the reason. What a part printed
# is kept in out/, and their seconds in out/times-long. tests/results/reliability.md has the figures of the last runs.
#
# shellcheck disable=SC2317 # check calls functions by name
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
mkdir -p out

parts () {
  for file in tests/long/*.sh; do
    basename "$file" .sh
  done
}

for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '3,8s/^# \{0,1\}//p' "$0"
      echo "Parts: $(parts | tr '\n' ' ')"
      exit 0 ;;
  esac
  [ -f "tests/long/$argument.sh" ] || {
    echo "$argument: not known. Parts: $(parts | tr '\n' ' ')" >&2
    exit 2
  }
done

. "$top/tests/rows/rows.sh"
begin_times out/times-long

names=$*
for part in ${names:-$(parts)}; do
  check "$part" sh "tests/long/$part.sh"
done
finish
