# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2016 # run.sh sets top and all; inner shells expand some variables
# The form of the sources: clang-format and shellcheck always, the static analysers clang-tidy and cppcheck with --all.

# Debian 12 has clang-format 14. Other versions break lines at other places.
formatting () {
  format=$(command -v clang-format-14 || command -v clang-format) || { echo "there is no clang-format"; return 77; }
  "$format" --version | grep -q 'version 14\.' ||
    { echo "version 14 is wanted, and here is $("$format" --version)"; return 77; }
  find kernels props plugin tests examples -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' >out/format-sources
  xargs "$format" --dry-run -Werror --ferror-limit=1 <out/format-sources
}

scripts () {
  command -v shellcheck >/dev/null || { echo "there is no shellcheck"; return 77; }
  shellcheck -x tests/run.sh tests/long.sh tests/prepare.sh tests/rows/*.sh tests/long/*.sh tests/long/*/*.sh examples/*.sh examples/cluster/*.sh examples/packaging/*.sh kernels/*.sh plugin/*.sh .ci/run
}

style_rows () {
  check "style: clang-format" formatting
  check "style: shellcheck" scripts
  check "style: a licence for each file" python3 examples/packaging/spdx.py --check
  check "style: the planted faults fit the sources" python3 tests/mutants/run.py --list
}

# unexplained FILE...: prints the findings in these files that tests/analysers/explained.txt does not explain, and fails
# where there is one. Both analysers write findings as "FILE:LINE:COLUMN: ... [CHECK]".
unexplained () {
  sed -n -e "s#$top/build/\.\./##; s#^\.\./##; s#$top/##" -e 's/^\([^:]*\):[0-9].*\[\([^],]*\)[^[]*\]$/\1 \2 &/p' "$@" |
    sort -u | awk '
      NR == FNR { if ($1 !~ /^#/) explained[$1 " " $2]; next }
      !($1 " " $2 in explained) { sub ($1 " " $2 " ", ""); print; found = 1 }
      END { exit found }' tests/analysers/explained.txt -
}

# clang-tidy reads the C files of the build, because the tool must know how each is compiled. Other versions of both
# analysers have other findings. clang's analyser, which clang-tidy can run, takes minutes: tests/long/analysers.sh has that.
clang_tidy () {
  command -v clang-tidy >/dev/null || { echo "there is no clang-tidy"; return 77; }
  clang-tidy --version | grep -q 'version 14\.' || { echo "version 14 is wanted"; return 77; }
  rm -rf out/clang-tidy
  mkdir -p out/clang-tidy
  sed -n 's#^ *"file": "\(\.\./\)*\(.*\.c\)",\{0,1\}$#\2#p' build/compile_commands.json | sort -u >out/tidy-sources
  xargs -P "$(nproc)" -I '{}' sh -c \
    'clang-tidy -p build --quiet --checks="-clang-analyzer-*" "$0" >"out/clang-tidy/$(echo "$0" | tr / -)" 2>/dev/null' \
    '{}' <out/tidy-sources || true
  unexplained out/clang-tidy/*
}

cppcheck_sources () {
  command -v cppcheck >/dev/null || { echo "there is no cppcheck"; return 77; }
  cppcheck --version | grep -q ' 2\.10' || { echo "version 2.10 is wanted"; return 77; }
  cppcheck --enable=warning,performance,portability --inline-suppr --std=c11 --quiet -j "$(nproc)" --library=gtk \
    --library=tests/analysers/cppcheck.cfg -Ikernels -Iprops -Iplugin -Itests \
    --template='{file}:{line}:{column}: {severity}: {message} [{id}]' -i tests/analysers kernels props plugin tests examples \
    >out/cppcheck 2>&1
  unexplained out/cppcheck
}

analyser_rows () {
  check "style: clang-tidy" clang_tidy
  check "style: cppcheck" cppcheck_sources
}
