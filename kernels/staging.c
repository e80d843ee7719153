/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "staging.h"

#include <stdlib.h>
#include <string.h>

#include "common/internal.h"
#include "cpu/threads/pool.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Page-locked memory is lost to all other programs, so one process takes at most this much here. */
#define MOST_BYTES ((size_t) 1 << 30)

/*
 * A piece is copied while the bus takes the piece before. Each costs the copy engine a pause, and the threads a meeting.
 * A frame has at most MOST_PIECES for each plane.
 */
#define PIECE_BYTES ((size_t) 1 << 20)
#define MOST_PIECES 16

/*
 * A thread takes JOB_BYTES at a time. Another thread is woken for each THREAD_BYTES of a piece, up to MOST_THREADS: a
 * few threads are enough for the bus.
 */
#define JOB_BYTES ((size_t) 1 << 16)
#define THREAD_BYTES ((size_t) 1 << 17)
#define MOST_THREADS 6

/* Shorter lines go by memcpy(): they have too few whole lines of the cache for stores past the cache to pay. */
#define LEAST_STREAMED 256

typedef struct
{
  char *memory;
  size_t bytes;
} Locked;

/*
 * Rows, on the host and in the page-locked memory. Rows without gaps on both sides are lines of any length, so that threads
 * can share one long row.
 */
typedef struct
{
  char *host, *locked;
  size_t host_stride, locked_stride;
  size_t bytes, last; /* of a line, and of the last line */
  size_t count;
} Lines;

typedef struct
{
  Locked up[CONVOLVE_ALL_STAGES], down[CONVOLVE_ALL_STAGES];
  Lines landings[CONVOLVE_MOST_MARKS]; /* pieces that are under way to the host; each has the mark of its number */
  int n_landings;
} Slot;

struct ConvolveStaging
{
  ConvolveDevice *device;
  int threads; /* as the caller wants them; 0: one for each core */
  ConvolvePool *pool;
  bool refused; /* memory could not be locked: no more is tried */
  Slot slots[CONVOLVE_MAX_FRAMES];
};

static size_t locked_bytes; /* of the process; atomic */

ConvolveStaging *
convolve_staging_new (ConvolveDevice *device)
{
  ConvolveStaging *staging = calloc (1, sizeof *staging);

  if (staging) {
    staging->device = device;
    staging->threads = 1;
  }
  return staging;
}

static void
release (ConvolveStaging *staging, Locked *locked)
{
  if (!locked->memory)
    return;
  convolve_device_free_locked (staging->device, locked->memory);
  __atomic_sub_fetch (&locked_bytes, locked->bytes, __ATOMIC_RELAXED);
  *locked = (Locked){ 0 };
}

void
convolve_staging_free (ConvolveStaging *staging)
{
  if (!staging)
    return;
  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++)
    for (int i = 0; i < CONVOLVE_ALL_STAGES; i++) {
      release (staging, &staging->slots[k].up[i]);
      release (staging, &staging->slots[k].down[i]);
    }
  convolve_pool_free (staging->pool);
  free (staging);
}

void
convolve_staging_use_threads (ConvolveStaging *staging, int threads)
{
  if (!staging || staging->threads == threads)
    return;
  convolve_pool_free (staging->pool);
  staging->pool = NULL;
  staging->threads = threads;
}

bool
convolve_staging_is_refused (const ConvolveStaging *staging)
{
  return !staging || staging->refused;
}

void
convolve_staging_begin (ConvolveStaging *staging, int slot)
{
  if (staging)
    staging->slots[slot].n_landings = 0;
}

/* Makes the memory at least so large. No copy from it or to it is under way. */
static bool
reserve (ConvolveStaging *staging, Locked *locked, size_t bytes)
{
  if (staging->refused || locked->bytes >= bytes)
    return !staging->refused;
  release (staging, locked);
  if (__atomic_add_fetch (&locked_bytes, bytes, __ATOMIC_RELAXED) <= MOST_BYTES)
    locked->memory = convolve_device_new_locked (staging->device, bytes);
  if (locked->memory)
    locked->bytes = bytes;
  else
    __atomic_sub_fetch (&locked_bytes, bytes, __ATOMIC_RELAXED);
  staging->refused = !locked->memory;
  return !staging->refused;
}

/* --- copies on the host --- */

static size_t
smaller (size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Stores past the cache do not read what they overwrite, and leave the cache to others. */
#ifdef __SSE2__
static void
stream (char *to, const char *from, size_t bytes)
{
  size_t head = -(uintptr_t) to & 63;

  if (bytes < LEAST_STREAMED) {
    memcpy (to, from, bytes);
    return;
  }
  memcpy (to, from, head);
  for (; head + 64 <= bytes; head += 64)
    for (int i = 0; i < 64; i += 16)
      _mm_stream_si128 ((__m128i *) (to + head + i), _mm_loadu_si128 ((const __m128i *) (from + head + i)));
  memcpy (to + head, from + head, bytes - head);
}

static void
end_stream (void)
{
  _mm_sfence ();
}
#else
static void
stream (char *to, const char *from, size_t bytes)
{
  memcpy (to, from, bytes);
}

static void
end_stream (void)
{
}
#endif

static size_t
line_bytes (const Lines *lines, size_t line)
{
  return line + 1 < lines->count ? lines->bytes : lines->last;
}

typedef struct
{
  Lines lines;
  size_t share; /* lines of a job */
  bool to_host;
} Copy;

static void
copy_job (const void *data, int first, int count, void *memory)
{
  const Copy *copy = data;
  const Lines *lines = &copy->lines;
  size_t end = smaller (lines->count, (first + count) * copy->share);

  (void) memory;
  for (size_t y = first * copy->share; y < end; y++) {
    char *host = lines->host + y * lines->host_stride, *locked = lines->locked + y * lines->locked_stride;

    if (copy->to_host)
      stream (host, locked, line_bytes (lines, y));
    else
      stream (locked, host, line_bytes (lines, y));
  }
  end_stream ();
}

/* Without memory for a pool, the caller copies alone. */
static void
copy_lines (ConvolveStaging *staging, const Lines *lines, bool to_host)
{
  size_t bytes = lines->count * lines->bytes, share = JOB_BYTES / lines->bytes;
  int threads = smaller (MOST_THREADS, 1 + bytes / THREAD_BYTES);
  Copy copy = { .lines = *lines, .share = share > 0 ? share : 1, .to_host = to_host };
  int jobs = (lines->count + copy.share - 1) / copy.share;

  if (!staging->pool && threads > 1 && staging->threads != 1)
    staging->pool = convolve_pool_new (convolve_pool_count (staging->threads, MOST_THREADS), NULL);
  convolve_pool_run (threads > 1 ? staging->pool : NULL, threads, jobs, 0, copy_job, &copy, NULL);
}

/* --- pieces --- */

static bool
is_empty (const ConvolveRows *rows)
{
  return rows->count == 0 || rows->row_bytes == 0;
}

static Lines
lines_of (const ConvolveStagingPlace *place, const ConvolveRows *rows, Locked *locked)
{
  Lines lines = { .host = rows->host,
    .locked = locked->memory + rows->first * place->stride,
    .host_stride = rows->host_stride,
    .locked_stride = place->stride,
    .bytes = rows->row_bytes,
    .last = rows->row_bytes,
    .count = rows->count };
  size_t all = rows->count * rows->row_bytes;

  if (rows->count > 1 && (rows->host_stride != rows->row_bytes || place->stride != rows->row_bytes))
    return lines;
  lines.bytes = lines.host_stride = lines.locked_stride = smaller (all, JOB_BYTES);
  lines.count = (all + lines.bytes - 1) / lines.bytes;
  lines.last = all - (lines.count - 1) * lines.bytes;
  return lines;
}

/* Lines of a piece of the plane. */
static size_t
piece_lines (const ConvolveStagingPlace *place, const Lines *lines)
{
  size_t plane = place->stride * place->rows / MOST_PIECES, bytes = plane > PIECE_BYTES ? plane : PIECE_BYTES;

  return smaller (lines->count, 1 + bytes / lines->locked_stride);
}

static Lines
piece_of (const Lines *lines, size_t first, size_t count)
{
  Lines piece = *lines;

  piece.host += first * lines->host_stride;
  piece.locked += first * lines->locked_stride;
  piece.count = smaller (count, lines->count - first);
  piece.last = line_bytes (lines, first + piece.count - 1);
  return piece;
}

static ConvolveStatus
transfer (ConvolveStaging *staging, const ConvolveStagingPlace *place, const Locked *locked, const Lines *piece,
    ConvolveCopy direction, ConvolveError *error)
{
  return convolve_device_transfer (staging->device, place->plane, direction, piece->locked - locked->memory,
      (piece->count - 1) * piece->locked_stride + piece->last, piece->locked, error);
}

bool
convolve_staging_upload (ConvolveStaging *staging, const ConvolveStagingPlace *place, const ConvolveRows *rows,
    ConvolveStatus *status, ConvolveError *error)
{
  Locked *locked = staging ? &staging->slots[place->slot].up[place->plane] : NULL;

  *status = CONVOLVE_OK;
  if (!staging || is_empty (rows) || !reserve (staging, locked, place->stride * place->rows))
    return false;

  const Lines lines = lines_of (place, rows, locked);
  const size_t step = piece_lines (place, &lines);

  for (size_t first = 0; first < lines.count && *status == CONVOLVE_OK; first += step) {
    Lines piece = piece_of (&lines, first, step);

    copy_lines (staging, &piece, false);
    *status = transfer (staging, place, locked, &piece, CONVOLVE_COPY_TO_DEVICE, error);
  }
  return true;
}

bool
convolve_staging_download (ConvolveStaging *staging, const ConvolveStagingPlace *place, const ConvolveRows *rows,
    ConvolveStatus *status, ConvolveError *error)
{
  Slot *slot = staging ? &staging->slots[place->slot] : NULL;

  *status = CONVOLVE_OK;
  if (!staging || is_empty (rows) || !reserve (staging, &slot->down[place->plane], place->stride * place->rows))
    return false;

  const Lines lines = lines_of (place, rows, &slot->down[place->plane]);
  const size_t step = piece_lines (place, &lines);

  if ((lines.count + step - 1) / step > (size_t) (CONVOLVE_MOST_MARKS - slot->n_landings))
    return false;
  for (size_t first = 0; first < lines.count && *status == CONVOLVE_OK; first += step) {
    Lines piece = piece_of (&lines, first, step);

    *status = transfer (staging, place, &slot->down[place->plane], &piece, CONVOLVE_COPY_TO_HOST, error);
    if (*status == CONVOLVE_OK)
      *status = convolve_device_mark (staging->device, slot->n_landings, error);
    if (*status == CONVOLVE_OK)
      slot->landings[slot->n_landings++] = piece;
  }
  return true;
}

ConvolveStatus
convolve_staging_land (ConvolveStaging *staging, int slot, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;
  Slot *frame = staging ? &staging->slots[slot] : NULL;

  for (int i = 0; staging && i < frame->n_landings && status == CONVOLVE_OK; i++) {
    status = convolve_device_wait_mark (staging->device, slot, i, error);
    if (status == CONVOLVE_OK)
      copy_lines (staging, &frame->landings[i], true);
  }
  convolve_staging_begin (staging, slot);
  return status;
}
