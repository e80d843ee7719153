#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests on a processor with the other byte order, which QEMU stands in for: sh tests/long/s390x.sh [TEST...]
#
# A cross compiler builds in build-s390x/ without CUDA, against Debian's libraries for s390x, which are kept in
# ~/.cache/cudaconvolve/s390x (1.4 GB). The test `golden` compares the bytes with those of other machines. JOBS=1 uses
# one core.
set -eu
cd "$(dirname "$0")/../.."
. tests/rows/cross.sh

cross_tests s390x s390x big "$@"
