/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which memory the element page-locks, and for how long, over the fake device. Like CUDA, that device refuses copies
 * of a block that lies only partly in page-locked memory. The checks ask the device whether it would take a copy that
 * other code makes.
 */
#include "element/cuda/check_memory.h"

#include <gmodule.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The fake device's counters, its rule for copies, and the call that it lets wait. */
typedef struct
{
  gint *pinned, *pins, *refusals, *hold;
  bool (*can_copy) (const void *memory, size_t bytes);
} FakeDevice;

/* GStreamer never closes a plugin that it has loaded. A file that is only opened here would be gone after the close. */
static FakeDevice
fake_device (void)
{
  g_autoptr (GstPlugin) plugin = gst_plugin_load_by_name ("cudaconvolve");
  GModule *module = g_module_open (gst_plugin_get_filename (plugin), 0);
  FakeDevice fake;

  fail_unless (g_module_symbol (module, "fake_device_pinned", (gpointer *) (void *) &fake.pinned)
      && g_module_symbol (module, "fake_device_pins", (gpointer *) (void *) &fake.pins)
      && g_module_symbol (module, "fake_device_refusals", (gpointer *) (void *) &fake.refusals)
      && g_module_symbol (module, "fake_device_hold", (gpointer *) (void *) &fake.hold)
      && g_module_symbol (module, "fake_device_can_copy", (gpointer *) (void *) &fake.can_copy));
  g_module_close (module);
  return fake;
}

GstVideoInfo
small_info (const gchar *format)
{
  return info_of (format, 64, 48);
}

GstHarness *
start_harness (const gchar *line, const gchar *fault, const GstVideoInfo *info)
{
  fake_device_fault (fault);
  return harness_new_for (line, info);
}

GstBufferPool *
pool_new (GstHarness *harness, const GstVideoInfo *info, guint lent, gboolean proposed)
{
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstAllocationParams params;

  gst_buffer_pool_config_set_params (config, caps, info->size, lent, lent);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  if (proposed)
    gst_buffer_pool_config_set_allocator (config, NULL, &params);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  gst_buffer_pool_set_active (pool, TRUE);
  gst_query_unref (query);
  return pool;
}

GstBuffer *
acquire (GstBufferPool *pool)
{
  GstBuffer *buffer;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_OK);
  gst_buffer_memset (buffer, 0, 7, -1);
  return buffer;
}

void
pool_free (GstBufferPool *pool)
{
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

/* Whether another CUDA user of the process can copy the whole buffer. */
static gboolean
can_copy_buffer (const FakeDevice *fake, GstBuffer *buffer)
{
  GstMapInfo map;
  gboolean ok;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  ok = fake->can_copy (map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  return ok;
}

/*
 * The element locks memory that comes again and shares no page, once and until the memory is freed. Other memory is
 * never locked.
 */
GST_START_TEST (test_locked)
{
  FakeDevice fake = fake_device ();
  GstVideoInfo info = small_info ("NV12");
  GstHarness *harness = start_harness ("cudaconvolve", NULL, &info);
  GstBufferPool *pool;
  GstBuffer *buffer, *other;
  gint before;

  gst_harness_set_drop_buffers (harness, TRUE);
  for (guint i = 0; i < 20; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  before = *fake.pinned; /* of the pool that the output comes from */
  fail_unless (before > 0 && before < 5, "%d memories", before);
  pool = pool_new (harness, &info, 2, TRUE);
  for (guint i = 0; i < 10; i++) {
    buffer = acquire (pool);
    other = acquire (pool);
    push_ok (harness, gst_buffer_ref (buffer));
    fail_unless (can_copy_buffer (&fake, buffer));
    push_ok (harness, gst_buffer_ref (other));
    fail_unless (can_copy_buffer (&fake, other));
    gst_buffer_unref (buffer);
    gst_buffer_unref (other);
    fail_unless_equals_int (*fake.pinned, before + 2);
  }
  pool_free (pool);
  fail_unless_equals_int (*fake.pinned, before);
  /* A pool without the parameters: its blocks share pages with other memory. */
  pool = pool_new (harness, &info, 2, FALSE);
  for (guint i = 0; i < 10; i++) {
    push_ok (harness, acquire (pool));
    fail_unless_equals_int (*fake.pinned, before);
  }
  pool_free (pool);
  /* A pool's buffer in which somebody replaced the memory. */
  pool = pool_new (harness, &info, 2, TRUE);
  buffer = acquire (pool);
  gst_buffer_replace_all_memory (buffer, gst_allocator_alloc (NULL, info.size, NULL));
  gst_buffer_memset (buffer, 0, 7, -1);
  push_ok (harness, buffer);
  fail_unless_equals_int (*fake.pinned, before);
  pool_free (pool);
  /* The same memory without a pool, pushed again and again. */
  buffer = frame_new (&info, FRAME_PLAIN, 1);
  for (guint i = 0; i < 3; i++) {
    push_ok (harness, gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, -1));
    fail_unless_equals_int (*fake.pinned, before);
  }
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  fail_unless_equals_int (*fake.pinned, 0);
}
GST_END_TEST;

/* An allocator whose memories lie one behind the other in one block. They look like system memory. */
typedef struct
{
  GstAllocator parent;
  guint8 *block;
  gsize used;
} Arena;

typedef GstAllocatorClass ArenaClass;

static GType arena_get_type (void);
G_DEFINE_TYPE (Arena, arena, GST_TYPE_ALLOCATOR)

#define ARENA_PAGES 16

static GstMemory *
arena_alloc (GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  Arena *arena = (Arena *) allocator;
  gsize pages = (size + params->padding + PAGE - 1) / PAGE * PAGE;
  guint8 *start = arena->block + arena->used;

  arena->used += pages;
  fail_unless (arena->used <= ARENA_PAGES * PAGE);
  return gst_memory_new_wrapped (0, start, pages, 0, size, NULL, NULL);
}

static void
arena_free (GstAllocator *allocator, GstMemory *memory)
{
}

static void
arena_init (Arena *arena)
{
  GST_ALLOCATOR (arena)->mem_type = "arena";
  arena->block = aligned_alloc (PAGE, ARENA_PAGES * PAGE);
}

static void
arena_finalize (GObject *object)
{
  free (((Arena *) object)->block);
  G_OBJECT_CLASS (arena_parent_class)->finalize (object);
}

static void
arena_class_init (ArenaClass *klass)
{
  klass->alloc = arena_alloc;
  klass->free = arena_free;
  G_OBJECT_CLASS (klass)->finalize = arena_finalize;
}

/* A pool of a derived type, which might wrap memory of any kind. */
typedef GstVideoBufferPool DerivedPool;
typedef GstVideoBufferPoolClass DerivedPoolClass;

static GType derived_pool_get_type (void);
G_DEFINE_TYPE (DerivedPool, derived_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static void
derived_pool_init (DerivedPool *pool)
{
}

static void
derived_pool_class_init (DerivedPoolClass *klass)
{
}

/* A pool that somebody made without asking the element. Takes pool. */
static GstBufferPool *
start_pool (GstBufferPool *pool, const GstVideoInfo *info, guint n, GstAllocator *allocator, GstAllocationParams params)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);

  gst_buffer_pool_config_set_params (config, caps, info->size, n, n);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

/* How many memories more are locked after each of the pool's buffers was pushed three times. Frees the pool. */
static gint
count_locked (GstHarness *harness, const FakeDevice *fake, GstBufferPool *pool, guint n)
{
  GstBuffer *taken[4];
  gint before = *fake->pinned, locked;

  for (guint i = 0; i < n; i++)
    taken[i] = acquire (pool);
  for (guint i = 0; i < 3 * n; i++)
    push_ok (harness, gst_buffer_ref (taken[i % n]));
  locked = *fake->pinned - before;
  for (guint i = 0; i < n; i++)
    gst_buffer_unref (taken[i]);
  pool_free (pool);
  fail_unless_equals_int (*fake->pinned, before);
  return locked;
}

/* Memory is locked only in whole pages that are all its own, and only if all of the frame lies in them. */
GST_START_TEST (test_whole_pages)
{
  const GstAllocationParams pages = { .align = PAGE - 1, .padding = PAGE - 1 };
  const GstAllocationParams exact = { .align = PAGE - 1 }, behind = { .align = PAGE - 1, .prefix = 16 };
  const GstAllocationParams padded = { .padding = 4 * PAGE };
  FakeDevice fake = fake_device ();
  GstVideoInfo info = info_of ("GRAY8", 64, 64); /* one page */
  GstHarness *harness = start_harness ("cudaconvolve", NULL, &info);
  g_autoptr (GstAllocator) arena = g_object_ref_sink (g_object_new (arena_get_type (), NULL));
  GstBufferPool *pool;
  GstBuffer *buffer;
  GstMapInfo map;
  guint8 *block;
  gint before;
  gpointer others[64]; /* change where the heap has room */

  gst_harness_set_drop_buffers (harness, TRUE);
  for (guint i = 0; i < 3; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  pool = start_pool (gst_video_buffer_pool_new (), &info, 2, NULL, pages);
  fail_unless_equals_int (count_locked (harness, &fake, pool, 2), 2);
  pool = start_pool (gst_buffer_pool_new (), &info, 2, NULL, pages);
  fail_unless_equals_int (count_locked (harness, &fake, pool, 2), 2);
  pool = start_pool (gst_video_buffer_pool_new (), &info, 1, NULL, exact);
  fail_unless_equals_int (count_locked (harness, &fake, pool, 1), 1);
  /* The frame begins behind the start of its page. The heap decides whether the block has a second whole page. */
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    gsize room;

    others[i] = g_malloc (PAGE + 64 * i);
    pool = start_pool (gst_video_buffer_pool_new (), &info, 1, NULL, behind);
    buffer = acquire (pool);
    room = gst_buffer_peek_memory (buffer, 0)->maxsize;
    gst_buffer_unref (buffer);
    fail_unless_equals_int (count_locked (harness, &fake, pool, 1), room >= 2 * PAGE);
  }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_free (others[i]);
  pool = start_pool (g_object_ref_sink (g_object_new (derived_pool_get_type (), NULL)), &info, 1, NULL, pages);
  fail_unless_equals_int (count_locked (harness, &fake, pool, 1), 0);
  pool = start_pool (gst_video_buffer_pool_new (), &info, 2, arena, pages);
  fail_unless_equals_int (count_locked (harness, &fake, pool, 2), 0);

  /* The block has enough pages, and begins inside one. */
  pool = start_pool (gst_video_buffer_pool_new (), &info, 1, NULL, padded);
  buffer = acquire (pool);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  block = map.data;
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (count_locked (harness, &fake, pool, 1), (guintptr) block % PAGE == 0);

  /* Somebody replaced the memory by a part of a larger block. */
  before = *fake.pinned;
  pool = start_pool (gst_video_buffer_pool_new (), &info, 1, NULL, pages);
  buffer = acquire (pool);
  block = aligned_alloc (PAGE, 4 * PAGE);
  gst_buffer_replace_all_memory (buffer, gst_memory_new_wrapped (0, block, 2 * PAGE, 0, info.size, NULL, NULL));
  gst_buffer_memset (buffer, 0, 7, -1);
  for (guint i = 0; i < 3; i++)
    push_ok (harness, gst_buffer_ref (buffer));
  fail_unless_equals_int (*fake.pinned, before);
  gst_buffer_unref (buffer);
  pool_free (pool);
  free (block);
  gst_harness_teardown (harness);
  fail_unless_equals_int (*fake.pinned, 0);
}
GST_END_TEST;

/* At most 1 GiB is locked. Memory is reserved here, and never touched. */
GST_START_TEST (test_limit)
{
  const GstAllocationParams large = { .align = PAGE - 1, .padding = 600 << 20 };
  const GstAllocationParams pages = { .align = PAGE - 1, .padding = PAGE - 1 };
  FakeDevice fake = fake_device ();
  GstVideoInfo info = small_info ("NV12");
  GstHarness *harness = start_harness ("cudaconvolve", NULL, &info);
  GstBufferPool *pool;

  gst_harness_set_drop_buffers (harness, TRUE);
  for (guint i = 0; i < 3; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  for (guint i = 0; i < 2; i++) { /* what was unlocked is free again */
    pool = start_pool (gst_video_buffer_pool_new (), &info, 2, NULL, large);
    fail_unless_equals_int (count_locked (harness, &fake, pool, 2), 1);
  }
  pool = start_pool (gst_video_buffer_pool_new (), &info, 2, NULL, pages);
  fail_unless_equals_int (count_locked (harness, &fake, pool, 2), 2);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* The pools of common elements upstream take the parameters, so more is locked than the output's pool. */
GST_START_TEST (test_usual_upstream)
{
  static const struct
  {
    const gchar *needs, *line;
  } rows[] = {
    { "videotestsrc", "videotestsrc num-buffers=20 ! video/x-raw,format=NV12" },
    { "videoconvert",
        "videotestsrc num-buffers=20 ! video/x-raw,format=NV12 ! videoconvert ! video/x-raw,format=RGBA" },
    { "jpegdec", "videotestsrc num-buffers=20 ! jpegenc ! jpegdec" },
    { "avdec_h264", "filesrc name=file ! qtdemux ! h264parse ! avdec_h264" },
  };

  fake_device_fault (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line =
        g_strdup_printf ("%s ! cudaconvolve kernel-variant=global ! fakesink sync=false", rows[i].line);
    g_autoptr (GstElementFactory) needed = gst_element_factory_find (rows[i].needs);
    g_autoptr (GstElement) file = NULL;
    g_autoptr (GstBus) bus = NULL;
    FakeDevice fake = fake_device ();
    GstElement *pipeline;
    GstMessage *message;
    gint before = *fake.pins;

    if (!needed) {
      g_print ("SKIP: there is no %s\n", rows[i].needs);
      continue;
    }
    pipeline = gst_parse_launch (line, NULL);
    file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
    if (file)
      g_object_set (file, "location", g_getenv ("CUDACONVOLVE_CLIP"), NULL);
    bus = gst_element_get_bus (pipeline);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s", line);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
    fail_unless (*fake.pins - before >= 2, "%s: %d memories", line, *fake.pins - before);
  }
}
GST_END_TEST;

/* Where memory cannot be locked the frames are right all the same. */
GST_START_TEST (test_no_pin)
{
  FakeDevice fake = fake_device ();
  GstVideoInfo info = small_info ("NV12");
  GstHarness *harness = start_harness ("cudaconvolve frames-in-flight=2", "no-pin", &info);
  GstBufferPool *pool;
  GstBuffer *one;
  gint refusals;

  for (guint i = 0; i < 20; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  fail_unless_equals_int (*fake.pinned, 0);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 19);
  /* A memory that the device refused is not offered again. */
  refusals = *fake.refusals;
  pool = pool_new (harness, &info, 2, TRUE);
  one = acquire (pool);
  for (guint i = 0; i < 10; i++) {
    push_ok (harness, gst_buffer_ref (one));
    gst_buffer_unref (gst_harness_pull (harness));
  }
  fail_unless (*fake.refusals - refusals <= 8, "%d refusals", *fake.refusals - refusals);
  gst_buffer_unref (one);
  pool_free (pool);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/*
 * Where each plane is a memory and the planes lie end to end, none is locked, and the block can be copied as a whole.
 */
GST_START_TEST (test_separate_memories)
{
  static const gint64 integers[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 };
  const Expected expected = { .boundary = CONVOLVE_BOUNDARY_REPLICATE,
    .width = 3,
    .height = 3,
    .integers = integers,
    .numerator = 1,
    .denominator = 16 };
  FakeDevice fake = fake_device ();

  for (guint n = 1; n <= 4; n++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask=\"1 2 1; 2 4 2; 1 2 1\" kernel-variant=global "
                                              "frames-in-flight=%u",
        n);
    GstVideoInfo info = small_info ("I420");
    GstHarness *harness = start_harness (line, NULL, &info);
    guint8 *block = aligned_alloc (PAGE, (info.size / PAGE + 1) * PAGE);
    GstBuffer *planes = frame_wrap_planes (&info, block), *out;

    for (gsize i = 0; i < info.size; i++)
      block[i] = i * 31 % 251;
    for (guint i = 0; i < 8; i++) {
      push_ok (harness, gst_buffer_ref (planes));
      fail_unless (fake.can_copy (block, info.size));
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint i = 0; i < 8; i++) {
      out = gst_harness_pull (harness);
      frame_check (&info, planes, out, &expected, line);
      gst_buffer_unref (out);
    }
    gst_buffer_unref (planes);
    gst_harness_teardown (harness);
    free (block);
  }
}
GST_END_TEST;

/* The first plane is in a page-locked block. The others follow without a gap, and belong to others. */
GST_START_TEST (test_half_locked)
{
  const GstAllocationParams half = { .align = PAGE - 1, .padding = PAGE / 2 };
  GstVideoInfo info = info_of ("YUV9", 128, 64), luma = info_of ("GRAY8", 128, 64); /* luma has two pages */
  FakeDevice fake = fake_device ();
  GstHarness *harness = start_harness ("cudaconvolve", NULL, &luma), *other;
  GstBufferPool *pool = start_pool (gst_video_buffer_pool_new (), &luma, 16, NULL, half);
  GstBuffer *all[16], *planes;
  GstMemory *locked = NULL;
  GstMapInfo map;

  /* The heap may give more than it was asked for. A third page would be locked, too. */
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    GstMemory *memory;

    all[i] = acquire (pool);
    memory = gst_buffer_peek_memory (all[i], 0);
    if (locked || memory->maxsize >= 3 * PAGE)
      continue;
    locked = memory;
    gst_harness_set_drop_buffers (harness, TRUE);
    for (guint k = 0; k < 3; k++)
      push_ok (harness, gst_buffer_ref (all[i]));
  }
  fail_unless (locked != NULL);
  gst_memory_map (locked, &map, GST_MAP_READ);
  fail_unless (!fake.can_copy (map.data, info.size));
  memset (map.data + luma.size, 7, info.size - luma.size); /* the padding has the other planes */
  planes = frame_wrap_planes (&info, map.data);
  gst_buffer_replace_memory (planes, 0, gst_memory_share (locked, 0, -1));
  other = start_harness ("cudaconvolve frames-in-flight=2", NULL, &info);
  gst_harness_set_drop_buffers (other, TRUE);
  for (guint i = 0; i < 3; i++)
    push_ok (other, gst_buffer_ref (planes));
  gst_harness_teardown (other);
  gst_buffer_unref (planes);
  gst_memory_unmap (locked, &map);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    gst_buffer_unref (all[i]);
  pool_free (pool);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/*
 * Two frames share a page. After one came often, the element and other code can still copy the other, in both orders.
 */
GST_START_TEST (test_neighbours)
{
  FakeDevice fake = fake_device ();
  GstVideoInfo info = small_info ("NV12");

  for (guint first = 0; first < 2; first++)
    for (guint n = 1; n <= 2; n++) {
      g_autofree gchar *line = g_strdup_printf ("cudaconvolve frames-in-flight=%u", n);
      GstHarness *harness = start_harness (line, NULL, &info);
      guint8 *block = aligned_alloc (PAGE, (2 * info.size / PAGE + 1) * PAGE);
      GstBuffer *frames[2];

      gst_harness_set_drop_buffers (harness, TRUE);
      memset (block, 9, 2 * info.size);
      for (guint i = 0; i < 2; i++)
        frames[i] = gst_buffer_new_wrapped_full (0, block + i * info.size, info.size, 0, info.size, NULL, NULL);
      for (guint i = 0; i < 10; i++) {
        push_ok (harness, gst_buffer_ref (frames[i < 5 ? first : !first]));
        fail_unless (fake.can_copy (block, info.size));
        fail_unless (fake.can_copy (block + info.size, info.size));
        fail_unless (fake.can_copy (block, 2 * info.size));
      }
      gst_harness_push_event (harness, gst_event_new_eos ());
      gst_buffer_unref (frames[0]);
      gst_buffer_unref (frames[1]);
      gst_harness_teardown (harness);
      free (block);
    }
}
GST_END_TEST;

/* Memory that is new for every frame is not locked, however many elements receive the frame. */
GST_START_TEST (test_tee)
{
  FakeDevice fake = fake_device ();
  GstVideoInfo info = small_info ("NV12");

  for (guint pooled = 0; pooled < 2; pooled++) {
    GstHarness *one = start_harness ("cudaconvolve", NULL, &info), *other = start_harness ("cudaconvolve", NULL, &info);
    gint pins;

    gst_harness_set_drop_buffers (one, TRUE);
    gst_harness_set_drop_buffers (other, TRUE);
    push_ok (one, frame_new (&info, FRAME_PLAIN, 1));
    push_ok (other, frame_new (&info, FRAME_PLAIN, 1));
    pins = *fake.pins;
    for (guint i = 0; i < 60; i++) {
      GstBufferPool *pool = pool_new (one, &info, 1, TRUE);
      GstBuffer *buffer = pooled ? acquire (pool) : frame_new (&info, FRAME_PLAIN, i);

      push_ok (one, gst_buffer_ref (buffer));
      push_ok (other, buffer);
      pool_free (pool);
    }
    /*
     * The output's pools may have made a few buffers more. The number of buffers that are locked in vain is limited.
     */
    fail_unless (*fake.pins - pins <= (pooled ? 16 + 8 : 8), "%d of 60 frames were locked", *fake.pins - pins);
    gst_harness_teardown (one);
    gst_harness_teardown (other);
  }
  fail_unless_equals_int (*fake.pinned, 0);
}
GST_END_TEST;

/* --- CUDA takes its time to lock and to unlock --- */

static void
wait_until_held (const FakeDevice *fake)
{
  for (guint i = 0; g_atomic_int_get (fake->hold) != 'w'; i++) {
    fail_unless (i < 20000, "no call of the device came");
    g_usleep (1000);
  }
}

/* A harness whose own pools are locked. Its frames take less than 10 seconds for sure. */
static GstHarness *
start_warm (const GstVideoInfo *info)
{
  GstHarness *harness = start_harness ("cudaconvolve", NULL, info);

  gst_harness_set_drop_buffers (harness, TRUE);
  for (guint i = 0; i < 8; i++)
    push_ok (harness, frame_new (info, FRAME_PLAIN, i));
  return harness;
}

typedef struct
{
  GstHarness *harness;
  GstBuffer *buffer;   /* to push twice, or NULL: after many memories in vain, only the second use locks */
  GstBufferPool *pool; /* to free, or NULL */
  gint done;
} Job;

static gpointer
do_job (gpointer data)
{
  Job *job = data;

  if (job->buffer) {
    push_ok (job->harness, gst_buffer_ref (job->buffer));
    push_ok (job->harness, job->buffer);
  }
  if (job->pool)
    pool_free (job->pool);
  g_atomic_int_set (&job->done, TRUE);
  return NULL;
}

/* Starts the job, and waits until a call of the device of that kind does. */
static GThread *
start_job (const FakeDevice *fake, Job *job, gchar kind)
{
  GThread *thread;

  g_atomic_int_set (fake->hold, kind);
  thread = g_thread_new ("job", do_job, job);
  wait_until_held (fake);
  return thread;
}

static void
end_job (const FakeDevice *fake, Job *job, GThread *thread)
{
  fail_unless (!g_atomic_int_get (&job->done));
  g_atomic_int_set (fake->hold, 0);
  g_thread_join (thread);
}

/* Does a job in another thread, which fails the check where the job takes long. */
static void
do_in_time (Job job)
{
  GThread *thread = g_thread_new ("in time", do_job, &job);

  for (guint i = 0; !g_atomic_int_get (&job.done); i++) {
    fail_unless (i < 10000, "an element waits for what another one locks");
    g_usleep (1000);
  }
  g_thread_join (thread);
}

static void
push_in_time (GstHarness *harness, GstBuffer *buffer)
{
  do_in_time ((Job){ .harness = harness, .buffer = buffer });
}

/*
 * While one element locks memory, another one takes frames: of other memory, which it locks, and of the same memory, which
 * is not locked for that element yet. While one unlocks, too.
 */
GST_START_TEST (test_slow_lock)
{
  FakeDevice fake = fake_device ();
  GstVideoInfo info = small_info ("NV12");
  GstHarness *one = start_warm (&info), *other = start_warm (&info);
  GstBufferPool *slow = pool_new (one, &info, 2, TRUE), *quick = pool_new (other, &info, 2, TRUE);
  GstBuffer *buffer = acquire (slow);
  gint before = *fake.pinned;
  Job locks = { .harness = one, .buffer = gst_buffer_ref (buffer) }, unlocks = { .pool = slow };
  GThread *thread = start_job (&fake, &locks, 'p');

  for (guint i = 0; i < 4; i++)
    push_in_time (other, acquire (quick));
  fail_unless_equals_int (*fake.pinned, before + 2); /* both of the quick pool */
  for (guint i = 0; i < 4; i++)
    push_in_time (other, gst_buffer_ref (buffer));
  fail_unless_equals_int (*fake.pinned, before + 2);
  end_job (&fake, &locks, thread);
  fail_unless_equals_int (*fake.pinned, before + 3);
  push_ok (other, buffer);
  fail_unless_equals_int (*fake.pinned, before + 3); /* once for both */

  thread = start_job (&fake, &unlocks, 'u');
  do_in_time ((Job){ .pool = quick });
  quick = pool_new (other, &info, 2, TRUE);
  for (guint i = 0; i < 4; i++)
    push_in_time (other, acquire (quick));
  fail_unless_equals_int (*fake.pinned, before + 3); /* two new ones, and the one that takes its time */
  end_job (&fake, &unlocks, thread);
  fail_unless_equals_int (*fake.pinned, before + 2);
  pool_free (quick);
  gst_harness_teardown (one);
  gst_harness_teardown (other);
  fail_unless_equals_int (*fake.pinned, 0);
}
GST_END_TEST;

/* Bytes count for the limit from the time when CUDA is asked to lock them, and no longer where CUDA refuses. */
GST_START_TEST (test_slow_limit)
{
  const GstAllocationParams large = { .align = PAGE - 1, .padding = 600 << 20 };
  FakeDevice fake = fake_device ();
  GstVideoInfo info = small_info ("NV12");
  GstHarness *one = start_warm (&info), *other = start_warm (&info);
  GstBufferPool *pool = start_pool (gst_video_buffer_pool_new (), &info, 4, NULL, large);
  GstBuffer *held[4];
  gint before = *fake.pinned, refusals;
  Job locks = { .harness = one };
  GThread *thread;

  for (guint i = 0; i < G_N_ELEMENTS (held); i++)
    held[i] = acquire (pool);
  refusals = *fake.refusals;
  fake_device_fault ("no-pin");
  push_ok (one, gst_buffer_ref (held[0]));
  push_ok (one, gst_buffer_ref (held[0]));
  fail_unless (*fake.refusals > refusals);
  fake_device_fault (NULL);
  locks.buffer = gst_buffer_ref (held[1]);
  thread = start_job (&fake, &locks, 'p');
  for (guint i = 0; i < 3; i++)
    push_in_time (other, gst_buffer_ref (held[2]));
  fail_unless_equals_int (*fake.pinned, before);
  end_job (&fake, &locks, thread);
  fail_unless_equals_int (*fake.pinned, before + 1);
  for (guint i = 0; i < G_N_ELEMENTS (held); i++)
    gst_buffer_unref (held[i]);
  pool_free (pool);
  gst_harness_teardown (one);
  gst_harness_teardown (other);
  fail_unless_equals_int (*fake.pinned, 0);
}
GST_END_TEST;

static Suite *
memory_suite (void)
{
  Suite *suite = suite_create ("memory");
  TCase *tc = tcase_create ("memory");

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  suite_add_tcase (suite, pool_tests ());
  suite_add_tcase (suite, frame_tests ());
  tcase_add_test (tc, test_locked);
  tcase_add_test (tc, test_whole_pages);
  tcase_add_test (tc, test_limit);
  tcase_add_test (tc, test_usual_upstream);
  tcase_add_test (tc, test_no_pin);
  tcase_add_test (tc, test_separate_memories);
  tcase_add_test (tc, test_half_locked);
  tcase_add_test (tc, test_neighbours);
  tcase_add_test (tc, test_tee);
  tcase_add_test (tc, test_slow_lock);
  tcase_add_test (tc, test_slow_limit);
  return suite;
}

GST_CHECK_MAIN (memory);
