/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The object of the base class, and what a subclass has to do: for the files that make up the class. Subclasses include
 * gstcudaconvolvebase.h.
 */
#ifndef GST_CUDA_CONVOLVE_ELEMENT_H
#define GST_CUDA_CONVOLVE_ELEMENT_H

#include <gst/base/base.h>

#include "base/settings.h"
#include "stream/flights.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_CONVOLVE_BASE (gst_cuda_convolve_base_get_type ())
#define GST_CUDA_CONVOLVE_BASE(object) \
  (G_TYPE_CHECK_INSTANCE_CAST ((object), GST_TYPE_CUDA_CONVOLVE_BASE, GstCudaConvolveBase))
#define GST_CUDA_CONVOLVE_BASE_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CUDA_CONVOLVE_BASE, GstCudaConvolveBaseClass))
#define GST_CUDA_CONVOLVE_BASE_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS ((object), GST_TYPE_CUDA_CONVOLVE_BASE, GstCudaConvolveBaseClass))

#ifndef G_DEFINE_FINAL_TYPE /* GLib has final types from 2.70 */
#define G_DEFINE_FINAL_TYPE G_DEFINE_TYPE
#endif

/* Ids of properties. Results of a subclass come between those of the base class and the rows of the table. */
enum
{
  GST_CUDA_CONVOLVE_PROP_ACTIVE_VARIANT = 1,
  GST_CUDA_CONVOLVE_PROP_STATS,
  GST_CUDA_CONVOLVE_PROP_FIRST_RESULT,
  GST_CUDA_CONVOLVE_PROP_FIRST_SETTING = 10
};

/* What a frame needs. */
typedef enum
{
  GST_CUDA_CONVOLVE_NEEDS_OUTPUT,  /* a buffer for the result */
  GST_CUDA_CONVOLVE_NEEDS_NOTHING, /* the input is changed in place */
  GST_CUDA_CONVOLVE_NEEDS_NO_WORK  /* the input is the result */
} GstCudaConvolveNeed;

typedef struct _GstCudaConvolveBase GstCudaConvolveBase;
typedef gboolean (*GstCudaConvolveEventFunction) (GstCudaConvolveBase *base, GstEvent *event);
typedef struct _GstCudaConvolveEngine GstCudaConvolveEngine;

struct _GstCudaConvolveBase
{
  GstBaseTransform parent;

  /* Each part may use the parts above it, and none below. */
  GstCudaConvolveSettings *settings;
  GstCudaConvolveErrors *errors;
  GstCudaConvolveStats *stats;
  GstCudaConvolveRecord *record;
  GstCudaConvolveDevice *device;
  GstCudaConvolveFlights *flights;
  GstCudaConvolveEngine *engine;

  /* Under the object lock. */
  gboolean started;
  gboolean asked_to_pass; /* upstream knows that its buffers go on to downstream */
  gboolean wants_query;   /* upstream was told to ask for an allocation again, and has not done so yet */
  GstClockTime waiting_latency;

  gint looking; /* atomic: at a refusal of caps, which asks upstream */

  /* For the streaming thread, and for start and stop. */
  gboolean asked_directly;   /* upstream asked for an allocation, and gets the answer: no tee is between */
  gboolean takes_video_meta; /* downstream does */
  gboolean downstream_asks;  /* for a number of buffers */
  GstCudaConvolveCrop crop;  /* of the frame that came last */
  gboolean flowing;          /* a frame came since start, the last caps, and the last flush */
  gboolean replan;           /* settings, caps or device changed since the work was made */
  gboolean discont;          /* the base class still has a gap to mark */
  guint queries_told, offers_told, pools_told, passthrough_told, asked_told; /* see GST_CUDA_CONVOLVE_TELL */

  /* Of waiting.c. */
  GstQueueArray *waiting;    /* frames, and the events between them */
  GstSegment coming;         /* of the frames that come; GstBaseTransform has that of the frames that leave */
  GstPadChainFunction chain; /* of GstBaseTransform */
  GstCudaConvolveEventFunction handle_event;
  guint waiting_told, copies_told;
  gboolean crowd_told;

  gboolean broken; /* a frame under way failed: the stream must not go on without that frame */
};

/*
 * All functions are for the streaming thread, and for start and stop, where no other thread is named. Those without a
 * default must be there; the others may be NULL.
 */
typedef struct
{
  GstBaseTransformClass parent_class;

  const ConvolvePropertyTable *properties;

  /* Whether the settings can work at all, whatever the caps; error is in CONVOLVE_PROPS_ERROR. At start. */
  gboolean (*check) (GstCudaConvolveBase *base, const ConvolveProperties *properties, GError **error);

  /* The element stops, or did not start: forgets all but the settings. */
  void (*forget) (GstCudaConvolveBase *base);

  /* Other settings are in use. A failure has been posted. */
  GstFlowReturn (*follow_settings) (GstCudaConvolveBase *base);

  /* There are new caps. No frame is under way. */
  void (*follow_caps) (GstCudaConvolveBase *base);

  /*
   * The work for the caps that there are: NULL with error filled, or what stays there until the next call, and until
   * lose_work(). The device's context is current. properties are those in use, with the device's number as it was at
   * start; they have one owner, and may be changed and referenced.
   */
  GstCudaConvolveWork *(*make_work) (GstCudaConvolveBase *base, ConvolveProperties *properties, ConvolveError *error);
  void (*lose_work) (GstCudaConvolveBase *base);

  /*
   * The work that make_work () made last, which is reproducible, made again for the CPU; to be unreferenced. NULL where that
   * cannot be. Without the function the work stays where it is.
   */
  GstCudaConvolveWork *(*make_host_work) (GstCudaConvolveBase *base);

  /* Whether the work must be made again for this frame. */
  gboolean (*outdates_work) (GstCudaConvolveBase *base, GstBuffer *input);

  /* Warns of what a frame has that the work cannot heed. There is work. */
  void (*warn_of_frame) (GstCudaConvolveBase *base, GstBuffer *input);

  /*
   * For how long frames wait for later ones, in nanoseconds, with these settings. Any thread. Where it is NULL, so are
   * the four below, and no frame waits: arrive () is told of a frame that comes and waits, which stays until leave ()
   * is told that the oldest frame leaves; pass_time () that none comes before the end, a time in the segment. is_due ()
   * says whether the oldest frame has waited so long.
   */
  guint64 (*look_ahead) (const ConvolveProperties *properties);
  void (*arrive) (GstCudaConvolveBase *base, const GstSegment *segment, GstBuffer *input);
  void (*pass_time) (GstCudaConvolveBase *base, const GstSegment *segment, GstClockTime end);
  gboolean (*is_due) (GstCudaConvolveBase *base, guint64 ahead);
  void (*leave) (GstCudaConvolveBase *base);

  /* Finds what the next frame needs; without the function each frame needs an output. */
  GstCudaConvolveNeed (*look) (GstCudaConvolveBase *base, GstBuffer *input);

  /* The frame that look() was for begins. The work may be new, where the search for an output led to new caps. */
  void (*begin) (GstCudaConvolveBase *base, GstBuffer *input);

  /*
   * Tells the record of the frame that look() and begin() were for, with the settings in use. There is a record, of an
   * element that has the property region-log.
   */
  void (*describe) (GstCudaConvolveBase *base, const GstSegment *segment, GstBuffer *input);

  /* Whether frames may go on in their own buffers, with these settings. */
  gboolean (*changes_in_place) (const ConvolveProperties *properties);

  /* A text that says why no stream with these caps, which may be any, is taken; to be freed. NULL where it is taken, or where
   * the pad's template tells all. Any thread. */
  gchar *(*refuse_caps) (GstCudaConvolveBase *base, GstCaps *caps);

  /*
   * Adds a sentence, to be freed, for each property in use that has no effect, to idle, and for each that leaves in
   * sight what the user may think is covered, to uncovered.
   */
  void (*add_sentences) (const ConvolveProperties *properties, GPtrArray *idle, GPtrArray *uncovered);
} GstCudaConvolveBaseClass;

GType gst_cuda_convolve_base_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCudaConvolveBase, gst_object_unref)

G_END_DECLS

#endif
