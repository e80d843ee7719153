/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comments for hotdoc. "ninja -C build plugin-cache" writes this file from the tables of properties; nothing compiles it. */

/**
 * GstCudaConvLayer:activation:
 *
 * Function that each sum goes through.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:bias:
 *
 * Fraction of the range from black to white that is added to each value after the division (0.5 shows 0 as middle
 * grey).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:boundary:
 *
 * What the padding has, shown for the left end of a row abc as outside|inside; most networks expect zero.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:channels:
 *
 * Feature maps to show, counted from 0, as in 0,5,8-11: 1 map makes GRAY8, 3 make RGB, 4 make RGBA, and any number
 * makes a mosaic (NULL or empty = all).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:cuda-device-id:
 *
 * Number of the CUDA device (-1 = the device that holds the frames, else the first one, else the CPU).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:dilation:
 *
 * Distance between neighbouring weights of the filters in pixels: one number, or down,across.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:divisor:
 *
 * Number in what is shown, which is value / divisor + bias, where 0 is black and 1 is white. Nothing can be divided by
 * 0, so a controller should not pass through 0.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:frames-in-flight:
 *
 * Number of frames that are on the GPU at once: the copies of several frames overlap, and each frame beyond the first
 * delays the stream by one frame.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:groups:
 *
 * Number of groups of channels, each with filters of its own: 3 for a file with 1 channel and RGB frames is a
 * depthwise layer.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:kernel-variant:
 *
 * How the layer is computed. auto takes the fastest variant that can do the work; any other variant that cannot do the
 * work is an error, which says why.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:location:
 *
 * File with the weights of the convolution layer: a .npy file of the shape (filters, channels, height, width), or a
 * .npz file with the arrays weight and bias; 1 channel takes GRAY8 frames, 3 channels take RGB.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:mosaic:
 *
 * Show the feature maps as tiles in rows and columns of one GRAY8 frame.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:n-threads:
 *
 * Number of threads that share a frame where the CPU convolves it, or copies it for a GPU (0 = one for each core).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:padding:
 *
 * Pixels around the picture, filled as boundary says: same (the output has the picture's size divided by stride,
 * rounded up), valid (none), one number, down,across, or top,left,bottom,right; each up to 65536.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:pool-ceil:
 *
 * Let the last pooling window in a row or column have fewer values, so that all values are pooled.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:pool-padding:
 *
 * Values around those that are pooled, which no maximum takes: one number, down,across, or top,left,bottom,right; each
 * less than pool-size.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:pool-size:
 *
 * Window of max pooling, in values after the activation: one number for a square, or height,width (1 = no pooling).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:pool-stride:
 *
 * Distance between neighbouring pooling windows, in values: one number, or down,across (NULL or empty = pool-size).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayer:stride:
 *
 * Distance between neighbouring positions of the filters in pixels: one number, or down,across as in 2,1.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:absolute:
 *
 * Take the weighted sum without its sign, before bias is added: an edge mask then shows dark-to-bright and
 * bright-to-dark edges alike; sobel, prewitt, scharr, roberts and kirsch are never negative anyway.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:alpha:
 *
 * How alpha takes part where frames or regions are convolved or pixelated. weigh is for straight alpha: it keeps the
 * colours of invisible pixels out of their neighbours, and leaves opaque frames as copy does. convolve is for
 * premultiplied alpha.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:anchor-x:
 *
 * Column of the weight that lies on the pixel, counted from 0; presets always have their middle there (-1 = half the
 * width, rounded down).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:anchor-y:
 *
 * Row of the weight that lies on the pixel, counted from 0; presets always have their middle there (-1 = half the
 * height, rounded down).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:apply-to:
 *
 * Part of each frame that is changed; the rest keeps every byte.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:bias:
 *
 * Fraction of the range from black to white that is added to luma and RGB after the division (0.5 on black = middle
 * grey); a preset's own offset is added to the bias.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:boundary:
 *
 * What the mask reads beyond an edge of the picture, shown for the left end of a row abc as outside|inside.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:boundary-color:
 *
 * Colour outside the picture for boundary=constant, as 0xAARRGGBB; AA counts where components has a. A
 * GstARGBControlBinding goes from colour to colour.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:components:
 *
 * Components that the mask convolves, joined by +, as in y or r+g; the others are copied bit for bit. A component that
 * the format lacks is left out. y stands for gray, too. a is alpha, which is convolved by itself: black is alpha 0,
 * and colours multiplied by alpha are not multiplied again.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:cuda-device-id:
 *
 * Number of the CUDA device (-1 = the device that holds the frames, else the first one, else the CPU).
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:divisor:
 *
 * Number that the weighted sum is divided by (0 = the sum of the weights, or 1 where that sum is 0). Nothing can be
 * divided by 0, so a controller should not pass through 0.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:field-mode:
 *
 * Whether the two fields of an interlaced frame are convolved by themselves, so that neither shows in the other. A
 * sized preset has half as many rows in a field, because the rows of a field are two rows of the frame apart.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:flip:
 *
 * Turn the mask by 180 degrees around the pixel: a convolution in the mathematical sense, where otherwise the mask
 * lies on the picture as it is written.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:frames-in-flight:
 *
 * Number of frames that are on the GPU at once: the copies of several frames overlap, and each frame beyond the first
 * delays the stream by one frame.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:iterations:
 *
 * How many times the mask is applied, each time to the result before: 3 gives what three elements in a row give.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:kernel-variant:
 *
 * How the mask is computed. auto takes the fastest variant that can do the work; any other variant that cannot do the
 * work is an error, which says why.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:light:
 *
 * Whether the mask takes samples as they are coded, or the light that they stand for, as lenses do: blurred edges
 * between colours then stay bright. linear takes RGB and gray, and the transfer function from colorimetry in the caps,
 * sRGB where that does not say.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:mask:
 *
 * Preset, with an argument where it takes one (motion:30), or weights: rows split by ';' or newline, values in a row
 * by space or comma, optionally with the shape WxH: in front. NULL = the default, gaussian. Presets: identity, box,
 * gaussian, binomial, sharpen, unsharp, emboss, laplacian, log, sobel-x, sobel-y, prewitt-x, prewitt-y, scharr-x,
 * scharr-y, sobel, prewitt, scharr, roberts, kirsch, disk, motion.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:mask-height:
 *
 * Height of the mask. Sized presets: in luma pixels, odd. Weights written as one row: how many rows the mask has (0 =
 * the width; 1 = a one-dimensional mask). A controller's even numbers, and its 0, become the next odd one.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:mask-info:
 *
 * The mask of the first plane, after anchors, flip and mix: width, height, weights, sum, divisor, gain (sum of
 * magnitudes by divisor), offset, rank, exact (rounded exactly), reproducible (same bytes on every device),
 * combination and number of sets of weights; NULL before a frame.
 *
 * Since: 0.2
 */

/**
 * GstCudaConvolve:mask-location:
 *
 * File with the weights, instead of mask: a picture (PNG, PGM or PFM), whose size is mask-width; text as in mask, with
 * # comments; a table with commas, semicolons or tabs; a matrix of libvips or .npy array; up to 8 MiB, read when the
 * property is set and when the element starts (NULL or empty = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:mask-width:
 *
 * Width of the mask. Sized presets: in luma pixels, odd (0 = from sigma, or the preset's own width). Weights written
 * as one row: how many of them make a row of the mask (0 = from their number). A controller's even numbers, and its 0,
 * become the next odd one.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:mask-x:
 *
 * Row of weights, instead of the text in mask: the mask is this row times the column mask-y (NULL or empty = 1 where
 * mask-y is set).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:mask-y:
 *
 * Column of weights, written as a row, instead of the text in mask: the mask is this column times the row mask-x (NULL
 * or empty = 1 where mask-x is set).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:mix:
 *
 * Share of the convolved picture in the output; the rest is the input, and the mixture is rounded once (0 = the input,
 * 1 = the convolved picture; absolute and presets of several masks need 1).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:n-threads:
 *
 * Number of threads that share a frame where the CPU convolves it, or copies it for a GPU (0 = one for each core).
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:presets:
 *
 * Names of the presets that the property mask takes.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-active:
 *
 * Whether frames are changed. false passes frames as they are, and boxes are kept for later, so that a controller can
 * switch covering on and off by time.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-blocks:
 *
 * Number of blocks across the shorter side of each box, for the effects pixelate and noise-pixelate. A block has at
 * least 4x4 luma pixels. More than 3 blocks can be undone in films.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-boxes:
 *
 * The boxes of regions as an array, as in <<100,80,64,64>>: four numbers are luma pixels, and of four strings some may
 * be in per cent, as in 50%%. A row of six or more values is a polygon: x and y of each corner in turn. The one that
 * is set last counts.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-color:
 *
 * Colour of the effect fill, as 0xAARRGGBB; AA counts where components has a. A GstARGBControlBinding goes from colour
 * to colour.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-effect:
 *
 * What is done to a region. auto pixelates regions, or takes the mask where region-strength is 0 or more; outside of
 * regions auto takes the mask. plugin/regions.md says what each effect hides.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-epsilon:
 *
 * How little noise noise-pixelate adds to a block's mean, in each component: Laplace's noise of scale 255 m / (b^2
 * epsilon) code values of 8 bits, with b the side of a block and m = b^2 the pixels that may differ, so 255 / epsilon.
 * plugin/regions.md says what holds in films.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-expand:
 *
 * By how much a box grows on each side, as a share of its width and height (0.1 = a tenth on each side); a polygon
 * grows by that share of the shorter side of the box around it. region-strength, region-blocks, region-shape and
 * region-feather take what has grown.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-fallback:
 *
 * What to do when no metadata came for longer than region-hold. A frame without a GstVideoRegionOfInterestMeta has no
 * metadata; an empty GstAnalyticsRelationMeta is metadata.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-feather:
 *
 * Luma pixels around the expanded box or polygon over which the effect fades out.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-hold:
 *
 * Nanoseconds of running time that a box from metadata stays after the last frame that had this box, so that a
 * detector may miss a face for that long; one missed frame is bridged at any frame rate (0 = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-ids:
 *
 * Who the regions in metadata are that count, split by commas: ids of a tracker or names from a classifier, as in
 * 7,12,presenter; one after ! does not count, as in !7. A name with a comma or of digits stands in quotes. A region
 * without an id, or without a name, is covered (NULL or empty = all).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-log:
 *
 * New or empty file for a record, taken when the element starts: a line of JSON for each frame with its time, the
 * boxes that were covered, and a checksum. A record that cannot be written is an error (NULL or empty = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-lookahead:
 *
 * Nanoseconds of running time that each frame waits for later ones, so that a box covers the frames before its first
 * detection, and moves through the gap between two detections. This is latency (0 = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-mask-location:
 *
 * PNG or PGM file whose grey values are weights of the effect, beside the boxes: black is nothing, and white the whole
 * effect. The picture is stretched to the frame, and a pixel takes the largest value that it touches. Expansion,
 * feather and shape do not count (NULL or empty = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-min-confidence:
 *
 * Least confidence of the regions in metadata that count. A region whose confidence is not told, or is 0, is covered
 * (0 = all).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-opacity:
 *
 * Share of the effect in the result, in steps of 1/256 (1 = the effect alone). Below 1 the picture shows through, so
 * that nothing is hidden.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-picture:
 *
 * PNG, PPM or PGM file that the effect fill shows instead of region-color. The picture keeps its aspect ratio and
 * covers the box, so that what juts out on two sides is cut off; region-color lies below its transparent pixels (NULL
 * or empty = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-seed:
 *
 * Seed of the noise of noise-pixelate, for tests: who knows the seed can take the noise away (0 = a secret key from
 * the system, new with each start).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-shape:
 *
 * Shape of a region in its box; polygons and masks of segmentation keep their own.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-smooth:
 *
 * With apply-to=outside-regions, the time constant in nanoseconds with which the weights of regions follow the boxes,
 * so that the edge of a segmentation mask does not flicker. What leaves a region stays in sight for about that long (0
 * = at once).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-sources:
 *
 * Where the regions of a frame come from. A frame whose format has no alpha is changed as a whole where alpha is among
 * them.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-strength:
 *
 * How strongly mask=gaussian or mask=box blurs a region: sigma as a share of the region's shorter side, so that near
 * and far faces are blurred alike, in pixels rounded up to one of 17 values from 1 to 256 (0 = no blur; -1 = the mask
 * as it is). A blur by mask=box can be undone. A controller's -1 is 0.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:region-types:
 *
 * Types of the regions in metadata that count, split by commas, as in face,plate; a type after ! does not count, as in
 * !person; a region without a type is covered (NULL or empty = all types).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:regions:
 *
 * Boxes x,y,width,height and polygons polygon:x,y x,y x,y of 3 to 64 corners, in luma pixels or, with %%, in per cent
 * of the frame; both are split by ';', as in 100,80,64,64; polygon:50%%,0 100%%,50%% 50%%,100%%. A polygon is all that
 * its outline winds around, where edges cross, too (NULL or empty = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolve:sigma:
 *
 * Standard deviation of the presets gaussian, log (up to 31 without mask-width) and unsharp in luma pixels; without
 * effect on other masks (0 = no blur, the least mask of log; -1 = from the width: 0.3 ((width - 1) / 2 - 1) + 0.8). A
 * controller's numbers below 0 are 0.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolve:weights:
 *
 * Weights of the mask, instead of the text in mask: an array of rows, each an array of numbers, such as
 * <<1,2,1>,<2,4,2>,<1,2,1>>; in Python a Gst.ValueArray of Gst.ValueArrays of floats (empty = none).
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveBase:active-variant:
 *
 * Kernel variant that runs, several with commas where planes use different ones; "passthrough" where no sample
 * changes, NULL before the first frame. The value cpu means that no GPU is used.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolveBase:stats:
 *
 * Structure with frames (how many were convolved since start), variant, backend (cuda, cpu or none), device, and
 * upload-time, kernel-time and download-time: mean nanoseconds for one frame; the three overlap.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvLayerActivation:
 *
 * The values of activation.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayerBoundary:
 *
 * The values of boundary.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvLayerVariant:
 *
 * The values of kernel-variant.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveAlpha:
 *
 * The values of alpha.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveApplyTo:
 *
 * The values of apply-to.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveBoundary:
 *
 * The values of boundary.
 *
 * Since: 0.1
 */

/**
 * GstCudaConvolveComponents:
 *
 * The values of components.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveFieldMode:
 *
 * The values of field-mode.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveLight:
 *
 * The values of light.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveRegionEffect:
 *
 * The values of region-effect.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveRegionFallback:
 *
 * The values of region-fallback.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveRegionShape:
 *
 * The values of region-shape.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveRegionSources:
 *
 * The values of region-sources.
 *
 * Since: 1.0
 */

/**
 * GstCudaConvolveVariant:
 *
 * The values of kernel-variant.
 *
 * Since: 0.1
 */
