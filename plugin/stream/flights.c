/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/flights.h"

#include "cuda/allocation.h"
#include "report/debug.h"
#include "frame/sound.h"

#define ANY_NUMBER G_MAXUINT /* of buffers that may be kept */

/* How long a frame lasts where the caps do not say, as GStreamer's video decoders take it. */
#define USUAL_DURATION (GST_SECOND / 25)

typedef struct
{
  GstBuffer *input, *output;    /* no input where the output is the input, changed in place or not at all */
  GstCudaConvolveFrame in, out; /* mapped; one frame where there is no input */
  GstCudaConvolveWork *work;    /* for this frame; NULL where nothing is mapped */
  gboolean pending;             /* the device's slot has not been waited for */
  gboolean ordered;             /* nobody has to wait: all who touch the buffers do so in the order of one stream */
} Flight;

struct _GstCudaConvolveFlights
{
  GstElement *element;
  GstCudaConvolveDevice *device;
  GstCudaConvolveErrors *errors;
  GstCudaConvolveStats *stats;
  GstCudaConvolveRecord *record;

  Flight ring[CONVOLVE_MAX_FRAMES];
  GString *texts[CONVOLVE_MAX_FRAMES]; /* for the record, of the frames in the ring; kept for their memory, or NULL */
  guint first, n;

  guint ahead;           /* frames that are to stay under way */
  guint asked, agreed;   /* buffers that upstream's pool was asked to lend, and how many of these the element keeps */
  guint agreed_out;      /* buffers that the output's pool lends */
  gboolean awaits_query; /* upstream was told to ask again */
  GstBufferPool *pool;   /* of the last input that had one, referenced, only compared; or NULL */
  guint pool_lends;      /* how many buffers of that pool may be kept */
  guint lent;            /* the same of the last input */
  guint kept;            /* frames that do stay under way */
  gboolean flowing;      /* a frame came since start and since the last flush */
  gboolean measured;     /* the time of frames is */
  guint64 time;          /* nanoseconds that frames took since the last take_time () */
  guint told_kept;       /* of which the log knows */
  guint drains_told, pools_told, kept_told; /* see GST_CUDA_CONVOLVE_TELL */
  GstClockTime latency;                     /* under the element's object lock */
};

GstCudaConvolveFlights *
gst_cuda_convolve_flights_new (GstElement *element, GstCudaConvolveDevice *device, GstCudaConvolveErrors *errors,
    GstCudaConvolveStats *stats, GstCudaConvolveRecord *record)
{
  GstCudaConvolveFlights *flights = g_new0 (GstCudaConvolveFlights, 1);

  flights->element = element;
  flights->device = device;
  flights->errors = errors;
  flights->stats = stats;
  flights->record = record;
  flights->lent = ANY_NUMBER;
  return flights;
}

void
gst_cuda_convolve_flights_free (GstCudaConvolveFlights *flights)
{
  gst_clear_object (&flights->pool);
  for (guint i = 0; i < G_N_ELEMENTS (flights->texts); i++)
    if (flights->texts[i])
      g_string_free (flights->texts[i], TRUE);
  g_free (flights);
}

/* --- how many frames stay under way --- */

static gboolean
set_latency (GstCudaConvolveFlights *flights, GstClockTime latency)
{
  gboolean changed;

  GST_OBJECT_LOCK (flights->element);
  changed = latency != flights->latency;
  flights->latency = latency;
  GST_OBJECT_UNLOCK (flights->element);
  return changed;
}

void
gst_cuda_convolve_flights_set_ahead (GstCudaConvolveFlights *flights, guint ahead, const GstVideoInfo *info)
{
  GstClockTime duration = USUAL_DURATION;

  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    duration = gst_util_uint64_scale_int (GST_SECOND, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info));
  if (ahead != flights->ahead)
    GST_CUDA_CONVOLVE_TELL (&flights->kept_told, flights->element, "%u frames are to stay under way, no longer %u",
        ahead, flights->ahead);
  flights->ahead = ahead;
  if (set_latency (flights, ahead * duration))
    gst_element_post_message (flights->element, gst_message_new_latency (GST_OBJECT (flights->element)));
}

GstClockTime
gst_cuda_convolve_flights_get_latency (GstCudaConvolveFlights *flights)
{
  GstClockTime latency;

  GST_OBJECT_LOCK (flights->element);
  latency = flights->latency;
  GST_OBJECT_UNLOCK (flights->element);
  return latency;
}

void
gst_cuda_convolve_flights_agree_out (GstCudaConvolveFlights *flights, guint buffers)
{
  flights->agreed_out = buffers;
}

/* Upstream may have made its pool larger, so the pool is looked at again. */
void
gst_cuda_convolve_flights_agree_in (GstCudaConvolveFlights *flights, guint asked, guint kept)
{
  flights->asked = asked;
  flights->agreed = kept;
  flights->awaits_query = FALSE;
  gst_clear_object (&flights->pool);
}

void
gst_cuda_convolve_flights_await_query (GstCudaConvolveFlights *flights)
{
  flights->awaits_query = TRUE;
}

gboolean
gst_cuda_convolve_flights_lacks_buffers (GstCudaConvolveFlights *flights, GstPadDirection side, guint more)
{
  if (side == GST_PAD_SRC)
    return flights->ahead > flights->agreed_out;
  return flights->ahead + more > flights->agreed && flights->lent != ANY_NUMBER;
}

/*
 * How many buffers of a pool the element may keep. A pool of a limited number would wait for a buffer that the element
 * keeps, and the pipeline would stand still, unless the pool has what upstream was asked for and one buffer to draw in.
 */
static guint
count_lent (GstCudaConvolveFlights *flights, GstBufferPool *pool)
{
  guint most = gst_cuda_convolve_pool_count_most (pool);

  if (most == 0) {
    GST_CUDA_CONVOLVE_TELL (&flights->pools_told, flights->element, "upstream's pool makes buffers at will");
    return ANY_NUMBER;
  }
  GST_CUDA_CONVOLVE_TELL (&flights->pools_told, flights->element,
      "upstream's pool has %u buffers, and was asked for %u beside its own, of which %u may be kept", most,
      flights->asked, most > flights->asked ? flights->agreed : 0);
  return most > flights->asked ? flights->agreed : 0;
}

void
gst_cuda_convolve_flights_look_at (GstCudaConvolveFlights *flights, GstBuffer *input)
{
  if (gst_buffer_get_parent_buffer_meta (input)) {
    flights->lent = gst_cuda_convolve_is_from_limited_pool (input) ? 0 : ANY_NUMBER;
  } else if (!input->pool) {
    flights->lent = ANY_NUMBER;
  } else {
    if (input->pool != flights->pool) {
      gst_object_replace ((GstObject **) &flights->pool, GST_OBJECT (input->pool));
      flights->pool_lends = count_lent (flights, input->pool);
    }
    flights->lent = flights->pool_lends;
  }
}

guint
gst_cuda_convolve_flights_count_spare (GstCudaConvolveFlights *flights)
{
  if (flights->lent == ANY_NUMBER)
    return ANY_NUMBER;
  return flights->lent > flights->ahead ? flights->lent - flights->ahead : 0;
}

/* Why no more frames stay under way. */
static const gchar *
explain_kept (const GstCudaConvolveFlights *flights)
{
  if (flights->awaits_query)
    return "upstream was told to ask for an allocation again";
  if (flights->kept == flights->ahead)
    return "as many as frames-in-flight asks for";
  return flights->kept == flights->agreed_out ? "the output's pool lends no more buffers"
                                              : "upstream's pool lends no more buffers";
}

/* Settles how many frames stay under way while the frame of input begins. */
static void
set_kept (GstCudaConvolveFlights *flights, GstBuffer *input)
{
  gst_cuda_convolve_flights_look_at (flights, input);
  flights->kept = 0;
  if (flights->flowing && !flights->awaits_query)
    flights->kept = MIN (flights->ahead, MIN (flights->agreed_out, flights->lent));
  /* The first frame leaves at once in any case. */
  if (flights->flowing && flights->kept != flights->told_kept) {
    GST_CUDA_CONVOLVE_TELL (&flights->kept_told, flights->element,
        "%u of %u frames stay under way while one begins: %s", flights->kept, flights->ahead, explain_kept (flights));
    flights->told_kept = flights->kept;
  }
  flights->flowing = TRUE;
}

void
gst_cuda_convolve_flights_stop (GstCudaConvolveFlights *flights)
{
  flights->ahead = flights->agreed_out = flights->kept = 0;
  gst_cuda_convolve_flights_agree_in (flights, 0, 0);
  flights->lent = ANY_NUMBER;
  flights->flowing = FALSE;
  flights->told_kept = flights->drains_told = flights->pools_told = flights->kept_told = 0;
  set_latency (flights, 0);
}

/* --- the time of frames --- */

void
gst_cuda_convolve_flights_measure (GstCudaConvolveFlights *flights, gboolean measured)
{
  flights->measured = measured;
  flights->time = 0;
}

guint64
gst_cuda_convolve_flights_take_time (GstCudaConvolveFlights *flights)
{
  guint64 time = flights->time;

  flights->time = 0;
  return time;
}

static guint64
begin_time (const GstCudaConvolveFlights *flights)
{
  return flights->measured ? gst_util_get_timestamp () : 0;
}

static void
end_time (GstCudaConvolveFlights *flights, guint64 begin)
{
  if (flights->measured)
    flights->time += gst_util_get_timestamp () - begin;
}

/* --- mapping --- */

/* what is "caps" or "memory", side "input" or "output", and fault has the sizes. */
static void
post_misfit (GstCudaConvolveFlights *flights, const gchar *what, const gchar *side, const gchar *fault)
{
  g_autofree gchar *text = g_strdup_printf ("A frame does not fit its %s: %s", what, fault);

  gst_cuda_convolve_errors_post (flights->errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, text,
      g_strdup_printf ("%s %s", side, fault));
}

/* Before a frame is mapped. A fault is posted. */
static gboolean
check_meta (GstCudaConvolveFlights *flights, const GstVideoInfo *info, GstBuffer *buffer, const gchar *side)
{
  g_autofree gchar *fault = NULL;

  if (gst_cuda_convolve_meta_is_sound (info, buffer, &fault))
    return TRUE;
  post_misfit (flights, "caps", side, fault);
  return FALSE;
}

/* After a frame was mapped. A fault is posted. */
static gboolean
check_frame (GstCudaConvolveFlights *flights, const GstCudaConvolveLayout *layout, const GstVideoFrame *frame,
    const gchar *side)
{
  g_autofree gchar *fault = NULL;

  if (gst_cuda_convolve_frame_is_sound (layout, frame, &fault))
    return TRUE;
  post_misfit (flights, "memory", side, fault);
  return FALSE;
}

/* Frames in CUDA memory of the device's context are mapped where they are, all others to the host. */
static gboolean
map_frame (GstCudaConvolveFlights *flights, const GstCudaConvolveWork *work, const GstVideoInfo *info,
    GstCudaConvolveFrame *frame, GstBuffer *buffer, GstMapFlags flags)
{
  gboolean device = work->device != NULL;

  frame->on_device = device && gst_cuda_convolve_device_holds (flights->device, buffer);
  if (frame->on_device)
    flags |= gst_cuda_convolve_cuda_map_flag ();
  else if (device)
    frame->pinned = gst_cuda_convolve_device_pin (flights->device, buffer);
  if (!gst_video_frame_map (&frame->video, info, buffer, flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
    return FALSE;
  if (frame->on_device && (flags & GST_MAP_READ) && !gst_cuda_convolve_device_orders (flights->device, buffer))
    gst_cuda_convolve_stream_wait (buffer);
  return TRUE;
}

/* For the debug text where memory cannot be mapped, whatever its size. */
static gchar *
describe_unmapped (const GstVideoInfo *info, GstBuffer *buffer, const gchar *side)
{
  return g_strdup_printf ("%s: %dx%d %s, %" G_GSIZE_FORMAT " bytes in %u memories", side, GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_NAME (info), gst_buffer_get_size (buffer),
      gst_buffer_n_memory (buffer));
}

/*
 * A frame could not be mapped. Neither GStreamer nor GstCuda, which maps frames in CUDA memory, says why: the buffer may be
 * too small, and where the device is lost, the user is told that.
 */
static void
post_not_mapped (GstCudaConvolveFlights *flights, const GstVideoInfo *info, GstBuffer *buffer, gint code,
    const gchar *side)
{
  GstCudaConvolveContext *context = gst_cuda_convolve_cuda_of_buffer (buffer);
  g_autofree gchar *fault = NULL;
  ConvolveError error;

  if (!gst_cuda_convolve_buffer_has_frame (info, buffer, &fault)) {
    post_misfit (flights, "caps", side, fault);
    return;
  }
  if (!context) {
    gst_cuda_convolve_errors_post (flights->errors, GST_RESOURCE_ERROR, code,
        code == GST_RESOURCE_ERROR_READ ? "Cannot map a frame to read it." : "Cannot map a frame to write it.",
        describe_unmapped (info, buffer, side));
    return;
  }
  if (gst_cuda_convolve_cuda_check (context, &error) == CONVOLVE_OK)
    error = (ConvolveError){ .status = CONVOLVE_DEVICE_FAILED, .text = "a frame in CUDA memory cannot be mapped" };
  gst_cuda_convolve_errors_post_status (flights->errors, &error);
}

static gboolean
map_frames (GstCudaConvolveFlights *flights, Flight *flight, const GstCudaConvolveWork *work,
    const GstCudaConvolveCrop *crop)
{
  const GstVideoInfo *in = &work->in.info, *out = &work->out.info;
  GstMapFlags write = flight->input ? GST_MAP_WRITE : GST_MAP_READWRITE;
  const gchar *written = flight->input ? "output" : "input";

  if ((flight->input && !check_meta (flights, in, flight->input, "input"))
      || !check_meta (flights, out, flight->output, written))
    return FALSE;
  if (flight->input && !map_frame (flights, work, in, &flight->in, flight->input, GST_MAP_READ)) {
    post_not_mapped (flights, in, flight->input, GST_RESOURCE_ERROR_READ, "input");
    return FALSE;
  }
  flight->in.crop = *crop;
  if (flight->input)
    gst_cuda_convolve_crop_enter (&work->in, crop, &flight->in.video);
  if (!map_frame (flights, work, out, &flight->out, flight->output, write)) {
    if (flight->input)
      gst_video_frame_unmap (&flight->in.video);
    post_not_mapped (flights, out, flight->output, GST_RESOURCE_ERROR_WRITE, written);
    return FALSE;
  }
  flight->out.crop = flight->input ? gst_cuda_convolve_crop_find (out, flight->output) : *crop;
  if (!flight->input) {
    gst_cuda_convolve_crop_enter (&work->out, crop, &flight->out.video);
    flight->in = flight->out;
  }
  return TRUE;
}

/* With the device's context current. */
static void
unmap_flight (Flight *flight)
{
  if (!flight->work)
    return;
  gst_video_frame_unmap (&flight->out.video);
  if (flight->input)
    gst_video_frame_unmap (&flight->in.video);
  g_clear_pointer (&flight->work, gst_cuda_convolve_work_unref);
}

/* --- one frame; with the device's context current --- */

/* Waits for what the device has under way in a slot, if anything. */
static ConvolveStatus
wait_for_slot (GstCudaConvolveFlights *flights, guint slot, ConvolveError *error)
{
  Flight *flight = &flights->ring[slot];
  ConvolveTimes times;
  ConvolveStatus status;
  guint64 begin;

  if (!flight->pending)
    return CONVOLVE_OK;
  flight->pending = FALSE;
  begin = begin_time (flights);
  status = convolve_device_wait (gst_cuda_convolve_device_get_handle (flights->device), slot, &times, error);
  end_time (flights, begin);
  if (status == CONVOLVE_OK)
    gst_cuda_convolve_stats_add_times (flights->stats, &times);
  return status;
}

static ConvolveStatus
run_on_host (GstCudaConvolveFlights *flights, Flight *flight, ConvolveError *error)
{
  gint64 start = g_get_monotonic_time ();
  ConvolveStatus status = flight->work->kind->run_on_host (flight->work, &flight->in, &flight->out, error);
  ConvolveTimes times = { .taken = true, .kernel = (g_get_monotonic_time () - start) * 1000 };

  if (status == CONVOLVE_OK)
    gst_cuda_convolve_stats_add_times (flights->stats, &times);
  return status;
}

static ConvolveStatus
run_on_device (GstCudaConvolveFlights *flights, guint slot, ConvolveError *error)
{
  Flight *flight = &flights->ring[slot];
  GstCudaConvolveWork *work = flight->work;
  ConvolveStatus status = convolve_device_begin (work->device, slot, error);

  if (status == CONVOLVE_OK)
    status = work->kind->run_on_device (work, flights->kept == 0, &flight->in, &flight->out, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_end (work->device, error);
  if (!(flight->in.on_device || flight->in.pinned) || !(flight->out.on_device || flight->out.pinned))
    gst_cuda_convolve_device_tell_staging (flights->device);
  /* The frames are unmapped after an error, and nothing may read or write them then. */
  if (status != CONVOLVE_OK)
    convolve_device_finish (work->device, NULL);
  flight->pending = status == CONVOLVE_OK;
  flight->ordered = flight->in.on_device && flight->out.on_device
      && (!flight->input || gst_cuda_convolve_device_orders (flights->device, flight->input))
      && gst_cuda_convolve_device_orders (flights->device, flight->output);
  if (flight->out.on_device)
    gst_cuda_convolve_stream_mark (flight->output, flight->ordered);
  return status;
}

/* Runs the mapped frame in a slot. A failure has been posted. */
static gboolean
run_flight (GstCudaConvolveFlights *flights, guint slot)
{
  Flight *flight = &flights->ring[slot];
  ConvolveError error;
  ConvolveStatus status;
  guint64 begin;

  if (!check_frame (flights, &flight->work->in, &flight->in.video, "input")
      || !check_frame (flights, &flight->work->out, &flight->out.video, "output"))
    return FALSE;
  begin = begin_time (flights);
  if (flight->work->device)
    status = run_on_device (flights, slot, &error);
  else
    status = run_on_host (flights, flight, &error);
  end_time (flights, begin);
  if (status != CONVOLVE_OK)
    gst_cuda_convolve_errors_post_status (flights->errors, &error);
  return status == CONVOLVE_OK;
}

/* A failure has been posted. */
static gboolean
begin_flight (GstCudaConvolveFlights *flights, guint slot, GstCudaConvolveWork *work, const GstCudaConvolveCrop *crop)
{
  Flight *flight = &flights->ring[slot];

  if (!map_frames (flights, flight, work, crop))
    return FALSE;
  flight->work = gst_cuda_convolve_work_ref (work);
  if (run_flight (flights, slot))
    return TRUE;
  unmap_flight (flight);
  return FALSE;
}

/* --- the record --- */

/* The frame of this slot has begun. */
static void
take_text (GstCudaConvolveFlights *flights, guint slot)
{
  if (gst_cuda_convolve_record_is_open (flights->record))
    flights->texts[slot] = gst_cuda_convolve_record_take (flights->record, flights->texts[slot]);
}

/*
 * Writes the line of a frame that nobody works on any more. A frame in CUDA memory is downloaded. A failure has been
 * posted.
 */
static gboolean
write_text (GstCudaConvolveFlights *flights, guint slot, GstBuffer *output)
{
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_record_get_layout (flights->record);
  GstCudaConvolveCrop crop = gst_cuda_convolve_crop_find (&layout->info, output);
  GstVideoFrame frame;
  gboolean written;

  if (!check_meta (flights, &layout->info, output, "output"))
    return FALSE;
  if (!gst_video_frame_map (&frame, &layout->info, output, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    post_not_mapped (flights, &layout->info, output, GST_RESOURCE_ERROR_READ, "output");
    return FALSE;
  }
  gst_cuda_convolve_crop_enter (layout, &crop, &frame);
  written = check_frame (flights, layout, &frame, "output")
      && gst_cuda_convolve_record_end (flights->record, flights->texts[slot], &frame);
  gst_video_frame_unmap (&frame);
  return written;
}

/* --- the ring --- */

GstFlowReturn
gst_cuda_convolve_flights_begin (GstCudaConvolveFlights *flights, GstCudaConvolveWork *work,
    const GstCudaConvolveCrop *crop, GstBuffer *input, GstBuffer *output)
{
  guint slot;
  ConvolveError error;
  ConvolveStatus status = gst_cuda_convolve_device_enter (flights->device, &error);
  gboolean begun = FALSE;

  /* One frame at a time needs the memory of one slot. */
  if (flights->n == 0 && !flights->ring[0].pending)
    flights->first = 0;
  slot = (flights->first + flights->n) % CONVOLVE_MAX_FRAMES;
  set_kept (flights, input);
  if (status == CONVOLVE_OK) {
    status = wait_for_slot (flights, slot, &error);
    flights->ring[slot] = (Flight){ .input = output ? input : NULL, .output = output ? output : input };
    begun = status == CONVOLVE_OK && begin_flight (flights, slot, work, crop);
    gst_cuda_convolve_device_leave (flights->device);
  }
  if (begun) {
    take_text (flights, slot);
    flights->n++;
    return GST_FLOW_OK;
  }
  if (status != CONVOLVE_OK)
    gst_cuda_convolve_errors_post_status (flights->errors, &error);
  gst_buffer_unref (input);
  gst_clear_buffer (&output);
  gst_cuda_convolve_flights_drop (flights);
  return GST_FLOW_ERROR;
}

void
gst_cuda_convolve_flights_pass (GstCudaConvolveFlights *flights, GstBuffer *buffer)
{
  guint slot = (flights->first + flights->n) % CONVOLVE_MAX_FRAMES;

  set_kept (flights, buffer);
  flights->ring[slot] = (Flight){ .output = buffer };
  take_text (flights, slot);
  flights->n++;
}

/*
 * Takes the oldest frame out of the ring. Its output can be passed on then. wait: the device is done with the output, for
 * who throws it away or reads it.
 */
static ConvolveStatus
end_flight (GstCudaConvolveFlights *flights, gboolean wait, GstBuffer **output, ConvolveError *error)
{
  guint slot = flights->first;
  Flight *flight = &flights->ring[slot];
  ConvolveError no_context;
  gboolean entered = gst_cuda_convolve_device_enter (flights->device, &no_context) == CONVOLVE_OK;
  ConvolveStatus status = CONVOLVE_OK;

  if (wait || !flight->ordered)
    status = wait_for_slot (flights, slot, error);
  unmap_flight (flight);
  if (entered)
    gst_cuda_convolve_device_leave (flights->device);
  gst_clear_buffer (&flight->input);
  *output = g_steal_pointer (&flight->output);
  flights->first = (slot + 1) % CONVOLVE_MAX_FRAMES;
  flights->n--;
  return status;
}

static GstFlowReturn
end_oldest (GstCudaConvolveFlights *flights, GstBuffer **output)
{
  gboolean recorded = gst_cuda_convolve_record_is_open (flights->record);
  guint slot = flights->first;
  ConvolveError error;
  ConvolveStatus status = end_flight (flights, recorded, output, &error);

  if (status != CONVOLVE_OK)
    gst_cuda_convolve_errors_post_status (flights->errors, &error);
  if (status != CONVOLVE_OK || (recorded && !write_text (flights, slot, *output))) {
    gst_clear_buffer (output);
    gst_cuda_convolve_flights_drop (flights);
    return GST_FLOW_ERROR;
  }
  gst_cuda_convolve_stats_add_frame (flights->stats);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_cuda_convolve_flights_end_surplus (GstCudaConvolveFlights *flights, GstBuffer **output)
{
  *output = NULL;
  return flights->n > flights->kept ? end_oldest (flights, output) : GST_FLOW_OK;
}

GstFlowReturn
gst_cuda_convolve_flights_drain (GstCudaConvolveFlights *flights, GstPad *pad, const gchar *why)
{
  GstFlowReturn ret = GST_FLOW_OK;

  if (flights->n > 0)
    GST_CUDA_CONVOLVE_TELL (&flights->drains_told, flights->element, "%u frames under way leave: %s", flights->n, why);
  while (flights->n > 0 && ret == GST_FLOW_OK) {
    GstBuffer *output;

    ret = end_oldest (flights, &output);
    if (ret == GST_FLOW_OK)
      ret = gst_pad_push (pad, output);
  }
  gst_cuda_convolve_flights_drop (flights);
  return ret;
}

void
gst_cuda_convolve_flights_drop (GstCudaConvolveFlights *flights)
{
  gst_cuda_convolve_record_forget_settings (flights->record);
  while (flights->n > 0) {
    GstBuffer *output;
    ConvolveError error;

    end_flight (flights, TRUE, &output, &error);
    gst_buffer_unref (output);
  }
}

void
gst_cuda_convolve_flights_flush (GstCudaConvolveFlights *flights)
{
  if (flights->n > 0)
    GST_CUDA_CONVOLVE_TELL (&flights->drains_told, flights->element, "%u frames under way are dropped: a flush",
        flights->n);
  gst_cuda_convolve_flights_drop (flights);
  flights->flowing = FALSE;
}

void
gst_cuda_convolve_flights_forget_slots (GstCudaConvolveFlights *flights)
{
  for (guint i = 0; i < CONVOLVE_MAX_FRAMES; i++)
    flights->ring[i].pending = FALSE;
}
