/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* flock (), O_CLOEXEC */
#include "stream/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file.h"
#include "frame/cells.h"
#include "properties/json.h"
#include "report/debug.h"

#define FORMAT 1      /* of the lines; a reader refuses others */
#define HASH_BYTES 32 /* of SHA-256 */
#define GRID 8        /* means across and down a frame */

struct _GstCudaConvolveRecord
{
  GstElement *element;
  GstCudaConvolveErrors *errors;

  /* The streaming thread's own. */
  GstCudaConvolveLayout layout;   /* of the frames */
  GstCudaConvolveLayout shown;    /* of what is hashed: their inner form where they have cells */
  ConvolveForm *form;             /* takes frames to that, or NULL */
  guint8 *inner;                  /* memory for that, or NULL */
  ConvolveProperties *properties; /* that the lines have told, or NULL */
  GString *text;                  /* of the frame that begins */
  guint n_regions;                /* in the text */
  GChecksum *samples;             /* of a frame */
  GString *tail;                  /* of its line: what its samples tell */
  guint8 *row;                    /* samples of a row, as they are hashed */

  GMutex lock; /* for what is below: state() comes from any thread */
  gchar *name; /* of the file, for messages */
  gint file;   /* -1 where there is no record */
  gint failed; /* the error number of a write that failed, or 0 */
  GChecksum *chain;
  GString *line;
  gchar previous[2 * HASH_BYTES + 1]; /* hash of the line before, in hexadecimal digits */
  guint64 n_frames;
};

GstCudaConvolveRecord *
gst_cuda_convolve_record_new (GstElement *element, GstCudaConvolveErrors *errors)
{
  GstCudaConvolveRecord *record = g_new0 (GstCudaConvolveRecord, 1);

  record->element = element;
  record->errors = errors;
  record->text = g_string_new (NULL);
  record->samples = g_checksum_new (G_CHECKSUM_SHA256);
  record->tail = g_string_new (NULL);
  record->file = -1;
  record->chain = g_checksum_new (G_CHECKSUM_SHA256);
  record->line = g_string_new (NULL);
  g_mutex_init (&record->lock);
  return record;
}

void
gst_cuda_convolve_record_free (GstCudaConvolveRecord *record)
{
  g_clear_pointer (&record->properties, convolve_properties_unref);
  g_string_free (record->text, TRUE);
  g_checksum_free (record->samples);
  g_string_free (record->tail, TRUE);
  g_free (record->row);
  g_free (record->inner);
  convolve_form_free (record->form);
  g_free (record->name);
  g_checksum_free (record->chain);
  g_string_free (record->line, TRUE);
  g_mutex_clear (&record->lock);
  g_free (record);
}

gboolean
gst_cuda_convolve_record_is_open (const GstCudaConvolveRecord *record)
{
  return record->file >= 0;
}

const GstCudaConvolveLayout *
gst_cuda_convolve_record_get_layout (const GstCudaConvolveRecord *record)
{
  return &record->layout;
}

/* --- errors --- */

static gint
code_of (gint number, gint other)
{
  return number == ENOSPC || number == EDQUOT || number == EFBIG ? GST_RESOURCE_ERROR_NO_SPACE_LEFT : other;
}

static void
post_not_opened (GstCudaConvolveRecord *record, const gchar *why, const gchar *cure)
{
  g_autofree gchar *text =
      g_strdup_printf ("region-log: the file \"%s\" cannot be made: %s; %s", record->name, why, cure);

  gst_cuda_convolve_errors_post (record->errors, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, text, NULL);
}

static void
post_not_written (GstCudaConvolveRecord *record, gint number)
{
  g_autofree gchar *text = g_strdup_printf (
      "region-log: the file \"%s\" cannot be written: %s; no frame leaves without its line, so the stream ends here. "
      "Name a file on a disk with room, or leave region-log unset",
      record->name, g_strerror (number));

  gst_cuda_convolve_errors_post (record->errors, GST_RESOURCE_ERROR, code_of (number, GST_RESOURCE_ERROR_WRITE), text,
      NULL);
}

/* --- lines; with the lock --- */

static void
take_hash (GChecksum *checksum, gchar *digits)
{
  guint8 bytes[HASH_BYTES];
  gsize size = sizeof bytes;

  g_checksum_get_digest (checksum, bytes, &size);
  g_checksum_reset (checksum);
  for (guint i = 0; i < sizeof bytes; i++)
    g_snprintf (digits + 2 * i, 3, "%02x", bytes[i]);
}

/* Begins a line of this kind. Its other members follow, each with a comma in front. */
static void
begin_line (GstCudaConvolveRecord *record, const gchar *kind)
{
  g_string_printf (record->line, "{\"previous\":\"%s\",\"line\":\"%s\"", record->previous, kind);
}

static gboolean
write_bytes (gint file, const gchar *bytes, gsize size)
{
  while (size > 0) {
    gssize written = write (file, bytes, size);

    if (written < 0 && errno != EINTR)
      return FALSE;
    bytes += MAX (written, 0);
    size -= MAX (written, 0);
  }
  return TRUE;
}

/*
 * Ends the line and writes it. Of a line that cannot be written whole, the file keeps nothing. The error number of a
 * write that failed, or 0; -1 where an earlier one failed, of which the user knows.
 */
static gint
write_line (GstCudaConvolveRecord *record)
{
  off_t before;

  if (record->failed)
    return -1;
  g_string_append_c (record->line, '}');
  g_checksum_update (record->chain, (const guchar *) record->line->str, record->line->len);
  take_hash (record->chain, record->previous);
  g_string_append_c (record->line, '\n');
  before = lseek (record->file, 0, SEEK_END);
  if (write_bytes (record->file, record->line->str, record->line->len))
    return 0;
  record->failed = errno;
  if (ftruncate (record->file, before) != 0)
    GST_WARNING_OBJECT (record->element, "region-log: the file \"%s\" may end with a part of a line", record->name);
  return record->failed;
}

/* Posts what write_line() gave, without the lock. Whether the line was written. */
static gboolean
post_result (GstCudaConvolveRecord *record, gint result)
{
  if (result > 0)
    post_not_written (record, result);
  return result == 0;
}

/* --- the file --- */

/* Opens a file that is new or empty, or a device. -1 where an error was posted. */
static gint
open_file (GstCudaConvolveRecord *record, const gchar *name)
{
  /* A pipe that nobody reads would wait. */
  gint file = open (name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  struct stat state;

  if (file < 0) {
    post_not_opened (record, g_strerror (errno), "name a file in a folder that can be written");
    return -1;
  }
  if (fstat (file, &state) != 0 || (!S_ISREG (state.st_mode) && !S_ISCHR (state.st_mode)))
    post_not_opened (record, "it is neither a file nor a device", "name a new file");
  else if (state.st_size > 0)
    post_not_opened (record, "it is there and not empty", "a record is never written over: name a new file");
  else if (S_ISREG (state.st_mode) && flock (file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    post_not_opened (record, "another record is being written to it", "name a file for each element");
  else if (fcntl (file, F_SETFL, O_APPEND) == 0)
    return file;
  close (file);
  return -1;
}

static void
write_head (GstCudaConvolveRecord *record, const ConvolveProperties *properties)
{
  g_autofree gchar *version = gst_version_string ();
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree gchar *date = g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");

  begin_line (record, "head");
  g_string_append_printf (record->line, ",\"format\":%d,\"plugin\":", FORMAT);
  convolve_json_append_text (record->line, "cudaconvolve " VERSION);
  g_string_append (record->line, ",\"gstreamer\":");
  convolve_json_append_text (record->line, version);
  g_string_append_printf (record->line, ",\"date\":\"%s\",\"settings\":", date);
  convolve_json_append_properties (record->line, properties);
}

gboolean
gst_cuda_convolve_record_start (GstCudaConvolveRecord *record, ConvolveProperties *properties)
{
  const gchar *name = properties->region_log;
  gint file, result;

  if (!name || name[0] == '\0')
    return TRUE;
  g_free (record->name);
  record->name = convolve_file_show (name);
  file = open_file (record, name);
  if (file < 0)
    return FALSE;
  g_mutex_lock (&record->lock);
  record->file = file;
  record->failed = 0;
  record->n_frames = 0;
  memset (record->previous, '0', 2 * HASH_BYTES);
  write_head (record, properties);
  result = write_line (record);
  g_mutex_unlock (&record->lock);
  gst_cuda_convolve_record_forget_settings (record);
  if (post_result (record, result))
    return TRUE;
  gst_cuda_convolve_record_stop (record);
  return FALSE;
}

/* The disk may tell only now that it has no room. */
void
gst_cuda_convolve_record_stop (GstCudaConvolveRecord *record)
{
  gint result;

  if (!gst_cuda_convolve_record_is_open (record))
    return;
  g_mutex_lock (&record->lock);
  begin_line (record, "end");
  g_string_append_printf (record->line, ",\"frames\":%" G_GUINT64_FORMAT, record->n_frames);
  result = write_line (record);
  if (result == 0 && fsync (record->file) != 0 && errno != EINVAL) /* a device */
    result = errno;
  if (close (record->file) != 0 && result == 0)
    result = errno;
  record->file = -1;
  g_mutex_unlock (&record->lock);
  post_result (record, result);
}

/* --- lines between frames --- */

/* Writes a line, whose members are in text. FALSE where it could not be written, and an error was posted. */
static gboolean
write_text (GstCudaConvolveRecord *record, const gchar *kind, const GString *text)
{
  gint result = 0;

  g_mutex_lock (&record->lock);
  if (record->file >= 0) {
    begin_line (record, kind);
    g_string_append_len (record->line, text->str, text->len);
    result = write_line (record);
  }
  g_mutex_unlock (&record->lock);
  return post_result (record, result);
}

static void
append_time (GString *text, const gchar *name, guint64 time)
{
  if (time == GST_CLOCK_TIME_NONE)
    g_string_append_printf (text, ",\"%s\":null", name);
  else
    g_string_append_printf (text, ",\"%s\":%" G_GUINT64_FORMAT, name, time);
}

/* Frames with cells are hashed in their inner form. FALSE where an error was posted. */
static gboolean
show_layout (GstCudaConvolveRecord *record)
{
  ConvolveError error;
  ConvolveCells cells;
  GstVideoInfo inner;

  record->shown = record->layout;
  g_clear_pointer (&record->form, convolve_form_free);
  if (!gst_cuda_convolve_format_has_cells (record->layout.info.finfo))
    return TRUE;
  gst_cuda_convolve_cells_describe (&record->layout.info, &cells);
  gst_cuda_convolve_cells_inner (&record->layout.info, &inner);
  gst_cuda_convolve_layout_init (&record->shown, &inner);
  record->inner = g_realloc (record->inner, inner.size);
  record->form = convolve_form_new_cells (&cells, NULL, &error);
  if (!record->form)
    gst_cuda_convolve_errors_post_status (record->errors, &error);
  return record->form != NULL;
}

gboolean
gst_cuda_convolve_record_caps (GstCudaConvolveRecord *record, GstCaps *caps, const GstCudaConvolveLayout *layout)
{
  const GstVideoInfo *info = &layout->info;
  g_autoptr (GString) text = NULL;
  g_autofree gchar *caps_text = NULL;

  if (!gst_cuda_convolve_record_is_open (record))
    return TRUE;
  record->layout = *layout;
  if (!show_layout (record))
    return FALSE;
  record->row = g_realloc (record->row, 2 * (gsize) GST_VIDEO_INFO_WIDTH (info));
  text = g_string_new (NULL);
  caps_text = gst_caps_to_string (caps);
  g_string_append_printf (text, ",\"format\":\"%s\",\"width\":%d,\"height\":%d,\"caps\":", GST_VIDEO_INFO_NAME (info),
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
  convolve_json_append_text (text, caps_text);
  return write_text (record, "caps", text);
}

static void
append_segment (GString *text, const GstSegment *segment)
{
  g_string_append (text, ",\"rate\":");
  convolve_json_append_double (text, segment->rate);
  g_string_append_printf (text, ",\"format\":\"%s\"", gst_format_get_name (segment->format));
  append_time (text, "start", segment->start);
  append_time (text, "stop", segment->stop);
  append_time (text, "time", segment->time);
  append_time (text, "base", segment->base);
}

gboolean
gst_cuda_convolve_record_event (GstCudaConvolveRecord *record, GstEvent *event)
{
  g_autoptr (GString) text = NULL;
  GstClockTime time, duration;
  const GstSegment *segment;
  const gchar *id;

  if (!gst_cuda_convolve_record_is_open (record))
    return TRUE;
  text = g_string_new (NULL);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      gst_event_parse_stream_start (event, &id);
      g_string_append (text, ",\"id\":");
      convolve_json_append_text (text, id);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_parse_segment (event, &segment);
      append_segment (text, segment);
      break;
    case GST_EVENT_GAP:
      gst_event_parse_gap (event, &time, &duration);
      append_time (text, "pts", time);
      append_time (text, "duration", duration);
      break;
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_EOS:
      break;
    default:
      return TRUE;
  }
  return write_text (record, gst_event_type_get_name (GST_EVENT_TYPE (event)), text);
}

void
gst_cuda_convolve_record_state (GstCudaConvolveRecord *record, GstState state)
{
  g_autoptr (GString) text =
      g_string_new (state == GST_STATE_PLAYING ? ",\"state\":\"playing\"" : ",\"state\":\"paused\"");

  write_text (record, "state", text);
}

/* --- the line of a frame --- */

void
gst_cuda_convolve_record_forget_settings (GstCudaConvolveRecord *record)
{
  g_clear_pointer (&record->properties, convolve_properties_unref);
}

static void
append_running_time (GString *text, const GstSegment *segment, GstBuffer *buffer)
{
  guint64 time = 0;
  gint sign = 0;

  if (segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (buffer))
    sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer), &time);
  if (sign == 0)
    g_string_append (text, ",\"running-time\":null");
  else
    g_string_append_printf (text, ",\"running-time\":%s%" G_GUINT64_FORMAT, sign < 0 && time > 0 ? "-" : "", time);
}

void
gst_cuda_convolve_record_begin (GstCudaConvolveRecord *record, const GstSegment *segment, GstBuffer *buffer,
    ConvolveProperties *properties)
{
  g_string_truncate (record->text, 0);
  record->n_regions = 0;
  append_running_time (record->text, segment, buffer);
  append_time (record->text, "pts", GST_BUFFER_PTS (buffer));
  append_time (record->text, "duration", GST_BUFFER_DURATION (buffer));
  if (properties == record->properties)
    return;
  gst_cuda_convolve_record_forget_settings (record);
  record->properties = convolve_properties_ref (properties);
  g_string_append (record->text, ",\"settings\":");
  convolve_json_append_properties (record->text, properties);
}

static const gchar *
name_of_how (GstCudaConvolveHow how)
{
  switch (how) {
    case GST_CUDA_CONVOLVE_HOW_SEEN:
      return "seen";
    case GST_CUDA_CONVOLVE_HOW_HELD:
      return "held";
    case GST_CUDA_CONVOLVE_HOW_LOOKED_AHEAD:
      return "looked-ahead";
    case GST_CUDA_CONVOLVE_HOW_FALLBACK:
      return "fallback";
  }
  g_return_val_if_reached (NULL);
}

/* The members of an object, after others. */
static void
append_effect (GString *text, const GstCudaConvolveRecordEffect *effect)
{
  if (effect->block > 0)
    g_string_append_printf (text, ",\"blocks\":[%d,%d,%d]", effect->x, effect->y, effect->block);
  if (effect->sigma >= 0) {
    g_string_append (text, ",\"sigma\":");
    convolve_json_append_double (text, effect->sigma);
  }
  if (effect->opacity < 1) {
    g_string_append (text, ",\"opacity\":");
    convolve_json_append_double (text, effect->opacity);
  }
  for (guint i = 0; effect->fill && i < GST_VIDEO_MAX_COMPONENTS; i++)
    g_string_append_printf (text, "%s%d", i == 0 ? ",\"fill\":[" : ",", effect->fill[i]);
  if (effect->fill)
    g_string_append_c (text, ']');
  if (effect->picture)
    g_string_append_printf (text, ",\"picture\":\"%s\"", effect->picture);
}

void
gst_cuda_convolve_record_set_whole (GstCudaConvolveRecord *record, const gchar *why)
{
  g_string_append_printf (record->text, ",\"whole\":\"%s\"", why);
}

void
gst_cuda_convolve_record_set_outside (GstCudaConvolveRecord *record, const GstCudaConvolveRecordEffect *effect)
{
  g_string_append_printf (record->text, ",\"outside\":{\"effect\":\"%s\"", effect->name);
  append_effect (record->text, effect);
  g_string_append_c (record->text, '}');
}

static gboolean
has_polygon (const GstCudaConvolveRecordRegion *region)
{
  for (guint i = 0; region->outlines && i < region->n_boxes; i++)
    if (region->outlines[i].count > 0)
      return TRUE;
  return FALSE;
}

/* For each box the margin of its polygon, and then the corners; an empty list for a box without a polygon. */
static void
append_polygons (GString *text, const GstCudaConvolveRecordRegion *region)
{
  for (guint i = 0; i < region->n_boxes; i++) {
    const ConvolveOutline *outline = &region->outlines[i];

    g_string_append (text, i == 0 ? ",\"polygons\":[[" : ",[");
    if (outline->count > 0)
      g_string_append_printf (text, "%d", outline->margin);
    for (gint k = 0; k < outline->count; k++)
      g_string_append_printf (text, ",%d,%d", region->corners[outline->first + k].x,
          region->corners[outline->first + k].y);
    g_string_append_c (text, ']');
  }
  g_string_append_c (text, ']');
}

void
gst_cuda_convolve_record_add (GstCudaConvolveRecord *record, const GstCudaConvolveRecordRegion *region,
    const GstCudaConvolveRecordEffect *effect)
{
  GString *text = record->text;

  g_string_append (text, record->n_regions++ == 0 ? ",\"regions\":[" : ",");
  g_string_append (text, "{\"source\":");
  convolve_json_append_text (text, region->source);
  g_string_append (text, ",\"type\":");
  convolve_json_append_text (text, region->type);
  if (region->has_id)
    g_string_append_printf (text, ",\"id\":%" G_GUINT64_FORMAT, region->id);
  else
    g_string_append (text, ",\"id\":null");
  g_string_append (text, ",\"confidence\":");
  convolve_json_append_double (text, region->confidence);
  g_string_append_printf (text, ",\"how\":\"%s\",\"effect\":", name_of_how (region->how));
  convolve_json_append_text (text, effect ? effect->name : NULL);
  if (effect)
    append_effect (text, effect);
  g_string_append (text, ",\"shape\":");
  convolve_json_append_text (text, region->shape);
  g_string_append (text, ",\"boxes\":[");
  for (guint i = 0; i < region->n_boxes; i++)
    g_string_append_printf (text, "%s[%d,%d,%d,%d]", i == 0 ? "" : ",", region->boxes[i].x, region->boxes[i].y,
        region->boxes[i].width, region->boxes[i].height);
  g_string_append_c (text, ']');
  if (has_polygon (region))
    append_polygons (text, region);
  g_string_append_c (text, '}');
}

GString *
gst_cuda_convolve_record_take (GstCudaConvolveRecord *record, GString *spare)
{
  GString *text = record->text;

  if (record->n_regions == 0)
    g_string_append (text, ",\"regions\":[");
  g_string_append_c (text, ']');
  record->text = spare ? spare : g_string_new (NULL);
  return text;
}

/* --- samples --- */

/* The group that has a component, and which sample of its pixels that is. */
static const GstCudaConvolveGroup *
find_component (const GstCudaConvolveLayout *layout, gint component, gint *sample)
{
  for (guint i = 0; i < layout->n_groups; i++)
    for (*sample = 0; *sample < layout->groups[i].pixel.samples; ++*sample)
      if (layout->groups[i].component[*sample] == component)
        return &layout->groups[i];
  return NULL;
}

/* The samples of a row: a byte each, or two with the lower one first, without unused bits. */
static const guint8 *
read_row (GstCudaConvolveRecord *record, const GstCudaConvolveGroup *group, const guint8 *row)
{
  const ConvolvePixel *pixel = &group->pixel;
  guint8 *to = record->row;

  if (pixel->type == CONVOLVE_SAMPLE_U8) {
    if (pixel->stride == 1)
      return row;
    for (gint x = 0; x < group->width; x++)
      to[x] = row[(gsize) x * pixel->stride];
    return to;
  }
  for (gint x = 0; x < group->width; x++) {
    guint16 value;

    memcpy (&value, row + (gsize) x * pixel->stride, sizeof value);
    if (pixel->swapped)
      value = GUINT16_SWAP_LE_BE (value);
    value = (value >> pixel->shift) & ((1u << pixel->depth) - 1);
    to[2 * x] = value & 255;
    to[2 * x + 1] = value >> 8;
  }
  return to;
}

/* Where part i of GRID begins in a row or column of so many samples. */
static gint
begin_of_part (gint i, gint count)
{
  return (gint64) count * i / GRID;
}

/* Adds the samples of a row to the sums of its parts. */
static void
add_to_sums (guint64 sums[GRID], const guint8 *samples, gint width, gint bytes)
{
  for (gint i = 0; i < GRID; i++)
    for (gint x = begin_of_part (i, width); x < begin_of_part (i + 1, width); x++)
      sums[i] += bytes == 1 ? samples[x] : samples[2 * x] | (guint) samples[2 * x + 1] << 8;
}

/* Ends the parts of so many rows: their means in 8 bits, as hexadecimal digits; 0 for a part without samples. */
static void
append_means (GString *means, guint64 sums[GRID], gint width, gint rows, gint depth)
{
  for (gint i = 0; i < GRID; i++) {
    guint64 n = (guint64) (begin_of_part (i + 1, width) - begin_of_part (i, width)) * rows;

    g_string_append_printf (means, "%02x", (guint) ((n > 0 ? (sums[i] + n / 2) / n : 0) >> (depth - 8)));
    sums[i] = 0;
  }
}

/* Hashes a component row by row. Appends the means of its parts to means, where that is not NULL. */
static void
read_component (GstCudaConvolveRecord *record, gint component, const ConvolvePicture *picture, GString *means)
{
  gint sample, part = 0;
  const GstCudaConvolveGroup *group = find_component (&record->shown, component, &sample);
  gint bytes = group->pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2, height = group->height;
  gssize stride = picture->planes[group->plane].stride;
  const guint8 *row = picture->planes[group->plane].data;
  guint64 sums[GRID] = { 0 };

  row += group->offset + sample * bytes;
  for (gint y = 0; y <= height; y++) {
    const guint8 *samples;

    /* The parts that end above the row; those of a low picture may have no row. */
    for (; means && part < GRID && begin_of_part (part + 1, height) <= y; part++)
      append_means (means, sums, group->width, begin_of_part (part + 1, height) - begin_of_part (part, height),
          group->pixel.depth);
    if (y == height)
      break;
    samples = read_row (record, group, row + y * stride);
    g_checksum_update (record->samples, samples, (gssize) group->width * bytes);
    if (means)
      add_to_sums (sums, samples, group->width, bytes);
  }
}

/* The frame, or its inner form. */
static ConvolvePicture
show_frame (GstCudaConvolveRecord *record, const GstVideoFrame *frame)
{
  const GstVideoInfo *info = &record->layout.info, *shown = &record->shown.info;
  ConvolvePicture picture = { .width = GST_VIDEO_INFO_WIDTH (info), .height = GST_VIDEO_INFO_FIELD_HEIGHT (info) };
  ConvolvePicture inner = picture;

  for (guint i = 0; i < record->layout.n_planes; i++)
    picture.planes[i] =
        (ConvolveFormPlane){ GST_VIDEO_FRAME_PLANE_DATA (frame, i), gst_cuda_convolve_stride (&frame->info, i) };
  if (!record->form)
    return picture;
  for (guint i = 0; i < record->shown.n_planes; i++)
    inner.planes[i] = (ConvolveFormPlane){ record->inner + GST_VIDEO_INFO_PLANE_OFFSET (shown, i),
      GST_VIDEO_INFO_PLANE_STRIDE (shown, i) };
  /* The only errors are pictures of other sizes, and no threads. */
  convolve_form_unpack (record->form, &picture, &inner, NULL);
  return inner;
}

static void
read_frame (GstCudaConvolveRecord *record, const GstVideoFrame *frame)
{
  const ConvolvePicture picture = show_frame (record, frame);
  gchar hash[2 * HASH_BYTES + 1];

  g_string_assign (record->tail, ",\"means\":\"");
  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS (&record->layout.info); i++)
    read_component (record, i, &picture, i == 0 ? record->tail : NULL);
  take_hash (record->samples, hash);
  g_string_append_printf (record->tail, "\",\"sha256\":\"%s\"", hash);
}

gboolean
gst_cuda_convolve_record_end (GstCudaConvolveRecord *record, const GString *text, const GstVideoFrame *frame)
{
  gint result;

  read_frame (record, frame);
  g_mutex_lock (&record->lock);
  begin_line (record, "frame");
  g_string_append_printf (record->line, ",\"frame\":%" G_GUINT64_FORMAT, record->n_frames++);
  g_string_append_len (record->line, text->str, text->len);
  g_string_append_len (record->line, record->tail->str, record->tail->len);
  result = write_line (record);
  g_mutex_unlock (&record->lock);
  return post_result (record, result);
}
