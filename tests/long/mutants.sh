#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Plants the faults of tests/mutants/ in a copy of the tree, one after the other; each has to be found by a test:
#   sh tests/long/mutants.sh [NAME...]
# Without names all faults are planted. tests/mutants/README.md has the options and the form of the lists.
set -eu
cd "$(dirname "$0")/../.."

command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }
if ! command -v ccache >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get install -y ccache >/dev/null 2>&1 || echo "without ccache, this takes longer"
fi
exec python3 tests/mutants/run.py "$@"
