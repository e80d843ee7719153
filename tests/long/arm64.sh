#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests on an arm64 processor that QEMU stands in for: sh tests/long/arm64.sh [TEST...]
#
# A cross compiler builds in build-arm64/ without CUDA, against Debian's libraries for arm64, which are kept in
# ~/.cache/cudaconvolve/arm64 (1.4 GB). The test `golden` compares the bytes with those of other machines. JOBS=1 uses
# one core.
set -eu
cd "$(dirname "$0")/../.."
. tests/rows/cross.sh

cross_tests arm64 aarch64 little "$@"
