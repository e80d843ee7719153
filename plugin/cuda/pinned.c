/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locking takes longer than copying the frame, so only memory that is used repeatedly is locked. Each GstMemory that
 * was seen has a record as its qdata. GStreamer frees the record before the bytes, and the record then unlocks the
 * bytes.
 *
 * CUDA takes milliseconds to lock and to unlock, and no element waits for what another one locks: the mutex is free
 * meanwhile. Who locks holds the memory, so the record stays; for all others the memory is not locked yet. A record that
 * is freed has no other user.
 */
#include "cuda/pinned.h"

#include <gst/video/video.h>
#include <unistd.h>

#include "convolve_device.h"
#include "report/debug.h"

/* Page-locked memory is lost to all other programs, so one process takes at most this much. */
#define MOST_BYTES ((gsize) 1 << 30)
/* After so many memories were locked and used only once, memory is locked at its second use and not at its first. */
#define MOST_WASTED 16

typedef struct
{
  guint8 *data;
  gsize size; /* of what can be locked, or 0 */
  gint device_id;
  GstCudaConvolveContext *context; /* referenced, or NULL */
  gboolean pinned;
  gboolean tried;     /* to lock it: a thread does so now, or the memory is locked, or was refused */
  gconstpointer user; /* the first user of the memory; only compared */
  guint uses;         /* how often that user used the memory */
} Record;

static GMutex lock;        /* of the next two and of all records; CUDA is never called with it */
static gsize pinned_bytes; /* locked, or about to be */
static guint wasted;       /* memories that were locked and not used again */

/* Pages have 4 KiB on x86-64, and up to 64 KiB on 64-bit Arm. */
static gsize
page_size (void)
{
  return sysconf (_SC_PAGESIZE);
}

static GQuark
record_quark (void)
{
  return g_quark_from_static_string ("cudaconvolve-pinned");
}

static void
record_free (gpointer data)
{
  Record *record = data;

  if (record->pinned) {
    if (gst_cuda_convolve_cuda_push (record->context)) {
      convolve_unpin (record->context ? -1 : record->device_id, record->data);
      gst_cuda_convolve_cuda_pop (record->context);
    }
    g_mutex_lock (&lock);
    pinned_bytes -= record->size;
    wasted += record->uses < 2;
    g_mutex_unlock (&lock);
  }
  gst_clear_object (&record->context);
  g_free (record);
}

/*
 * Whether the memory of the buffer is a block that the buffer's pool allocated. A pool of a derived type may wrap any memory
 * as system memory, so the type must match exactly. The flag TAG_MEMORY tells that an element has replaced the memory.
 */
static gboolean
has_own_block (GstBuffer *buffer)
{
  GType type = buffer->pool ? G_OBJECT_TYPE (buffer->pool) : G_TYPE_NONE;

  return (type == GST_TYPE_VIDEO_BUFFER_POOL || type == GST_TYPE_BUFFER_POOL) && gst_buffer_n_memory (buffer) == 1
      && !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
}

/*
 * The number of bytes of such a block, in full pages from its start, that can be locked without touching other memory; 0
 * where that is not certain, or where a frame would lie only partly in them. It is certain for a block that the pool
 * allocated on the heap, if the block begins with a page. To read the settings of a pool allocates memory.
 */
static gsize
count_own_bytes (GstBuffer *buffer, GstMemory *memory)
{
  gsize whole = memory->maxsize / page_size () * page_size ();
  GstAllocationParams params = { 0 };
  GstAllocator *allocator = NULL;
  GstStructure *config;
  gboolean plain;
  guint size = 0;

  config = gst_buffer_pool_get_config (buffer->pool);
  gst_buffer_pool_config_get_params (config, NULL, &size, NULL, NULL);
  gst_buffer_pool_config_get_allocator (config, &allocator, &params);
  plain = !allocator || g_strcmp0 (allocator->mem_type, GST_ALLOCATOR_SYSMEM) == 0;
  gst_structure_free (config);
  return plain && params.prefix + size <= whole ? whole : 0;
}

/* With the lock: whether this thread is to lock the memory now. Its bytes then count already. *why: what is against it. */
static gboolean
record_begin_pin (Record *record, const gchar **why)
{
  if (record->tried || (record->uses < 2 && wasted >= MOST_WASTED))
    return FALSE;
  record->tried = TRUE;
  if (pinned_bytes + record->size > MOST_BYTES) {
    *why = "the process has locked as much as it takes";
    return FALSE;
  }
  pinned_bytes += record->size;
  return TRUE;
}

/* Without the lock. record->data is for this thread until record_end_pin(). */
static gboolean
lock_pages (Record *record, GstMemory *memory, gint device_id, GstCudaConvolveContext *context, const gchar **why)
{
  gboolean locked = FALSE;
  GstMapInfo map;

  *why = "it begins inside a page, or cannot be read";
  if (!gst_memory_map (memory, &map, GST_MAP_READ))
    return FALSE;
  record->data = map.data - memory->offset;
  if ((guintptr) record->data % page_size () == 0 && gst_cuda_convolve_cuda_push (context)) {
    locked = convolve_pin (context ? -1 : device_id, record->data, record->size);
    *why = locked ? NULL : "CUDA refuses";
    gst_cuda_convolve_cuda_pop (context);
  }
  gst_memory_unmap (memory, &map);
  return locked;
}

static void
record_end_pin (Record *record, gboolean locked, gint device_id, GstCudaConvolveContext *context)
{
  g_mutex_lock (&lock);
  record->pinned = locked;
  record->device_id = device_id;
  if (locked && context)
    record->context = gst_object_ref (context);
  if (!locked)
    pinned_bytes -= record->size;
  g_mutex_unlock (&lock);
}

/* Behind a tee several users see memory that is new for every frame; that does not make the memory repeatedly used. */
static void
count_use (Record *record, gconstpointer user)
{
  if (!record->user)
    record->user = user;
  if (record->user != user)
    return;
  if (record->pinned && record->uses == 1 && wasted > 0)
    wasted--;
  record->uses++;
}

/* With the lock: the record of the memory's block, or NULL where the block is not to be locked. */
static Record *
find_record (GstBuffer *buffer, GstMemory *memory, GstMemory *block)
{
  Record *record = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (block), record_quark ());

  if (!record && has_own_block (buffer)) {
    record = g_new0 (Record, 1);
    record->size = count_own_bytes (buffer, memory);
    gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (block), record_quark (), record, record_free);
  }
  return record && record->size > 0 ? record : NULL;
}

/* A block was locked in so many microseconds, or was not, for a reason. Each block is tried once. */
static void
tell_pinned (GstElement *element, guint *told, gsize size, const gchar *why, gint64 time)
{
  if (why)
    GST_CUDA_CONVOLVE_TELL (told, element,
        "%" G_GSIZE_FORMAT " bytes of frames are not page-locked, so that copies are slower: %s", size, why);
  else
    GST_CUDA_CONVOLVE_TELL (told, element, "%" G_GSIZE_FORMAT " bytes of frames were page-locked in %.3f ms", size,
        time / 1e3);
}

static gboolean
pin_memory (GstBuffer *buffer, GstMemory *memory, GstElement *element, guint *told, gint device_id,
    GstCudaConvolveContext *context)
{
  GstMemory *block = memory->parent ? memory->parent : memory;
  gboolean pinned = FALSE, chosen = FALSE;
  const gchar *why = NULL;
  gint64 begin = 0;
  Record *record;

  /* Only system memory keeps its address as long as the GstMemory exists. */
  if (!gst_memory_is_type (block, GST_ALLOCATOR_SYSMEM))
    return FALSE;
  g_mutex_lock (&lock);
  record = find_record (buffer, memory, block);
  if (record) {
    count_use (record, element);
    chosen = record_begin_pin (record, &why);
    pinned = record->pinned;
  }
  g_mutex_unlock (&lock);
  if (chosen) {
    begin = g_get_monotonic_time ();
    pinned = lock_pages (record, block, device_id, context, &why);
    record_end_pin (record, pinned, device_id, context);
  }
  if (chosen || why)
    tell_pinned (element, told, record->size, why, g_get_monotonic_time () - begin);
  return pinned;
}

gboolean
gst_cuda_convolve_pin_buffer (GstBuffer *buffer, GstElement *element, guint *told, gint device_id,
    GstCudaConvolveContext *context)
{
  gboolean pinned = TRUE;

  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    pinned &= pin_memory (buffer, gst_buffer_peek_memory (buffer, i), element, told, device_id, context);
  return pinned;
}

gboolean
gst_cuda_convolve_pin_takes (GstBuffer *buffer)
{
  return has_own_block (buffer);
}

void
gst_cuda_convolve_pin_set_params (GstAllocationParams *params)
{
  gsize mask = page_size () - 1;

  params->align |= mask;
  params->padding = MAX (params->padding, mask);
}
