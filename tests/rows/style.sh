# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top, all and the like
# The form of the sources: clang-format and shellcheck always, the static analysers clang-tidy and cppcheck with --all.

# Other versions of clang-format break lines at other places; 14 is the one of Debian 12.
formatting () {
  format=$(command -v clang-format-14 || command -v clang-format) || { echo "there is no clang-format"; return 77; }
  "$format" --version | grep -q 'version 14\.' ||
    { echo "version 14 is wanted, and here is $("$format" --version)"; return 77; }
  git ls-files '*.c' '*.h' '*.cu' '*.cuh' >out/sources 2>/dev/null || { echo "this is no checkout of git"; return 77; }
  xargs "$format" --dry-run -Werror --ferror-limit=1 <out/sources
}

scripts () {
  command -v shellcheck >/dev/null || { echo "there is no shellcheck"; return 77; }
  shellcheck -x tests/run.sh tests/rows/*.sh examples/*.sh kernels/*.sh plugin/*.sh .ci/run
}

style_rows () {
  check "style: clang-format" formatting
  check "style: shellcheck" scripts
}
