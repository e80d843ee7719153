/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/bench_cpu.h"

#include <stddef.h>

const char *
bench_peer_name (BenchKind kind)
{
  return NULL;
}

void
bench_peer_set_threads (int threads)
{
}

void
bench_peer_run (const BenchPeerTask *task)
{
}
