/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "undo/faces.h"

#include <gst/app/gstappsink.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

const FaceSize faces_far = { "far", 226, 127, { 80, 26, 40, 50 } };
const FaceSize faces_normal = { "normal", 640, 360, { 227, 74, 113, 140 } };
const FaceSize faces_near = { "near", 1812, 1019, { 643, 210, 320, 396 } };

static Matrix
read_luma (GstSample *sample)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  Matrix luma;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ);
  luma = matrix_new (GST_VIDEO_INFO_HEIGHT (&info), GST_VIDEO_INFO_WIDTH (&info));
  for (gint y = 0; y < luma.rows; y++)
    for (gint x = 0; x < luma.columns; x++)
      luma.at[y * luma.columns + x] =
          ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + x];
  gst_video_frame_unmap (&frame);
  return luma;
}

gboolean
faces_read (const gchar *clip, const FaceSize *size, gint first, gint count, Matrix *frames)
{
  g_autofree gchar *line =
      g_strdup_printf ("filesrc location=\"%s\" ! decodebin ! videoconvert ! videoscale method=lanczos "
                       "! video/x-raw,format=I420,width=%d,height=%d ! appsink name=sink sync=false",
          clip, size->width, size->height);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error), sink = NULL;
  gint found = 0;

  if (!pipeline || error) {
    g_printerr ("%s\n", error->message);
    return FALSE;
  }
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gint i = 0; found < count; i++) {
    g_autoptr (GstSample) sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 60 * GST_SECOND);

    if (!sample)
      break;
    if (i >= first)
      frames[found++] = read_luma (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (found < count)
    g_printerr ("%s: no frame %d; is there a decoder for H.264?\n", clip, first + found);
  return found == count;
}

static GstVideoInfo
luma_info (gint bits, const Matrix *frame)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info,
      bits == 8        ? GST_VIDEO_FORMAT_GRAY8
          : bits == 10 ? GST_VIDEO_FORMAT_P010_10LE
                       : GST_VIDEO_FORMAT_GRAY16_LE,
      frame->columns, frame->rows);
  return info;
}

Matrix
faces_cover (const Matrix *frame, const gchar *properties, gint bits)
{
  GstVideoInfo info = luma_info (bits, frame);
  GstBuffer *in = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL), *out;
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", properties);
  GstHarness *harness = gst_harness_new_parse (line);
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (&info, 0);
  Matrix covered = matrix_new (frame->rows, frame->columns);
  GstMapInfo map;

  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
  gst_buffer_memset (in, 0, 0, GST_VIDEO_INFO_SIZE (&info));
  gst_buffer_map (in, &map, GST_MAP_WRITE);
  for (gint y = 0; y < frame->rows; y++)
    for (gint x = 0; x < frame->columns; x++) {
      gdouble value = frame->at[y * frame->columns + x];

      if (bits > 8)
        GST_WRITE_UINT16_LE (map.data + y * stride + 2 * x, lrint (value * 256));
      else
        map.data[y * stride + x] = lrint (value);
    }
  gst_buffer_unmap (in, &map);
  /* No check of GStreamer's: they need a running test, and the benchmark is none. */
  g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
  out = gst_harness_pull (harness);
  gst_buffer_map (out, &map, GST_MAP_READ);
  for (gint y = 0; y < frame->rows; y++)
    for (gint x = 0; x < frame->columns; x++)
      covered.at[y * frame->columns + x] =
          bits > 8 ? GST_READ_UINT16_LE (map.data + y * stride + 2 * x) / 256.0 : map.data[y * stride + x];
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
  return covered;
}

static View
take_view (const Matrix *covered, const Setting *setting, ConvolveRect box)
{
  return (View){ box, cover_new (setting, box, covered->columns, covered->rows), matrix_part (covered, box) };
}

Target
faces_target (const Matrix *frame, const Setting *setting, ConvolveRect box, gint bits)
{
  g_autofree gchar *properties = cover_properties (setting, box);
  Target target = { faces_cover (frame, properties, bits), box, g_new0 (View, 1), 1 };

  target.views[0] = take_view (&target.frame, setting, box);
  return target;
}

Target
faces_target_of_frames (const Matrix *frames, const Setting *setting, const ConvolveRect *boxes, const gdouble *moves,
    gint count)
{
  Target target = faces_target (&frames[0], setting, boxes[0], 8);

  target.views = g_renew (View, target.views, count);
  for (gint i = 1; i < count; i++) {
    g_autofree gchar *properties = cover_properties (setting, boxes[i]);
    Matrix covered = faces_cover (&frames[i], properties, 8);

    target.views[i] = take_view (&covered, setting, boxes[i]);
    cover_move_down (&target.views[i].cover, moves[i]);
    matrix_clear (&covered);
    target.n_views++;
  }
  return target;
}
