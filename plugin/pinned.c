/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pinning takes longer than copying the frame, so it pays only for memory that is used again and again. A record hangs
 * on each GstMemory that was seen, and goes with it: GStreamer drops it before it frees the bytes.
 */
#include "pinned.h"

#include "convolve_device.h"

/* Page-locked memory is taken from the whole machine. */
#define MOST_BYTES ((gsize) 1 << 30)
/* So many memories may be pinned for nothing before those of pools too must come twice. */
#define MOST_WASTED 16

typedef struct
{
  guint8 *data;
  gsize size;
  gint device_id;
  GstCudaConvolveContext *context;      /* referenced, or NULL */
  gboolean pinned, refused;
  guint uses;
} Record;

static GMutex lock;             /* of everything below and of all records */
static gsize pinned_bytes;
static guint wasted;            /* memories that were pinned and not used again */

static GQuark
record_quark (void)
{
  return g_quark_from_static_string ("cudaconvolve-pinned");
}

static void
record_free (gpointer data)
{
  Record *record = data;

  g_mutex_lock (&lock);
  if (record->pinned) {
    if (gst_cuda_convolve_cuda_push (record->context)) {
      convolve_unpin (record->context ? -1 : record->device_id, record->data);
      gst_cuda_convolve_cuda_pop (record->context);
    }
    pinned_bytes -= record->size;
    wasted += record->uses < 2;
  }
  g_mutex_unlock (&lock);
  gst_clear_object (&record->context);
  g_free (record);
}

static void
record_pin (Record * record, GstMemory * memory, gint device_id, GstCudaConvolveContext * context)
{
  GstMapInfo map;

  record->refused = TRUE;
  if (pinned_bytes + memory->maxsize > MOST_BYTES || !gst_memory_map (memory, &map, GST_MAP_READ))
    return;
  record->data = map.data - memory->offset;
  record->size = memory->maxsize;
  record->device_id = device_id;
  if (gst_cuda_convolve_cuda_push (context)) {
    record->pinned = convolve_pin (context ? -1 : device_id, record->data, record->size);
    gst_cuda_convolve_cuda_pop (context);
  }
  gst_memory_unmap (memory, &map);
  record->refused = !record->pinned;
  if (record->pinned) {
    pinned_bytes += record->size;
    if (context)
      record->context = gst_object_ref (context);
  }
}

/* Only plain memory stays at one address for as long as it lives. */
static gboolean
pin_memory (GstMemory * memory, gboolean pooled, gint device_id, GstCudaConvolveContext * context)
{
  Record *record;

  if (memory->parent)
    memory = memory->parent;
  if (!gst_memory_is_type (memory, GST_ALLOCATOR_SYSMEM))
    return FALSE;
  record = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (memory), record_quark ());
  if (!record) {
    record = g_new0 (Record, 1);
    gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (memory), record_quark (), record, record_free);
  }
  if (record->pinned && record->uses == 1 && wasted > 0)
    wasted--;
  record->uses++;
  if (!record->pinned && !record->refused && (record->uses > 1 || (pooled && wasted < MOST_WASTED)))
    record_pin (record, memory, device_id, context);
  return record->pinned;
}

gboolean
gst_cuda_convolve_pin_buffer (GstBuffer * buffer, gint device_id, GstCudaConvolveContext * context)
{
  gboolean pinned = TRUE;

  g_mutex_lock (&lock);
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    pinned &= pin_memory (gst_buffer_peek_memory (buffer, i), buffer->pool != NULL, device_id, context);
  g_mutex_unlock (&lock);
  return pinned;
}
