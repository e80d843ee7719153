/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of cudaconvolve. */
#include "properties/property_rows.h"

#include "files/image_file.h"
#include "files/mask_file.h"
#include "presets/presets.h"

static const Row rows[] = {
  { "mask", "Mask", "0.1", TEXT_AT (mask.mask), .target = GIVES_MASK, .flags = PLAYING, .text = CONVOLVE_DEFAULT_MASK,
      .blurb = "Preset, with an argument where it takes one (motion:30), or weights: rows split by ';' or newline, "
               "values in a row by space or comma, optionally with the shape WxH: in front. NULL = the default, "
               "gaussian. Presets: ",
      .list = convolve_preset_list },
  { "mask-width", "Mask width", "0.1", UINT_AT (mask.mask_width), .target = CHANGES_MASK, .flags = CONTROLLABLE,
      .most = CONVOLVE_MAX_SIDE, .driven = TO_ODD,
      .blurb = "Width of the mask. Sized presets: in luma pixels, odd (0 = from sigma, or the preset's own width). "
               "Weights written as one row: how many of them make a row of the mask (0 = from their number). A "
               "controller's even numbers, and its 0, become the next odd one" },
  { "mask-height", "Mask height", "0.1", UINT_AT (mask.mask_height), .target = CHANGES_MASK, .flags = CONTROLLABLE,
      .most = CONVOLVE_MAX_SIDE, .driven = TO_ODD,
      .blurb = "Height of the mask. Sized presets: in luma pixels, odd. Weights written as one row: how many rows the "
               "mask has (0 = the width; 1 = a one-dimensional mask). A controller's even numbers, and its 0, become "
               "the next odd one" },
  { "sigma", "Sigma", "0.1", DOUBLE_AT (mask.sigma), .target = CHANGES_MASK, .flags = CONTROLLABLE, .least = -1,
      .most = CONVOLVE_MAX_SIGMA, .standard = -1, .driven = FROM_ZERO,
      .blurb =
          "Standard deviation of the presets gaussian, log (up to 31 without mask-width) and unsharp in luma pixels; "
          "without effect on other masks (0 = no blur, the least mask of log; -1 = from the width: 0.3 ((width - 1) / "
          "2 - 1) + 0.8). A controller's numbers below 0 are 0" },
  { "divisor", "Divisor", "0.1", DOUBLE_AT (mask.divisor), .target = CHANGES_MASK, .flags = CONTROLLABLE,
      .least = -G_MAXDOUBLE, .most = G_MAXDOUBLE,
      .blurb =
          "Number that the weighted sum is divided by (0 = the sum of the weights, or 1 where that sum is 0). Nothing can be "
          "divided by 0, so a controller should not pass through 0" },
  { "bias", "Bias", "0.1", DOUBLE_AT (mask.bias), .target = CHANGES_MASK, .flags = CONTROLLABLE, .least = -1, .most = 1,
      .blurb = "Fraction of the range from black to white that is added to luma and RGB after the division (0.5 on "
               "black = middle grey); a preset's own offset is added to the bias" },
  { "boundary", "Boundary", "0.1", ENUM_AT (boundary, convolve_boundary_get_type), .flags = PLAYING,
      .standard = CONVOLVE_BOUNDARY_REPLICATE,
      .blurb = "What the mask reads beyond an edge of the picture, shown for the left end of a row abc as "
               "outside|inside" },
  VARIANT_ROW ("mask", "0.1", convolve_variant_get_type),
  DEVICE_ROW ("0.1"),
  FLIGHTS_ROW ("0.1"),
  THREADS_ROW ("0.1"),

  { "apply-to", "Apply to", "1.0", ENUM_AT (region.apply_to, convolve_apply_to_get_type), .target = APPLY_TO,
      .flags = PLAYING, .standard = CONVOLVE_APPLY_TO_FRAME,
      .blurb = "Part of each frame that is changed; the rest keeps every byte" },
  { "regions", "Regions", "1.0", TEXT_AT (region.regions), .target = WRITTEN, .flags = PLAYING,
      .blurb =
          "Boxes x,y,width,height and polygons polygon:x,y x,y x,y of 3 to 64 corners, in luma pixels or, with %, in "
          "per cent of the frame; both are split by ';', as in 100,80,64,64; polygon:50%,0 100%,50% 50%,100%. A "
          "polygon is all that its outline winds around, where edges cross, too (NULL or empty = none)" },
  { "region-boxes", "Region boxes", "1.0", BOXES_AT (region.regions), .target = WRITTEN, .flags = PLAYING,
      .blurb = "The boxes of regions as an array, as in <<100,80,64,64>>: four numbers are luma pixels, and of four "
               "strings some may be in per cent, as in 50%. A row of six or more values is a polygon: x and y of each "
               "corner in turn. The one that is set last counts" },
  { "region-sources", "Region sources", "1.0", FLAGS_AT (region.sources, convolve_region_sources_get_type),
      .target = REGION, .flags = PLAYING, .standard = CONVOLVE_REGION_SOURCES_ALL,
      .blurb =
          "Where the regions of a frame come from. A frame whose format has no alpha is changed as a whole where alpha "
          "is among them" },
  { "region-mask-location", "Region mask location", "1.0", FILE_AT (region.mask, convolve_matte_file), .target = REGION,
      .flags = PLAYING,
      .blurb =
          "PNG or PGM file whose grey values are weights of the effect, beside the boxes: black is nothing, and white the "
          "whole effect. The picture is stretched to the frame, and a pixel takes the largest value that it touches. "
          "Expansion, feather and shape do not count (NULL or empty = none)" },
  { "region-types", "Region types", "1.0", TEXT_AT (region.types), .target = DETECTIONS, .flags = PLAYING,
      .blurb =
          "Types of the regions in metadata that count, split by commas, as in face,plate; a type after ! does not "
          "count, as in !person; a region without a type is covered (NULL or empty = all types)" },
  { "region-ids", "Region ids", "1.0", TEXT_AT (region.ids), .target = DETECTIONS, .flags = PLAYING,
      .blurb =
          "Who the regions in metadata are that count, split by commas: ids of a tracker or names from a classifier, as "
          "in 7,12,presenter; one after ! does not count, as in !7. A name with a comma or of digits stands in quotes. A "
          "region without an id, or without a name, is covered (NULL or empty = all)" },
  { "region-min-confidence", "Region minimum confidence", "1.0", DOUBLE_AT (region.min_confidence),
      .target = DETECTIONS, .flags = CONTROLLABLE, .most = 1,
      .blurb =
          "Least confidence of the regions in metadata that count. A region whose confidence is not told, or is 0, "
          "is covered (0 = all)" },
  { "region-active", "Region active", "1.0", BOOLEAN_AT (region.active), .target = REGION, .flags = CONTROLLABLE,
      .standard = TRUE,
      .blurb = "Whether frames are changed. false passes frames as they are, and boxes are kept for later, so that a "
               "controller can switch covering on and off by time" },
  { "region-expand", "Region expand", "1.0", DOUBLE_AT (region.expand), .target = REGION, .flags = CONTROLLABLE,
      .most = CONVOLVE_MAX_EXPAND,
      .blurb = "By how much a box grows on each side, as a share of its width and height (0.1 = a tenth on each side); "
               "a polygon grows by that share of the shorter side of the box around it. region-strength, "
               "region-blocks, region-shape and region-feather take what has grown" },
  { "region-feather", "Region feather", "1.0", UINT_AT (region.feather), .target = REGION, .flags = CONTROLLABLE,
      .most = CONVOLVE_MAX_FEATHER,
      .blurb = "Luma pixels around the expanded box or polygon over which the effect fades out" },
  { "region-shape", "Region shape", "1.0", ENUM_AT (region.shape, convolve_region_shape_get_type), .target = REGION,
      .flags = PLAYING, .standard = CONVOLVE_SHAPE_RECTANGLE,
      .blurb = "Shape of a region in its box; polygons and masks of segmentation keep their own" },
  { "region-effect", "Region effect", "1.0", ENUM_AT (region.effect, convolve_region_effect_get_type), .target = REGION,
      .flags = PLAYING, .standard = CONVOLVE_REGION_EFFECT_AUTO,
      .blurb =
          "What is done to a region. auto pixelates regions, or takes the mask where region-strength is 0 or more; "
          "outside of regions auto takes the mask. plugin/regions.md says what each effect hides" },
  { "region-strength", "Region strength", "1.0", DOUBLE_AT (region.strength), .target = STRENGTH, .flags = CONTROLLABLE,
      .least = -1, .most = 1, .standard = -1, .driven = FROM_ZERO,
      .blurb =
          "How strongly mask=gaussian or mask=box blurs a region: sigma as a share of the region's shorter side, so "
          "that near and far faces are blurred alike, in pixels rounded up to one of 17 values from 1 to 256 (0 = no "
          "blur; -1 = the mask as it is). A blur by mask=box can be undone. A controller's -1 is 0" },
  { "region-blocks", "Region blocks", "1.0", UINT_AT (region.blocks), .target = BLOCKS, .flags = CONTROLLABLE,
      .least = 1, .most = CONVOLVE_MAX_BLOCKS, .standard = 3,
      .blurb =
          "Number of blocks across the shorter side of each box, for the effects pixelate and noise-pixelate. A block "
          "has at least 4x4 luma pixels. More than 3 blocks can be undone in films" },
  { "region-color", "Region color", "1.0", UINT_AT (region.color), .target = FILLING, .flags = CONTROLLABLE,
      .most = G_MAXUINT32, .standard = 0xff000000,
      .blurb =
          "Colour of the effect fill, as 0xAARRGGBB; AA counts where components has a. A GstARGBControlBinding goes "
          "from colour to colour" },
  { "region-picture", "Region picture", "1.0", FILE_AT (region.picture, convolve_picture_file), .target = FILLING,
      .flags = PLAYING,
      .blurb =
          "PNG, PPM or PGM file that the effect fill shows instead of region-color. The picture keeps its aspect ratio "
          "and covers the box, so that what juts out on two sides is cut off; region-color lies below its transparent "
          "pixels (NULL or empty = none)" },
  { "region-opacity", "Region opacity", "1.0", DOUBLE_AT (region.opacity), .target = REGION, .flags = CONTROLLABLE,
      .most = 1, .standard = 1,
      .blurb = "Share of the effect in the result, in steps of 1/256 (1 = the effect alone). Below 1 the picture shows "
               "through, so that nothing is hidden" },
  { "region-epsilon", "Region epsilon", "1.0", DOUBLE_AT (region.epsilon), .target = NOISE, .flags = CONTROLLABLE,
      .least = CONVOLVE_LEAST_EPSILON, .most = CONVOLVE_MAX_EPSILON, .standard = 0.5,
      .blurb =
          "How little noise noise-pixelate adds to a block's mean, in each component: Laplace's noise of scale 255 m / "
          "(b^2 epsilon) code values of 8 bits, with b the side of a block and m = b^2 the pixels that may differ, so "
          "255 / epsilon. plugin/regions.md says what holds in films" },
  { "region-seed", "Region seed", "1.0", UINT_AT (region.seed), .target = NOISE, .flags = PLAYING, .most = G_MAXUINT32,
      .secret = TRUE,
      .blurb = "Seed of the noise of noise-pixelate, for tests: who knows the seed can take the noise away (0 = a "
               "secret key from the system, new with each start)" },
  { "region-hold", "Region hold", "1.0", TIME_AT (region.hold), .target = DETECTIONS, .flags = PLAYING,
      .standard = 500 * GST_MSECOND,
      .blurb =
          "Nanoseconds of running time that a box from metadata stays after the last frame that had this box, so "
          "that a detector may miss a face for that long; one missed frame is bridged at any frame rate (0 = none)" },
  { "region-lookahead", "Region look-ahead", "1.0", TIME_AT (region.lookahead), .target = DETECTIONS, .flags = PLAYING,
      .most = CONVOLVE_MAX_LOOKAHEAD,
      .blurb =
          "Nanoseconds of running time that each frame waits for later ones, so that a box covers the frames before its "
          "first detection, and moves through the gap between two detections. This is latency (0 = none)" },
  { "region-smooth", "Region smooth", "1.0", TIME_AT (region.smooth), .target = AROUND, .flags = PLAYING,
      .most = CONVOLVE_MAX_SMOOTH,
      .blurb =
          "With apply-to=outside-regions, the time constant in nanoseconds with which the weights of regions follow the "
          "boxes, so that the edge of a segmentation mask does not flicker. What leaves a region stays in sight for about "
          "that long (0 = at once)" },
  { "region-fallback", "Region fallback", "1.0", ENUM_AT (region.fallback, convolve_region_fallback_get_type),
      .target = DETECTIONS, .flags = PLAYING, .standard = CONVOLVE_REGION_FALLBACK_NONE,
      .blurb = "What to do when no metadata came for longer than region-hold. A frame without a "
               "GstVideoRegionOfInterestMeta has no metadata; an empty GstAnalyticsRelationMeta is metadata" },
  { "region-log", "Region log", "1.0", TEXT_AT (region_log), .flags = GST_PARAM_MUTABLE_READY,
      .blurb = "New or empty file for a record, taken when the element starts: a line of JSON for each frame with its "
               "time, the boxes that were covered, and a checksum. A record that cannot be written is an error (NULL "
               "or empty = none)" },
  { "weights", "Weights", "1.0", ARRAY_AT (mask.weights), .target = GIVES_MASK, .flags = PLAYING,
      .blurb = "Weights of the mask, instead of the text in mask: an array of rows, each an array of numbers, such as "
               "<<1,2,1>,<2,4,2>,<1,2,1>>; in Python a Gst.ValueArray of Gst.ValueArrays of floats (empty = none)" },
  { "mask-location", "Mask location", "1.0", FILE_AT (mask.file, convolve_mask_file), .target = GIVES_MASK,
      .flags = PLAYING,
      .blurb =
          "File with the weights, instead of mask: a picture (PNG, PGM or PFM), whose size is mask-width; text as in mask, "
          "with # comments; a table with commas, semicolons or tabs; a matrix of libvips or .npy array; up to 8 MiB, "
          "read when the property is set and when the element starts (NULL or empty = none)" },
  { "mask-x", "Mask x", "1.0", TEXT_AT (mask.mask_x), .target = GIVES_MASK, .flags = PLAYING,
      .blurb =
          "Row of weights, instead of the text in mask: the mask is this row times the column mask-y (NULL or empty "
          "= 1 where mask-y is set)" },
  { "mask-y", "Mask y", "1.0", TEXT_AT (mask.mask_y), .target = GIVES_MASK, .flags = PLAYING,
      .blurb =
          "Column of weights, written as a row, instead of the text in mask: the mask is this column times the row "
          "mask-x (NULL or empty = 1 where mask-x is set)" },
  { "anchor-x", "Anchor x", "1.0", INT_AT (mask.anchor_x), .target = CHANGES_MASK, .flags = CONTROLLABLE, .least = -1,
      .most = CONVOLVE_MAX_SIDE - 1, .standard = -1,
      .blurb = "Column of the weight that lies on the pixel, counted from 0; presets always have their middle "
               "there (-1 = half the width, rounded down)" },
  { "anchor-y", "Anchor y", "1.0", INT_AT (mask.anchor_y), .target = CHANGES_MASK, .flags = CONTROLLABLE, .least = -1,
      .most = CONVOLVE_MAX_SIDE - 1, .standard = -1,
      .blurb = "Row of the weight that lies on the pixel, counted from 0; presets always have their middle "
               "there (-1 = half the height, rounded down)" },
  { "flip", "Flip", "1.0", BOOLEAN_AT (mask.flip), .target = CHANGES_MASK, .flags = PLAYING,
      .blurb = "Turn the mask by 180 degrees around the pixel: a convolution in the mathematical sense, where "
               "otherwise the mask lies on the picture as it is written" },
  { "mix", "Mix", "1.0", DOUBLE_AT (mask.mix), .target = CHANGES_MASK, .flags = CONTROLLABLE, .most = 1, .standard = 1,
      .blurb = "Share of the convolved picture in the output; the rest is the input, and the mixture is rounded once "
               "(0 = the input, 1 = the convolved picture; absolute and presets of several masks need 1)" },
  { "absolute", "Absolute", "1.0", BOOLEAN_AT (mask.absolute), .target = CHANGES_MASK, .flags = PLAYING,
      .blurb = "Take the weighted sum without its sign, before bias is added: an edge mask then shows dark-to-bright "
               "and bright-to-dark edges alike; sobel, prewitt, scharr, roberts and kirsch are never negative anyway" },
  { "boundary-color", "Boundary color", "1.0", UINT_AT (boundary_color), .target = CONSTANT, .flags = CONTROLLABLE,
      .most = G_MAXUINT32, .standard = 0xff000000,
      .blurb = "Colour outside the picture for boundary=constant, as 0xAARRGGBB; AA counts where components has a. A "
               "GstARGBControlBinding goes from colour to colour" },
  { "components", "Components", "1.0", FLAGS_AT (components, convolve_components_get_type), .flags = PLAYING,
      .standard = CONVOLVE_COMPONENTS_DEFAULT,
      .blurb = "Components that the mask convolves, joined by +, as in y or r+g; the others are copied bit for bit. A "
               "component that the format lacks is left out. y stands for gray, too. a is alpha, which is convolved by "
               "itself: black is alpha 0, and colours multiplied by alpha are not multiplied again" },
  { "field-mode", "Field mode", "1.0", ENUM_AT (field_mode, convolve_field_mode_get_type), .flags = PLAYING,
      .standard = CONVOLVE_FIELD_MODE_AUTO,
      .blurb =
          "Whether the two fields of an interlaced frame are convolved by themselves, so that neither shows in the "
          "other. A sized preset has half as many rows in a field, because the rows of a field are two rows of the "
          "frame apart" },
  { "light", "Light", "1.0", ENUM_AT (light, convolve_light_mode_get_type), .flags = PLAYING,
      .standard = CONVOLVE_LIGHT_MODE_CODED,
      .blurb = "Whether the mask takes samples as they are coded, or the light that they stand for, as lenses do: "
               "blurred edges between colours then stay bright. linear takes RGB and gray, and the transfer function "
               "from colorimetry in the caps, sRGB where that does not say" },
  { "alpha", "Alpha", "1.0", ENUM_AT (alpha, convolve_alpha_mode_get_type), .flags = PLAYING,
      .standard = CONVOLVE_ALPHA_MODE_WEIGH,
      .blurb =
          "How alpha takes part where frames or regions are convolved or pixelated. weigh is for straight alpha: it keeps "
          "the colours of invisible pixels out of their neighbours, and leaves opaque frames as copy does. "
          "convolve is for premultiplied alpha" },
  { "iterations", "Iterations", "1.0", UINT_AT (iterations), .flags = CONTROLLABLE, .least = 1,
      .most = CONVOLVE_MAX_ITERATIONS, .standard = 1,
      .blurb =
          "How many times the mask is applied, each time to the result before: 3 gives what three elements in a row give" },
};

const ConvolvePropertyTable convolve_mask_properties = { rows, G_N_ELEMENTS (rows), convolve_variant_get_type,
  convolve_variant_is_on_device };

G_STATIC_ASSERT (sizeof (ConvolveBoundary) == sizeof (gint));
