/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pipelines of several branches over the fake device: no branch waits for ever for another one, whatever the element keeps
 * under way. A tee throws the element's answer to an allocation query away where another branch gives none, and a query
 * that comes later waits for all that the other branches have queued.
 */
#include "element/stream/check_flights.h"

#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#include "support/element.h"

/* A pipeline plays its 60 frames in less than one second, and under ThreadSanitizer beside other work in 22. */
#define LONGEST (120 * GST_SECOND)

/* --- a source whose pool has so many buffers more than downstream asks for --- */

typedef struct
{
  GstPushSrc parent;
  guint pushed, more;
} LimitedSource;

typedef GstPushSrcClass LimitedSourceClass;

static GType limited_source_get_type (void);
G_DEFINE_TYPE (LimitedSource, limited_source, GST_TYPE_PUSH_SRC)

#define LIMITED_CAPS "video/x-raw,format=GRAY8,width=64,height=64,framerate=100/1"
#define LIMITED_FRAMES 60

static GstStaticPadTemplate limited_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (LIMITED_CAPS));

static gboolean
limited_source_decide_allocation (GstBaseSrc *source, GstQuery *query)
{
  LimitedSource *self = (LimitedSource *) source;
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  guint asked = 0, n;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, NULL, NULL, &asked, NULL);
  n = asked + self->more;
  gst_buffer_pool_config_set_params (config, caps, 64 * 64, n, n);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  gst_query_add_allocation_pool (query, pool, 64 * 64, n, n);
  gst_object_unref (pool);
  return TRUE;
}

static GstFlowReturn
limited_source_fill (GstPushSrc *source, GstBuffer *buffer)
{
  LimitedSource *self = (LimitedSource *) source;

  if (self->pushed == LIMITED_FRAMES)
    return GST_FLOW_EOS;
  GST_BUFFER_PTS (buffer) = self->pushed++ * 10 * GST_MSECOND;
  gst_buffer_memset (buffer, 0, self->pushed, -1);
  return GST_FLOW_OK;
}

static void
limited_source_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ((LimitedSource *) object)->more = g_value_get_uint (value);
}

static void
limited_source_class_init (LimitedSourceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = limited_source_set_property;
  g_object_class_install_property (object_class, 1,
      g_param_spec_uint ("more", "more", "buffers beyond those that downstream asks for", 1, 100, 2, G_PARAM_WRITABLE));
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &limited_template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "limited", "Source", "a limited pool", "tests");
  GST_BASE_SRC_CLASS (klass)->decide_allocation = limited_source_decide_allocation;
  klass->fill = limited_source_fill;
}

static void
limited_source_init (LimitedSource *self)
{
  self->more = 2;
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_blocksize (GST_BASE_SRC (self), 64 * 64);
}

/* --- pipelines --- */

/* What happens to the element c when the frame of this number comes to it. */
typedef struct
{
  guint frame;
  const gchar *name, *value;
} Change;

typedef struct
{
  GstElement *pipeline, *element;
  const Change *changes; /* or NULL */
  guint came, left;      /* frames that came to the element, and frames at the sink "end" */
  guint last;            /* the frame at that sink that ends the test; 0: the pipeline's EOS does */
  guint most;            /* frames that were in the element at once */
} Play;

static GstPadProbeReturn
note_input (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Play *play = data;

  for (const Change *change = play->changes; change && change->name; change++)
    if (change->frame == play->came)
      gst_util_set_object_arg (G_OBJECT (play->element), change->name, change->value);
  play->came++;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
note_output (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Play *play = data;

  play->most = MAX (play->most, play->came - play->left);
  if (++play->left == play->last)
    gst_element_post_message (play->element,
        gst_message_new_application (GST_OBJECT (play->element), gst_structure_new_empty ("last")));
  return GST_PAD_PROBE_OK;
}

static void
add_probe (GstElement *element, const gchar *pad_name, GstPadProbeCallback callback, gpointer data)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, pad_name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, callback, data, NULL);
}

/* Plays to the end, or until the frame `last` is at the sink. Returns how many frames were in the element at once. */
static guint
play_branches (const gchar *line, const Change *changes, guint last)
{
  GError *error = NULL;
  Play play = { .changes = changes, .last = last };
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  guint came, left;

  gst_element_register (NULL, "limitedsource", GST_RANK_NONE, limited_source_get_type ());
  fake_device_fault (NULL);
  play.pipeline = gst_parse_launch (line, &error);
  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  play.element = gst_bin_get_by_name (GST_BIN (play.pipeline), "c");
  bus = gst_element_get_bus (play.pipeline);
  add_probe (play.element, "sink", note_input, &play);
  add_probe (play.element, "src", note_output, &play);
  gst_element_set_state (play.pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, LONGEST, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_APPLICATION);
  came = play.came;
  left = play.left;
  /* Threads that still work would keep a test that fails from its end. */
  gst_element_set_state (play.pipeline, GST_STATE_NULL);
  fail_unless (message != NULL, "%s stands still after %u frames, of which %u left", line, came, left);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  gst_object_unref (play.element);
  gst_object_unref (play.pipeline);
  return play.most;
}

/* Whether there is a decoder in software: the one of GStreamer's nvcodec does not survive many pipelines in one process. */
static gboolean
has_decoder (void)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("avdec_h264");

  return factory != NULL;
}

static gchar *
source_line (guint kind)
{
  switch (kind == 1 && !has_decoder () ? 0 : kind) {
    case 0:
      return g_strdup ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=64,height=64");
    case 1:
      return g_strdup_printf ("filesrc location=\"%s\" ! decodebin ! identity eos-after=45",
          g_getenv ("CUDACONVOLVE_CLIP"));
    default:
      return g_strdup_printf ("limitedsource more=%u", kind); /* one buffer is the sink's last, and one is drawn in */
  }
}

#define N_SOURCES 5

/* The other branches: with no answer to a query, with an answer, and with room for few frames. */
static const gchar *const others[] = { "queue ! fakesink", "queue max-size-buffers=1 ! fakesink", "queue2 ! fakesink",
  "queue ! appsink max-buffers=1 drop=true wait-on-eos=false sync=false",
  "queue ! cudaconvolve kernel-variant=cpu ! fakesink", "queue ! tee ! queue ! fakesink",
  "queue ! videoconvert ! video/x-raw,format=NV12 ! fakesink" };

/* What the element does, and what comes behind it. The last queue gives nothing before it has many frames, as an encoder. */
static const gchar *const works[] = { "", "mask=identity", "apply-to=regions regions=1,1,9,9",
  "apply-to=regions region-effect=fill" };
static const gchar *const ends[] = { "fakesink", "queue ! fakesink",
  "appsink max-buffers=1 drop=true wait-on-eos=false sync=false", "tee allow-not-linked=true ! queue ! fakesink",
  "queue min-threshold-buffers=20 ! fakesink" };

static void
check_tee (const gchar *source, const gchar *work, guint frames, const gchar *other, const gchar *end, gboolean first)
{
  g_autofree gchar *branch =
      g_strdup_printf ("t. ! queue ! cudaconvolve name=c kernel-variant=direct frames-in-flight=%u %s ! %s", frames,
          work, end);
  g_autofree gchar *beside = g_strdup_printf ("t. ! %s", other);
  g_autofree gchar *line =
      g_strdup_printf ("%s ! tee name=t %s %s", source, first ? branch : beside, first ? beside : branch);

  play_branches (line, NULL, 0);
}

/* A tee in front of the element, from the first state to the end. */
GST_START_TEST (test_tee)
{
  for (guint kind = 0; kind < N_SOURCES; kind++)
    for (guint i = 0; i < G_N_ELEMENTS (others); i++)
      for (guint frames = 1; frames <= 4; frames++) {
        g_autofree gchar *source = source_line (kind);

        /* An appsink keeps its first frame beside the latest one. */
        if (strstr (others[i], "appsink") && (kind == 2 || kind == 3))
          continue;
        check_tee (source, works[i % 4], frames, others[i], "fakesink", (i + frames) % 2);
        if (kind != 1) /* decoding takes long */
          check_tee (source, "", frames, others[i], "queue ! fakesink", (i + frames + 1) % 2);
      }
}
GST_END_TEST;

/* Each way of working behind a tee, and each element behind that one. */
GST_START_TEST (test_tee_works)
{
  for (guint kind = 0; kind < 2; kind++)
    for (guint i = 0; i < G_N_ELEMENTS (works); i++)
      for (guint j = 0; j < G_N_ELEMENTS (ends); j++) {
        g_autofree gchar *source = source_line (kind);

        check_tee (source, works[i], 2 + (i + j) % 3, others[0], ends[j], j % 2);
      }
}
GST_END_TEST;

/* Settings that change while another branch stands still: nobody takes what its sink has. */
static const Change more_in_flight[] = { { 3, "frames-in-flight", "4" }, { 9, "frames-in-flight", "1" },
  { 12, "frames-in-flight", "3" }, { 0, NULL, NULL } };
static const Change passthrough[] = { { 3, "mask", "identity" }, { 6, "mask", "box" }, { 9, "mask", "identity" },
  { 12, "mask", "box" }, { 16, "frames-in-flight", "4" }, { 0, NULL, NULL } };
static const Change regions[] = { { 3, "apply-to", "regions" }, { 6, "apply-to", "frame" },
  { 9, "apply-to", "outside-regions" }, { 12, "frames-in-flight", "4" }, { 0, NULL, NULL } };
static const Change *const changes[] = { more_in_flight, passthrough, regions };

#define BLOCKED "queue max-size-bytes=0 max-size-time=0 ! appsink max-buffers=1 sync=false"

GST_START_TEST (test_changes_before_blocked)
{
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    for (guint frames = 1; frames <= 4; frames++)
      for (guint before = 0; before < 2; before++) {
        g_autofree gchar *element =
            g_strdup_printf ("cudaconvolve name=c kernel-variant=direct frames-in-flight=%u regions=1,1,9,9", frames);
        g_autofree gchar *line = before
            ? g_strdup_printf ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=64,height=64 "
                               "! tee name=t t. ! " BLOCKED " t. ! queue ! %s ! fakesink",
                element)
            : g_strdup_printf ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=64,height=64 "
                               "! %s ! tee name=t t. ! " BLOCKED " t. ! queue ! fakesink",
                element);

        play_branches (line, changes[i], 60);
      }
}
GST_END_TEST;

/* The same before the first state is reached, which the other sink waits for, and this branch needs many frames for. */
GST_START_TEST (test_changes_before_preroll)
{
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    for (guint frames = 1; frames <= 4; frames += 3)
      for (guint before = 0; before < 2; before++) {
        g_autofree gchar *element =
            g_strdup_printf ("cudaconvolve name=c kernel-variant=direct frames-in-flight=%u regions=1,1,9,9", frames);
        g_autofree gchar *line = before
            ? g_strdup_printf ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=64,height=64 "
                               "! tee name=t t. ! queue ! fakesink "
                               "t. ! queue ! %s ! queue min-threshold-buffers=25 ! fakesink",
                element)
            : g_strdup_printf ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=64,height=64 "
                               "! %s ! tee name=t t. ! queue ! fakesink "
                               "t. ! queue min-threshold-buffers=25 ! fakesink",
                element);

        play_branches (line, changes[i], 0);
      }
}
GST_END_TEST;

/* Without a tee, a pool grows by what the element asks for, and the element keeps as many frames as were asked for. */
GST_START_TEST (test_limited_pool_grows)
{
  for (guint kind = 0; kind < N_SOURCES; kind++)
    for (guint frames = 1; frames <= 4; frames++) {
      g_autofree gchar *source = source_line (kind);
      g_autofree gchar *line =
          g_strdup_printf ("%s ! cudaconvolve name=c kernel-variant=direct frames-in-flight=%u ! fakesink", source,
              frames);

      fail_unless_equals_int (play_branches (line, NULL, 0), frames);
    }
}
GST_END_TEST;

/* Behind a tee, frames of pools without a limit stay under way. */
GST_START_TEST (test_tee_overlaps)
{
  for (guint frames = 1; frames <= 4; frames++) {
    g_autofree gchar *line =
        g_strdup_printf ("videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8 ! tee name=t t. ! queue ! fakesink "
                         "t. ! queue ! cudaconvolve name=c kernel-variant=direct "
                         "frames-in-flight=%u ! fakesink",
            frames);

    fail_unless_equals_int (play_branches (line, NULL, 0), frames);
  }
}
GST_END_TEST;

TCase *
branch_tests (void)
{
  TCase *tc = tcase_create ("branches");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_tee);
  tcase_add_test (tc, test_tee_works);
  tcase_add_test (tc, test_changes_before_blocked);
  tcase_add_test (tc, test_changes_before_preroll);
  tcase_add_test (tc, test_limited_pool_grows);
  tcase_add_test (tc, test_tee_overlaps);
  return tc;
}
