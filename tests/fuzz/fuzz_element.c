/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A whole element between a source and a sink that do what the input says: frames in all layouts, lying metas,
 * new properties and caps, events, queries and state changes, in any order. The input begins with a header, which
 * chooses the element, cudaconvolve or cudaconvlayer, and gives the first caps, what downstream is like, the first mask,
 * the variant and the device's fault. A layer's filters are such a mask, too. Each byte after the header is an operation,
 * followed by its arguments.
 *
 * The element must not crash, must not log a warning or a critical through GLib, and must leave nothing behind.
 * One fault gives one error. A frame whose mask is known comes out exact, or from a layer within one code value. Bytes
 * around the picture stay as they were, and so does a frame that somebody else holds.
 *
 * Built with FUZZ_DEVICE=1, the elements work over the tests' fake device, of which any call may fail.
 */
#include <string.h>
#include <unistd.h>

#include "report/debug.h"
#include "fuzz/fuzz_element.h"
#include "layer/gstcudaconvlayer.h"
#include "mask/gstcudaconvolve.h"

#define MOST_OPERATIONS 40
#define MOST_ERRORS 16

/* --- the input --- */

guint8
fuzz_byte (Bytes *bytes)
{
  if (bytes->left == 0)
    return 0;
  bytes->left--;
  return *bytes->data++;
}

guint
fuzz_word (Bytes *bytes)
{
  guint low = fuzz_byte (bytes);

  return low | (guint) fuzz_byte (bytes) << 8;
}

guint64
fuzz_long (Bytes *bytes)
{
  guint64 number = 0;

  for (guint i = 0; i < 8; i++)
    number |= (guint64) fuzz_byte (bytes) << (8 * i);
  return number;
}

/* --- one run --- */

typedef struct
{
  GstElement *element;
  gboolean is_layer;
  guint channels;        /* of the known layers: 1 or 3 */
  GstPad *source, *sink; /* of the neighbours */
  GstBufferPool *offered;

  GstVideoInfo info; /* of the last caps that were sent */
  gboolean known_caps, accepted, told_stream, told_caps, told_segment;

  PoolKind pool;
  gsize first_size;
  GstFlowReturn downstream; /* what the sink returns */

  gint mask; /* of fuzz_masks; -1 where the properties make another picture */
  OracleBoundary boundary;

  gboolean running, flushing, ended, late, failed, device_fails;
  guint n_frames, n_out;
  Frame frames[FUZZ_FRAMES];

  guint n_errors; /* since the element started */
  gchar *errors[MOST_ERRORS];
} Run;

static Run run;
static GArray *formats;     /* all of the pad template */
static GPtrArray *specs[2]; /* of all properties that can be set, of cudaconvolve and of cudaconvlayer */

/* --- the sink --- */

static void
take (GstPad *pad, GstBuffer *buffer)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  gint number = fuzz_frame_number (buffer);
  const Frame *frame = number >= 0 && (guint) number < run.n_frames ? &run.frames[number] : NULL;
  GstVideoInfo info;

  if (!caps || !gst_video_info_from_caps (&info, caps))
    fuzz_fail ("an output has no caps of video");
  run.n_out++;
  fuzz_check_output (frame, &info, buffer);
}

static GstFlowReturn
sink_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  take (pad, buffer);
  gst_buffer_unref (buffer);
  return run.downstream;
}

static gboolean
sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event);
  return TRUE;
}

static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_ALLOCATION:
      return fuzz_pool_answer (run.pool, &run.first_size, query);
    case GST_QUERY_CAPS: {
      GstCaps *filter;

      gst_query_parse_caps (query, &filter);
      gst_query_set_caps_result (query, filter ? filter : GST_CAPS_ANY);
      return TRUE;
    }
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    default:
      return FALSE;
  }
}

static gboolean
source_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY) {
    gst_query_set_latency (query, FALSE, 0, GST_CLOCK_TIME_NONE);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

/* --- errors --- */

static gboolean
is_expected_error (const GError *error)
{
  if (error->domain == GST_LIBRARY_ERROR)
    return error->code == GST_LIBRARY_ERROR_SETTINGS;
  if (error->domain == GST_STREAM_ERROR)
    return error->code == GST_STREAM_ERROR_FORMAT;
  if (error->domain == GST_RESOURCE_ERROR)
    return error->code == GST_RESOURCE_ERROR_READ || error->code == GST_RESOURCE_ERROR_WRITE
        || (FUZZ_DEVICE
            && (error->code == GST_RESOURCE_ERROR_FAILED || error->code == GST_RESOURCE_ERROR_NO_SPACE_LEFT))
        || error->code == GST_RESOURCE_ERROR_NOT_FOUND;
  return FALSE;
}

static void
hear_error (GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  gst_message_parse_error (message, &error, &debug);
  if (!is_expected_error (error))
    fuzz_fail ("an error of %s, code %d: %s (%s)", g_quark_to_string (error->domain), error->code, error->message,
        debug);
  if (!g_utf8_validate (error->message, -1, NULL) || (debug && !g_utf8_validate (debug, -1, NULL)))
    fuzz_fail ("the text of an error is not UTF-8");
  if (run.n_errors > 0 && g_str_has_prefix (run.errors[(run.n_errors - 1) % MOST_ERRORS], error->message))
    fuzz_fail ("the same error twice in a row: %s", error->message);
  g_free (run.errors[run.n_errors % MOST_ERRORS]);
  run.errors[run.n_errors++ % MOST_ERRORS] = g_strdup_printf ("%s (%s)", error->message, debug);
  run.failed = TRUE;
}

static GstBusSyncReply
hear (GstBus *bus, GstMessage *message, gpointer data)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    hear_error (message);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
forget_errors (void)
{
  for (guint i = 0; i < MOST_ERRORS; i++)
    g_clear_pointer (&run.errors[i], g_free);
  run.n_errors = 0;
  run.failed = FALSE;
}

/* GObject tells who sets a property to a value out of its range. All other warnings are faults. */
static GLogWriterOutput
log_writer (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  const gchar *text = "", *domain = "";

  if (!(level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)))
    return G_LOG_WRITER_HANDLED;
  for (gsize i = 0; i < n_fields; i++) {
    if (g_str_equal (fields[i].key, "MESSAGE"))
      text = fields[i].value;
    if (g_str_equal (fields[i].key, "GLIB_DOMAIN"))
      domain = fields[i].value;
  }
  if (!strstr (text, "is invalid or out of range for property"))
    fuzz_fail ("%s warns: %s", domain, text);
  return G_LOG_WRITER_HANDLED;
}

/* Makes the texts of the log, as GST_DEBUG does, and prints nothing. */
static void
log_nothing (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  gst_debug_message_get (message);
}

/* --- caps --- */

static const gchar *
interlace_mode (guint byte)
{
  static const gchar *const modes[] = { "progressive", "progressive", "progressive", "progressive", "interleaved",
    "mixed", "alternate", "fields" };

  return modes[byte % 8];
}

static void
set_views (GstCaps *caps, guint byte)
{
  static const gchar *const modes[] = { NULL, NULL, NULL, "mono", "side-by-side", "top-bottom", "row-interleaved",
    "column-interleaved", "checkerboard", "side-by-side-quincunx", "frame-by-frame", "separated",
    "multiview-frame-by-frame" };
  const gchar *mode = modes[byte % G_N_ELEMENTS (modes)];

  if (mode)
    gst_caps_set_simple (caps, "multiview-mode", G_TYPE_STRING, mode, "views", G_TYPE_INT, 2, NULL);
  if (mode && byte >= 128)
    gst_caps_set_simple (caps, "multiview-flags", GST_TYPE_VIDEO_MULTIVIEW_FLAGSET, byte & 64 ? 0x100 : 0,
        GST_FLAG_SET_MASK_EXACT, NULL);
}

static void
set_details (GstCaps *caps, guint byte)
{
  static const gchar *const colours[] = { NULL, "bt601", "bt709", "1:4:0:0", "sRGB", "2:1:1:1", "9:9:9:9", "\x01" };
  static const gint rates[][2] = { { 25, 1 }, { 25, 1 }, { 0, 1 }, { G_MAXINT, 1 }, { 1, G_MAXINT }, { 30000, 1001 },
    { 1, 1 }, { 120, 1 } };

  if (colours[byte % 8])
    gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING, colours[byte % 8], NULL);
  if (byte < 248)
    gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, rates[byte / 8 % 8][0], rates[byte / 8 % 8][1], NULL);
  if (byte & 0x80)
    gst_caps_set_simple (caps, "chroma-site", G_TYPE_STRING, byte & 0x40 ? "mpeg2" : "nonsense", NULL);
}

/* Most frames are small, so that the oracle has little to do. */
static guint
make_side (Bytes *bytes, guint most)
{
  guint byte = fuzz_byte (bytes);

  return 1 + (byte < 208 ? byte % 24 : byte % most);
}

/* Most frames for a layer are of a format that the known layers take. */
static GstVideoFormat
choose_format (guint byte)
{
  static const GstVideoFormat colours[] = { GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_GBR,
    GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_BGRP, GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_xBGR,
    GST_VIDEO_FORMAT_ARGB, GST_VIDEO_FORMAT_GBRA };

  if (run.is_layer && byte < 224)
    return run.channels == 1 ? GST_VIDEO_FORMAT_GRAY8 : colours[byte % G_N_ELEMENTS (colours)];
  return g_array_index (formats, GstVideoFormat, byte % formats->len);
}

/* Caps of frames with at most FUZZ_AREA pixels. */
static GstCaps *
make_caps (Bytes *bytes)
{
  GstVideoFormat format = choose_format (fuzz_byte (bytes));
  guint width = make_side (bytes, 160), height = make_side (bytes, 64);
  guint kind = fuzz_byte (bytes);
  GstCaps *caps;

  if (width * height > FUZZ_AREA)
    height = FUZZ_AREA / width;
  caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (format), "width",
      G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  if (kind % 8 >= 4)
    gst_caps_set_simple (caps, "interlace-mode", G_TYPE_STRING, interlace_mode (kind), NULL);
  if (kind % 8 == 6)
    gst_caps_set_features (caps, 0, gst_caps_features_new (GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL));
  if (kind >= 0xC0)
    set_views (caps, fuzz_byte (bytes));
  if (kind & 0x20)
    set_details (caps, fuzz_byte (bytes));
  else
    gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  return caps;
}

/* Caps that no frame can have, or that the element does not take. */
static GstCaps *
make_odd_caps (Bytes *bytes)
{
  static const gchar *const texts[] = { "video/x-raw,format=v210,width=16,height=4",
    "video/x-raw,format=NV12_64Z32,width=16,height=4", "audio/x-raw,format=S16LE,rate=8000,channels=1",
    "video/x-raw,format=I420,width=16", "video/x-raw,format=I420,width=0,height=0",
    "video/x-raw,format=RGB,width=2147483647,height=2147483647",
    "video/x-raw(memory:CUDAMemory),format=NV12,width=16,height=8",
    "video/x-raw(memory:GLMemory),format=RGBA,width=8,height=8", "video/x-raw,format=GRAY8,width=-1,height=4",
    "video/x-raw,format=RGB8P,width=4,height=4", "video/x-raw,format=GRAY10_LE32,width=4,height=4" };

  return gst_caps_from_string (texts[fuzz_byte (bytes) % G_N_ELEMENTS (texts)]);
}

/* Whether the element has taken these caps. A pad that sends caps is told nothing else for certain. */
static gboolean
has_taken (GstCaps *caps)
{
  g_autoptr (GstPad) pad = gst_pad_get_peer (run.source);
  g_autoptr (GstCaps) taken = gst_pad_get_current_caps (pad);

  return taken && gst_caps_is_equal (taken, caps);
}

/* Takes caps. */
static void
send_caps (GstCaps *caps)
{
  if (!run.told_stream)
    gst_pad_push_event (run.source, gst_event_new_stream_start ("fuzz"));
  run.told_stream = TRUE;
  run.known_caps = gst_video_info_from_caps (&run.info, caps);
  run.accepted = gst_pad_push_event (run.source, gst_event_new_caps (caps)) && run.known_caps && has_taken (caps);
  run.told_caps = TRUE;
  gst_caps_unref (caps);
}

static void
send_segment (Bytes *bytes)
{
  guint kind = bytes ? fuzz_byte (bytes) : 0;
  GstSegment segment;

  gst_segment_init (&segment, kind >= 248 ? GST_FORMAT_BYTES : GST_FORMAT_TIME);
  if (kind & 1)
    segment.start = fuzz_word (bytes) * GST_MSECOND;
  if (kind & 2)
    segment.rate = kind & 4 ? -1 : 2;
  if (segment.rate < 0)
    segment.stop = segment.start + GST_SECOND;
  if (kind & 8)
    segment.time = fuzz_word (bytes) * GST_MSECOND;
  if (kind & 16)
    segment.base = fuzz_long (bytes) >> 1;
  gst_pad_push_event (run.source, gst_event_new_segment (&segment));
  run.told_segment = TRUE;
}

/* What GStreamer wants to come before a frame. */
static void
introduce (void)
{
  if (!run.told_caps || !run.told_stream) {
    GstCaps *caps = gst_pad_get_current_caps (run.source);

    send_caps (caps ? caps : gst_video_info_to_caps (&run.info));
  }
  if (!run.told_segment)
    send_segment (NULL);
}

/* --- frames --- */

/* Whether a sound frame has to be taken now, and comes out at once. */
static gboolean
must_come_out (const Frame *frame)
{
  return frame->mask >= 0 && frame->sound && run.accepted && run.running && !run.flushing && !run.ended && !run.late
      && !run.failed && !run.device_fails && run.pool < POOL_HONEST_END && run.downstream == GST_FLOW_OK;
}

/* What a mask does is checked where the picture is one, and the frame is what the caps say. */
static gboolean
is_plain (const GstVideoInfo *info)
{
  GstVideoMultiviewMode views = GST_VIDEO_INFO_MULTIVIEW_MODE (info);

  return GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE
      && (views == GST_VIDEO_MULTIVIEW_MODE_NONE || views == GST_VIDEO_MULTIVIEW_MODE_MONO
          || views == GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME);
}

/*
 * Whether the output of the mask is known. A layer does not copy alpha, and shows its values in full range, whatever the
 * range of its input is.
 */
static gboolean
is_known (const GstVideoInfo *info)
{
  if (!is_plain (info))
    return FALSE;
  return !run.is_layer
      || (info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 && GST_VIDEO_INFO_N_COMPONENTS (info) == run.channels
          && GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) < 4);
}

static GstBuffer *
make_frame (Bytes *bytes, Frame **made)
{
  Frame *frame = &run.frames[run.n_frames];
  GstBuffer *buffer;

  *frame = (Frame){ .mask = is_known (&run.info) ? run.mask : -1, .boundary = run.boundary, .slack = run.is_layer };
  if (run.offered && gst_buffer_pool_is_active (run.offered) && (fuzz_byte (bytes) & 1))
    buffer = fuzz_frame_new_from_pool (frame, run.n_frames, &run.info, run.offered, bytes);
  else
    buffer = fuzz_frame_new (frame, run.n_frames, &run.info, bytes);
  /* After the end of the stream, caps are not even kept by the pad that sends them: it is a frame of other caps. */
  frame->sound = frame->sound && run.accepted;
  *made = frame;
  run.n_frames += buffer != NULL;
  return buffer;
}

static gboolean
can_push (void)
{
  return run.n_frames < FUZZ_FRAMES && run.known_caps && run.info.size > 0
      && (gsize) run.info.width * run.info.height <= FUZZ_AREA
      && gst_video_format_get_info (GST_VIDEO_INFO_FORMAT (&run.info))->n_planes > 0
      && gst_cuda_convolve_format_is_supported (run.info.finfo);
}

/*
 * Sends what has to come before a frame, where one can be pushed. Caps that the pad kept can take the place of those that
 * were sent last, for which there may be no frame.
 */
static gboolean
prepare_push (void)
{
  if (!can_push ())
    return FALSE;
  introduce ();
  return can_push ();
}

static void
push_frame (Bytes *bytes)
{
  guint keep = fuzz_byte (bytes), before;
  GstFlowReturn ret;
  GstBuffer *buffer;
  Frame *frame;
  gboolean must;

  if (!prepare_push ())
    return;
  buffer = make_frame (bytes, &frame);
  if (!buffer)
    return;
  if (keep % 4 != 3)
    frame->kept = gst_buffer_ref (buffer);
  must = must_come_out (frame) && GST_BUFFER_PTS_IS_VALID (buffer);
  before = run.n_out;
  ret = gst_pad_push (run.source, buffer);
  if (ret == GST_FLOW_ERROR && !run.failed)
    fuzz_fail ("a frame failed without an error");
  if (must && ret != GST_FLOW_OK)
    fuzz_fail ("frame %u is sound and was refused: %s, %s", run.n_frames - 1, gst_flow_get_name (ret),
        run.n_errors > 0 ? run.errors[(run.n_errors - 1) % MOST_ERRORS] : "no error");
  if (must && !FUZZ_DEVICE && run.n_out != before + 1)
    fuzz_fail ("%u frames came out for one", run.n_out - before);
}

static void
push_list (Bytes *bytes)
{
  GstBufferList *list;

  if (!prepare_push ())
    return;
  list = gst_buffer_list_new ();
  for (guint i = 0; i < 3 && can_push (); i++) {
    Frame *frame;
    GstBuffer *buffer = make_frame (bytes, &frame);

    if (buffer)
      gst_buffer_list_add (list, buffer);
  }
  gst_pad_push_list (run.source, list);
}

/* Asks for an allocation as upstream does, and keeps the pool that is offered. */
static void
ask_allocation (Bytes *bytes)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (run.source);
  guint size, least, most;
  GstBufferPool *pool;
  GstQuery *query;

  if (!caps || !can_push ())
    return;
  query = gst_query_new_allocation (caps, fuzz_byte (bytes) & 1);
  if (gst_pad_peer_query (run.source, query) && gst_query_get_n_allocation_pools (query) > 0) {
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &least, &most);
    if (pool) {
      GstStructure *config = gst_buffer_pool_get_config (pool);

      gst_buffer_pool_config_set_params (config, caps, size, least, most);
      if (run.offered)
        gst_buffer_pool_set_active (run.offered, FALSE);
      gst_clear_object (&run.offered);
      run.offered = pool;
      fuzz_pool_is_lent = TRUE;
      if (gst_buffer_pool_set_config (pool, config))
        gst_buffer_pool_set_active (pool, TRUE);
    }
  }
  gst_query_unref (query);
}

/* --- events, queries and states --- */

static void
send_upstream (Bytes *bytes)
{
  guint kind = fuzz_byte (bytes);
  GstEvent *event;

  if (kind % 4 == 0) {
    GstClockTime time = fuzz_long (bytes) >> 1; /* GStreamer wants a time that is one */
    GstClockTimeDiff jitter = (gint64) fuzz_long (bytes);

    if (jitter < 0 && (jitter == G_MININT64 || (GstClockTime) -jitter > time))
      jitter = 0;
    event = gst_event_new_qos (kind & 4 ? GST_QOS_TYPE_UNDERFLOW : GST_QOS_TYPE_OVERFLOW, fuzz_byte (bytes) / 32.0,
        jitter, time);
    run.late = TRUE;
  } else if (kind % 4 == 1) {
    event = gst_event_new_navigation (gst_structure_new ("application/x-gst-navigation", "event", G_TYPE_STRING,
        "mouse-move", "button", G_TYPE_INT, 0, "pointer_x", G_TYPE_DOUBLE, (gdouble) (gint16) fuzz_word (bytes),
        "pointer_y", G_TYPE_DOUBLE, (gdouble) (gint16) fuzz_word (bytes), NULL));
  } else if (kind % 4 == 2) {
    event = gst_event_new_reconfigure ();
  } else {
    event = gst_event_new_latency (fuzz_long (bytes) >> 1);
  }
  gst_pad_push_event (run.sink, event);
}

static void
send_downstream (Bytes *bytes)
{
  guint kind = fuzz_byte (bytes);

  switch (kind % 8) {
    case 0:
      gst_pad_push_event (run.source, gst_event_new_flush_start ());
      run.flushing = TRUE;
      break;
    case 1:
    case 2:
      gst_pad_push_event (run.source, gst_event_new_flush_stop (kind & 8));
      run.flushing = run.ended = run.late = FALSE;
      run.told_segment = FALSE;
      break;
    case 3:
      introduce ();
      gst_pad_push_event (run.source, gst_event_new_eos ());
      run.ended = TRUE;
      break;
    case 4:
      introduce ();
      gst_pad_push_event (run.source,
          gst_event_new_gap (fuzz_word (bytes) * GST_MSECOND, kind & 8 ? GST_CLOCK_TIME_NONE : 40 * GST_MSECOND));
      break;
    case 5:
      introduce ();
      gst_pad_push_event (run.source, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "fuzz", NULL)));
      break;
    case 6:
      introduce ();
      gst_pad_push_event (run.source,
          gst_event_new_custom (kind & 8 ? GST_EVENT_CUSTOM_DOWNSTREAM : GST_EVENT_CUSTOM_DOWNSTREAM_OOB,
              gst_structure_new_empty ("fuzz")));
      break;
    default:
      introduce ();
      send_segment (bytes);
      break;
  }
}

static GstQuery *
make_query (guint kind, Bytes *bytes)
{
  switch (kind % 8) {
    case 0:
      return gst_query_new_latency ();
    case 1: {
      g_autoptr (GstCaps) caps = kind & 16 ? make_odd_caps (bytes) : make_caps (bytes);

      return gst_query_new_caps (kind & 8 ? caps : NULL);
    }
    case 2: {
      g_autoptr (GstCaps) caps = kind & 8 ? make_odd_caps (bytes) : make_caps (bytes);

      return gst_query_new_accept_caps (caps);
    }
    case 3:
      return gst_query_new_position (kind & 8 ? GST_FORMAT_TIME : GST_FORMAT_BYTES);
    case 4:
      return gst_query_new_duration (GST_FORMAT_TIME);
    case 5:
      return gst_query_new_convert (GST_FORMAT_TIME, fuzz_word (bytes),
          kind & 8 ? GST_FORMAT_BYTES : GST_FORMAT_DEFAULT);
    case 6:
      return gst_query_new_context (kind & 8 ? "gst.cuda.context" : "fuzz");
    default:
      return gst_query_new_drain ();
  }
}

static void
send_query (Bytes *bytes)
{
  guint kind = fuzz_byte (bytes);
  GstQuery *query = make_query (kind, bytes);

  /* A serialized query goes downstream, behind what GStreamer wants to come first. */
  if (GST_QUERY_IS_SERIALIZED (query))
    introduce ();
  gst_pad_peer_query (kind & 128 && !GST_QUERY_IS_SERIALIZED (query) ? run.sink : run.source, query);
  gst_query_unref (query);
}

static void
set_state (GstState state)
{
  GstStateChangeReturn ret;
  GstState before = GST_STATE (run.element);

  if (before <= GST_STATE_READY && state > GST_STATE_READY)
    forget_errors ();
  ret = gst_element_set_state (run.element, state);
  if (ret == GST_STATE_CHANGE_FAILURE && !run.failed)
    fuzz_fail ("the element did not start, without an error");
  /* A failure leaves pads and states in between; to start again, the element is stopped first. */
  if (ret == GST_STATE_CHANGE_FAILURE)
    gst_element_set_state (run.element, GST_STATE_NULL);
  run.running = GST_STATE (run.element) >= GST_STATE_PAUSED;
  if (GST_STATE (run.element) <= GST_STATE_READY || (before <= GST_STATE_READY && run.running)) {
    run.told_stream = run.told_caps = run.told_segment = FALSE;
    run.flushing = run.ended = run.late = FALSE;
  }
}

/* --- properties --- */

static void
set_boundary (guint byte)
{
  run.boundary = byte % 5;
  g_object_set (run.element, "boundary", run.boundary, NULL);
}

static void
set_mask (guint number)
{
  run.mask = number % fuzz_n_masks;
  if (run.is_layer)
    g_object_set (run.element, "location", fuzz_layer_file (run.mask, run.channels), NULL);
  else
    g_object_set (run.element, "mask", fuzz_masks[run.mask].text, NULL);
}

/* Only the mask and the boundary may differ from their defaults where the result is known. */
static void
set_known_mask (Bytes *bytes)
{
  guint number = fuzz_byte (bytes);

  if (run.mask < 0)
    return;
  set_mask (number);
  if (number >= 128)
    set_boundary (fuzz_byte (bytes));
}

static gboolean
changes_no_sample (const gchar *name)
{
  return g_str_equal (name, "n-threads") || g_str_equal (name, "frames-in-flight");
}

static void
set_any_property (Bytes *bytes)
{
  guint first = fuzz_byte (bytes), count = first >= 240 ? 3 : 1;

  for (guint i = 0; i < count; i++) {
    GPtrArray *all = specs[run.is_layer];
    GParamSpec *spec = g_ptr_array_index (all, (first + 7 * i) % all->len);

    if (!changes_no_sample (spec->name))
      run.mask = -1;
    fuzz_set_property (G_OBJECT (run.element), spec, (gsize) run.info.width * run.info.height, bytes);
  }
}

static void
read_properties (void)
{
  guint n;
  g_autofree GParamSpec **all = g_object_class_list_properties (G_OBJECT_GET_CLASS (run.element), &n);

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (all[i]));
    g_object_get_property (G_OBJECT (run.element), all[i]->name, &value);
    g_value_unset (&value);
  }
}

static void
set_device_fault (guint byte)
{
  static const gchar *const kinds[] = { "memory", "fail", "no-device", "no-pin" };

  run.device_fails = FUZZ_DEVICE && byte >= 64;
  if (!run.device_fails) {
    g_unsetenv ("CUDACONVOLVE_FAKE");
  } else {
    g_autofree gchar *fault =
        byte % 4 < 2 ? g_strdup_printf ("%s:%u", kinds[byte % 4], 1 + byte / 4 % 8) : g_strdup (kinds[byte % 4]);

    g_setenv ("CUDACONVOLVE_FAKE", fault, TRUE);
  }
}

/* --- an input --- */

static void
operate (Bytes *bytes)
{
  guint operation = fuzz_byte (bytes);

  switch (operation % 24) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
      push_frame (bytes);
      break;
    case 8:
      push_list (bytes);
      break;
    case 9:
    case 10:
    case 11:
    case 12:
      set_any_property (bytes);
      break;
    case 13:
    case 14:
      set_known_mask (bytes);
      break;
    case 15:
      send_caps (make_caps (bytes));
      break;
    case 16: {
      GstCaps *caps = operation & 128 ? make_odd_caps (bytes) : gst_pad_get_current_caps (run.source);

      if (caps)
        send_caps (caps);
      break;
    }
    case 17:
      send_downstream (bytes);
      break;
    case 18:
      send_upstream (bytes);
      break;
    case 19:
      send_query (bytes);
      break;
    case 20:
      ask_allocation (bytes);
      break;
    case 21:
      set_state (GST_STATE_NULL + fuzz_byte (bytes) % 4);
      break;
    case 22:
      run.pool = fuzz_byte (bytes) % POOL_N_KINDS;
      gst_pad_push_event (run.sink, gst_event_new_reconfigure ());
      break;
    default:
      if (operation & 128)
        run.downstream = operation & 64 ? GST_FLOW_OK : GST_FLOW_EOS;
      else if (FUZZ_DEVICE && (operation & 64))
        set_device_fault (fuzz_byte (bytes));
      else
        read_properties ();
      break;
  }
}

static void
check_inputs (void)
{
  for (guint i = 0; i < run.n_frames; i++)
    fuzz_check_input (&run.frames[i]);
}

static GstPad *
add_neighbour (const gchar *name, GstPadDirection direction)
{
  GstPad *pad = gst_object_ref_sink (gst_pad_new (name, direction)), *peer;

  peer = gst_element_get_static_pad (run.element, direction == GST_PAD_SRC ? "sink" : "src");
  if (direction == GST_PAD_SRC)
    gst_pad_link_full (pad, peer, GST_PAD_LINK_CHECK_NOTHING);
  else
    gst_pad_link_full (peer, pad, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (peer);
  gst_pad_set_active (pad, TRUE);
  return pad;
}

static GstElement *
make_element (gboolean is_layer)
{
  GstElementFactory *factory = gst_element_factory_find (is_layer ? "cudaconvlayer" : "cudaconvolve");
  GstElement *element = gst_object_ref_sink (gst_element_factory_create (factory, NULL));

  gst_object_unref (factory);
  return element;
}

static void
choose_variant (guint byte)
{
  static const gchar *const host[] = { "auto", "cpu", "cpu-reference", "auto" };
  static const gchar *const device[] = { "global", "global", "auto", "cpu" };
  static const gchar *const layer_device[] = { "direct", "direct", "auto", "cpu" };

  gst_util_set_object_arg (G_OBJECT (run.element), "kernel-variant",
      !FUZZ_DEVICE       ? host[byte % 4]
          : run.is_layer ? layer_device[byte % 4]
                         : device[byte % 4]);
  g_object_set (run.element, "n-threads", byte >= 252 ? 2 : 1, "frames-in-flight", 1 + byte / 4 % 4, NULL);
  gst_debug_category_set_threshold (gst_cuda_convolve_debug, byte / 16 % 8 == 5 ? GST_LEVEL_LOG : GST_LEVEL_WARNING);
}

static void
start (Bytes *bytes)
{
  /* Without a queue, the bus needs no file descriptors. */
  GstBus *bus = gst_object_ref_sink (g_object_new (GST_TYPE_BUS, "enable-async", FALSE, NULL));
  guint which = fuzz_byte (bytes), mask;
  GstCaps *caps;

  run = (Run){ .element = make_element (which & 1), .is_layer = which & 1, .channels = which & 2 ? 3 : 1 };
  /* The oracle does not weigh. */
  if (!run.is_layer)
    gst_util_set_object_arg (G_OBJECT (run.element), "alpha", "copy");
  fuzz_pool_is_lent = FALSE;
  gst_bus_set_sync_handler (bus, hear, NULL, NULL);
  gst_element_set_bus (run.element, bus);
  gst_object_unref (bus);
  run.source = add_neighbour ("source", GST_PAD_SRC);
  run.sink = add_neighbour ("sink", GST_PAD_SINK);
  gst_pad_set_query_function (run.source, source_query);
  gst_pad_set_chain_function (run.sink, sink_chain);
  gst_pad_set_event_function (run.sink, sink_event);
  gst_pad_set_query_function (run.sink, sink_query);

  caps = make_caps (bytes);
  run.pool = fuzz_byte (bytes) % POOL_N_KINDS;
  mask = fuzz_byte (bytes);
  choose_variant (fuzz_byte (bytes));
  set_device_fault (fuzz_byte (bytes));
  set_boundary (mask >> 4);
  set_mask (mask);
  set_state (GST_STATE_PLAYING);
  send_caps (caps);
}

static void
stop (void)
{
  GstElement *element = run.element;

  gst_element_set_state (element, GST_STATE_NULL);
  check_inputs ();
  gst_element_set_bus (element, NULL);
  gst_pad_set_active (run.source, FALSE);
  gst_pad_set_active (run.sink, FALSE);
  if (run.offered)
    gst_buffer_pool_set_active (run.offered, FALSE);
  gst_clear_object (&run.offered);
  gst_clear_object (&run.source);
  gst_clear_object (&run.sink);
  for (guint i = 0; i < run.n_frames; i++) {
    if (run.frames[i].kept && GST_MINI_OBJECT_REFCOUNT_VALUE (run.frames[i].kept) != 1)
      fuzz_fail ("somebody still holds frame %u", i);
    fuzz_frame_clear (&run.frames[i]);
  }
  forget_errors ();
  if (G_OBJECT (element)->ref_count != 1)
    fuzz_fail ("somebody still holds the element");
  gst_object_unref (element);
  if (fuzz_blocks != 0)
    fuzz_fail ("%d blocks of memory were not freed", fuzz_blocks);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Bytes bytes = { data, size };

  start (&bytes);
  for (guint i = 0; i < MOST_OPERATIONS && bytes.left > 0; i++) {
    operate (&bytes);
    check_inputs ();
  }
  stop ();
  return 0;
}

/* --- the process --- */

static void
list_formats (void)
{
  GstElement *element = make_element (FALSE);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCaps *caps = gst_pad_get_pad_template_caps (pad);
  const GValue *list = gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");

  formats = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));
  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    GstVideoFormat format = gst_video_format_from_string (g_value_get_string (gst_value_list_get_value (list, i)));

    g_array_append_val (formats, format);
  }
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_object_unref (element);
}

static void
list_properties (gboolean is_layer)
{
  GstElement *element = make_element (is_layer);
  guint n;
  g_autofree GParamSpec **all = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  specs[is_layer] = g_ptr_array_new ();
  /* region-log would make files of any name. */
  for (guint i = 0; i < n; i++)
    if ((all[i]->flags & G_PARAM_WRITABLE) && all[i]->owner_type != GST_TYPE_OBJECT
        && !g_str_equal (all[i]->name, "region-log"))
      g_ptr_array_add (specs[is_layer], all[i]);
  gst_object_unref (element);
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (cudaconvolve, plugin) && GST_ELEMENT_REGISTER (cudaconvlayer, plugin);
}

/*
 * Without a registry no plugin of the system is looked for. With plain malloc() the sanitizer sees every object of
 * GLib, which reads the variable before main().
 */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  if (g_strcmp0 (g_getenv ("G_SLICE"), "always-malloc") != 0) {
    g_setenv ("G_SLICE", "always-malloc", TRUE);
    execv ("/proc/self/exe", *argv);
  }
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  g_log_set_writer_func (log_writer, NULL, NULL);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_init (NULL, NULL);
  gst_debug_add_log_function (log_nothing, NULL, NULL);
  if (!gst_plugin_register_static (GST_VERSION_MAJOR, GST_VERSION_MINOR, "fuzz", "The elements", plugin_init, "0",
          "LGPL", "cudaconvolve", "cudaconvolve", "cudaconvolve"))
    fuzz_fail ("the elements cannot be registered");
  list_formats ();
  list_properties (FALSE);
  list_properties (TRUE);
  fuzz_values_init ();
  return 0;
}
