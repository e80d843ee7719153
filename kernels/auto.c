/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of "auto": the first rule of the table at the end whose variant accepts the plan, follows its arithmetic
 * and is profitable for it. So the choice changes no byte. A plan without an arithmetic is the exception: any variant
 * will do. Every limit is read from tests/results/; a rule names the file and the rows.
 */
#include "auto.h"

#include <stdlib.h>

#include "variants.h"

/*
 * What is faster depends on the plane: a small one is done before all of the GPU is at work. The results are those of
 * planes of 1080p, 4K and 8K frames; the limits lie half way between.
 */
typedef enum
{
  SMALL,
  MIDDLE,
  LARGE
} Extent;

/* Whether a variant accepts the plan, once it was asked. */
typedef struct
{
  bool asked, accepted;
  ConvolveFound found;
} Answer;

#define COUNT_VARIANT(name) INDEX_##name,
enum
{
  CONVOLVE_VARIANTS (COUNT_VARIANT) N_VARIANTS
};

/* One choice: the plan, and what its rules ask about it. */
typedef struct
{
  const ConvolvePlan *plan;
  Extent extent;
  int side; /* the mask's larger one */
  Answer answers[N_VARIANTS];
} Choice;

static bool
follows (const ConvolvePlan *plan, const ConvolveVariant *variant)
{
  return convolve_variant_follows (variant, plan) || convolve_plan_is_free (plan);
}

/* Whether the variant may be taken. A variant makes its analysis only once, however many rules ask for it. */
static bool
accepts (Choice *choice, const ConvolveVariant *variant)
{
  const char *reason;
  int i = 0;

  while (convolve_variants[i] != variant)
    i++;
  Answer *answer = &choice->answers[i];
  if (!answer->asked) {
    answer->asked = true;
    answer->accepted =
        follows (choice->plan, variant) && convolve_variant_accepts (variant, choice->plan, &answer->found, &reason);
  }
  return answer->accepted;
}

static ConvolveFound
take_found (Choice *choice, const ConvolveVariant *variant)
{
  int i = 0;

  while (convolve_variants[i] != variant)
    i++;
  ConvolveFound found = choice->answers[i].found;
  choice->answers[i].found.block = NULL;
  return found;
}

static Extent
extent_of (const ConvolvePlan *plan)
{
  /* Two samples to a pixel are the chroma of a frame with four times as many pixels. */
  int64_t frame = plan->pixels * (plan->pixel.samples == 2 ? 4 : 1);

  return frame == 0 ? MIDDLE : frame <= 1 << 22 ? SMALL : frame <= 1 << 24 ? MIDDLE : LARGE;
}

static bool
is_exact (const Choice *choice)
{
  return choice->plan->arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT;
}

static bool
is_one_step (const Choice *choice)
{
  return choice->plan->arithmetic.kind == CONVOLVE_ARITHMETIC_ONE_STEP;
}

static bool
is_products (Choice *choice)
{
  return choice->plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS;
}

/* Whether two passes of one dimension can do the mask. A product with a tap at its centre has no rank of 1. */
static bool
is_product (const Choice *choice)
{
  const ConvolvePlan *plan = choice->plan;

  return plan->taps.row || (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS && plan->arithmetic.rank == 1);
}

static bool
is_deep (const Choice *choice)
{
  return choice->plan->pixel.type == CONVOLVE_SAMPLE_U16;
}

static bool
is_single_byte (const Choice *choice)
{
  return !is_deep (choice) && choice->plan->pixel.samples == 1;
}

/* The tensor variant is faster from some side on, where it can do the mask. */
static bool
is_before_tensor (Choice *choice, int side)
{
  return choice->side <= side || !accepts (choice, &convolve_variant_tensor);
}

/* Up to 3x3 two passes are no gain. The last variant for columns times rows of rounded integers has to do 3x3, too. */
static bool
separable (Choice *choice)
{
  return is_products (choice) || choice->plan->taps.width * choice->plan->taps.height > 9;
}

/* The side up to which products in registers, by packed-separable or fused, are faster than on the tensor cores. */
static int
side_in_registers (const Choice *choice)
{
  static const int deep[] = { [SMALL] = 7, [MIDDLE] = 9, [LARGE] = 9 };
  static const int four[] = { [SMALL] = 7, [MIDDLE] = 7, [LARGE] = 5 };

  if (!is_deep (choice) && choice->plan->pixel.samples <= 2)
    return 7;
  return (is_deep (choice) ? deep : four)[choice->extent];
}

static bool
has_both_signs (const Choice *choice)
{
  const ConvolveTaps *taps = &choice->plan->taps;
  bool below = false, above = false;

  for (int i = 0; i < taps->width * taps->height; i++) {
    below = below || taps->taps[i] < 0;
    above = above || taps->taps[i] > 0;
  }
  return below && above;
}

/*
 * Below these sides packed is faster, for three samples only in large planes, and in those of 4K frames where weights
 * have both signs; above them tensor-separable, or tensor for small planes of single bytes.
 */
static bool
packed_separable (Choice *choice)
{
  int samples = choice->plan->pixel.samples, side = choice->side;

  if (is_products (choice))
    return true;
  if (samples == 3)
    return side > 3 || choice->extent == SMALL || (choice->extent == MIDDLE && !has_both_signs (choice));
  if (choice->extent == SMALL)
    return side > 5 && (samples > 2 || is_before_tensor (choice, samples == 2 ? 7 : 5));
  return samples == 1 ? side > 3 : samples == 2 || is_before_tensor (choice, 7);
}

/*
 * The side up to which packed is faster than fused for an exact column times a row of deep samples. In the luma of
 * small and large frames 5x5 was timed, with 10 bits, and no other mask between 3x3 and 5x5.
 */
static int
side_of_deep_packed (const Choice *choice)
{
  const ConvolvePlan *plan = choice->plan;
  const bool timed =
      choice->extent != MIDDLE && plan->taps.width == 5 && plan->taps.height == 5 && plan->pixel.depth < 16;

  return plan->pixel.samples == 1 ? (timed ? 5 : 3) : plan->pixel.samples == 2 ? 5 : 0;
}

/* Masks of integers are faster by packed, packed-separable or direct, or on the tensor cores, where these take them. */
static bool
fused (Choice *choice)
{
  if (is_products (choice))
    return true;
  if (is_deep (choice) && choice->side <= side_of_deep_packed (choice) && accepts (choice, &convolve_variant_packed))
    return false;
  if (choice->extent == SMALL && is_deep (choice) && choice->side <= 3)
    return !accepts (choice, &convolve_variant_direct);
  if (choice->extent == SMALL && is_single_byte (choice) && !is_before_tensor (choice, 3))
    return false;
  return !accepts (choice, &convolve_variant_packed_separable);
}

static bool
packed (Choice *choice)
{
  static const int single[] = { [SMALL] = 5, [MIDDLE] = 7, [LARGE] = 5 };
  int samples = choice->plan->pixel.samples;
  bool small = choice->extent == SMALL;

  if (is_deep (choice))
    return is_before_tensor (choice, samples > 2 ? (small ? 7 : 5) : samples == 2 || small ? 9 : 7);
  if (choice->plan->combination == CONVOLVE_ABSOLUTE && samples == 3 && small && choice->side <= 3)
    return !accepts (choice, &convolve_variant_direct);
  if (samples == 1)
    return is_before_tensor (choice, single[choice->extent]);
  return is_before_tensor (choice, samples == 2 && !small ? 9 : 7);
}

/* Eight sets of 3x3 are faster by tiled, two by direct. */
#define MOST_DIRECT_SETS 6

static bool
direct (Choice *choice)
{
  if (choice->plan->n_parts > MOST_DIRECT_SETS && choice->side <= 3)
    return false;
  if (is_deep (choice))
    return is_before_tensor (choice, choice->extent == SMALL || choice->plan->pixel.samples < 4 ? 7 : 5);
  if (choice->plan->pixel.samples == 4)
    return is_before_tensor (choice, 3);
  return is_before_tensor (choice, choice->extent == SMALL && is_single_byte (choice) ? 3 : 5);
}

/* Up to 9x9 fused is twice as fast, and for bytes tensor is faster up to 15x15. */
static bool
fused_tiled (Choice *choice)
{
  return choice->side > (is_deep (choice) ? 9 : 15) || (choice->side > 9 && is_before_tensor (choice, 9));
}

/* Of the kernels of tensor: one for each number of digits, from 1 on. Of those of fft. */
#define MOST_DIGITS 3
#define FFT_IN_DOUBLE 1

/* The side from which transforms are faster than tensor with 1, 2 and 3 digits, for masks of one step. */
static int
side_before_fft_of_one_step (const Choice *choice)
{
  enum
  {
    DEEP,
    PAIRS,
    TRIPLES,
    OTHERS
  };
  static const int sides[][MOST_DIGITS] = {
    [DEEP] = { 57, 37, 29 },
    [PAIRS] = { 77, 65, 45 }, /* 65: the luma beside them takes tensor up to there, and a frame in one way is faster */
    [TRIPLES] = { 77, 55, 45 },
    [OTHERS] = { 85, 65, 51 },
  };
  const int samples = choice->plan->pixel.samples;
  const int kind = is_deep (choice) ? DEEP : samples == 2 ? PAIRS : samples == 3 ? TRIPLES : OTHERS;

  return sides[kind][choice->answers[INDEX_tensor].found.kernel];
}

/*
 * Transforms are the same work for every mask; in double precision only where the device does at least half as many of
 * these. Masks of one step without tensor take double precision in any case.
 */
static bool
fft (Choice *choice)
{
  const ConvolvePlan *plan = choice->plan;
  int side;

  if (!accepts (choice, &convolve_variant_fft))
    return false;
  const bool in_double = choice->answers[INDEX_fft].found.kernel == FFT_IN_DOUBLE;
  if (in_double && convolve_device_double_ratio (plan->device) > 2
      && (!is_one_step (choice) || accepts (choice, &convolve_variant_tensor)))
    return false;
  if (plan->taps.row && !is_one_step (choice))
    side = 65;
  else if (!accepts (choice, &convolve_variant_tensor))
    side = 25;
  else if (is_one_step (choice))
    side = side_before_fft_of_one_step (choice);
  else if (is_deep (choice))
    side = in_double ? 57 : 27;
  else
    side = !in_double ? 49 : is_exact (choice) ? 85 : 65;
  return plan->taps.width * plan->taps.height >= side * side;
}

/* A column times a row is less work in two passes once it is this large. */
static bool
tensor (Choice *choice)
{
  const ConvolveTaps *taps = &choice->plan->taps;

  return (!taps->row || is_one_step (choice) || taps->width * taps->height <= 63 * 63) && !fft (choice);
}

/* The side above which transforms are faster than tensor-separable. */
static int
side_before_fft (Choice *choice)
{
  if (choice->plan->taps.row)
    return choice->plan->pixel.stride == 1 ? 160 : 85;
  if (!accepts (choice, &convolve_variant_fft))
    return 80;
  return choice->answers[INDEX_fft].found.kernel == FFT_IN_DOUBLE ? 140 : 80;
}

/*
 * The side up to which the tensor cores are slower for an exact column times a row of deep samples, in a small plane.
 */
static int
side_of_small_deep (Choice *choice)
{
  return accepts (choice, &convolve_variant_fused) ? 7 : 5;
}

/* The side up to which other variants are faster than tensor-separable for a column times a row. */
static int
side_before_tensor_separable (Choice *choice)
{
  static const int deep[] = { [MIDDLE] = 9, [LARGE] = 7 };
  static const int single[] = { [SMALL] = 9, [MIDDLE] = 7, [LARGE] = 5 };
  bool small = choice->extent == SMALL;

  if (is_products (choice))
    return side_in_registers (choice);
  if (is_deep (choice))
    return choice->extent == SMALL ? side_of_small_deep (choice) : deep[choice->extent];
  bool integers = accepts (choice, &convolve_variant_packed_separable);
  if (choice->plan->pixel.samples == 1)
    return integers ? 9 : single[choice->extent];
  if (choice->plan->pixel.samples == 2)
    return integers ? (small ? 7 : 9) : small ? 5 : 7;
  if (integers)
    return choice->plan->pixel.samples == 4 && small ? 9 : 7;
  return small ? 5 : 3;
}

static bool
tensor_separable (Choice *choice)
{
  if (choice->side > side_before_fft (choice) && fft (choice))
    return false;
  return choice->side > (is_product (choice) ? side_before_tensor_separable (choice) : 15);
}

/*
 * Four samples to a pixel are faster taken apart in shared memory, by tensor-separable. Up to 5x5 three samples are
 * faster as they lie in memory. Deep samples with rounded weights gain in small planes alone, up to 17x17.
 */
static bool
tensor_fused (Choice *choice)
{
  static const int single[] = { [SMALL] = 5, [MIDDLE] = 7, [LARGE] = 7 };
  static const int pairs[] = { [SMALL] = 5, [MIDDLE] = 5, [LARGE] = 7 };
  const ConvolvePlan *plan = choice->plan;
  int side = choice->side;

  if (plan->pixel.samples > 2)
    return plan->pixel.samples == 3 && (side > 5 || !accepts (choice, &convolve_variant_packed_separable));
  if (is_deep (choice) && is_products (choice))
    return choice->extent == SMALL && side > side_in_registers (choice) && side <= 17;
  if (is_deep (choice))
    return choice->extent == SMALL ? side > side_of_small_deep (choice) && side <= 17 : is_exact (choice) && side > 5;
  if (choice->extent == LARGE && !is_exact (choice) && side > 17)
    return false;
  if (is_products (choice))
    return side > (choice->extent == SMALL ? 5 : side_in_registers (choice));
  if (!accepts (choice, &convolve_variant_packed_separable))
    return side > 3;
  return side > (plan->pixel.samples == 1 ? single : pairs)[choice->extent];
}

/*
 * Whether tensor-fused is faster than box up to 31x31 for deep samples: in planes of MIDDLE extent, where it takes the
 * mask.
 */
static bool
tensor_fused_beats_box (Choice *choice)
{
  return choice->extent == MIDDLE && tensor_fused (choice) && accepts (choice, &convolve_variant_tensor_fused);
}

/*
 * The time of box hardly depends on the side. It is longer where samples have something between them. Boxes of one step
 * have 256 weights and more, and no variant that computes them in two passes.
 */
static bool
box (Choice *choice)
{
  const ConvolvePixel *pixel = &choice->plan->pixel;
  bool small = choice->extent == SMALL;

  if (is_one_step (choice))
    return true;
  if (pixel->stride != pixel->samples * convolve_sample_size (pixel->type) || pixel->swapped)
    return choice->side > (small ? 63 : 51);
  if (is_deep (choice))
    return choice->side > (small ? 63 : tensor_fused_beats_box (choice) ? 31 : 17);
  return choice->side > (pixel->samples > 2 || choice->extent == LARGE ? 33 : 65);
}

/*
 * The rules, in the order in which they are tried. "fast" stands for the three files h200-fast.csv (4K),
 * h200-fast-1080p.csv and h200-fast-8K.csv: a limit lies between the last side at which another variant is faster in
 * all their rounds and the first at which this variant is.
 *
 * Masks of several sets and absolute values are for packed, direct, tiled and global alone, and best in this order:
 * packed does four products in an instruction, direct has no tile to load, and global reads each sample again for every
 * output.
 *
 * Rounded columns times rows are not for all of these: side_in_registers () says up to where packed-separable and, for
 * deep samples, fused are the fastest, but for tensor-fused in small planes of one or two bytes. separable does all of
 * them.
 */
static const struct
{
  const ConvolveVariant *variant;
  bool (*profitable) (Choice *choice); /* NULL: wherever the variant accepts the plan */
  const char *source;                  /* in tests/results/: the file and the rows that the limits were read from */
} rules[] = {
  { &convolve_variant_shrink, NULL, "none: a Gaussian without weights is for no other variant" },
  { &convolve_variant_box, box,
      "h200-box.csv: kind box, every format and side, box beside auto; h100-auto.csv and h200-auto.csv: P010, 31x31" },
  { &convolve_variant_tensor_fused, tensor_fused,
      "fast: kind rank-1, masks 3 to 31; h200-separable.md; h200-rgb.csv; h200-1080p.csv; h200-auto.md: 7x7 at 1080p" },
  { &convolve_variant_tensor_separable, tensor_separable,
      "fast: kind rank-1, masks 5 to 63; h200-separable.md, Times" },
  { &convolve_variant_packed_separable, packed_separable,
      "fast: kind rank-1, masks 3 to 9, GRAY8, NV12, RGBA; h200-rgb.csv; h200-1080p.csv; h200-edges.csv: sobel-x" },
  { &convolve_variant_fused, fused,
      "fast: kind rank-1, masks 3 to 9, all formats; h200-1080p.csv; h100-auto.csv: P010" },
  { &convolve_variant_fused_tiled, fused_tiled, "fast: kind rank-1, masks 9 to 63, all formats" },
  { &convolve_variant_packed, packed,
      "fast: kind any, masks 3 to 9, GRAY8, NV12, RGBA, P010; h200-rgb.csv, h200-edges.csv: RGB, absolute=true; "
      "h200-kinds.md, Samples of 16 bits" },
  { &convolve_variant_direct, direct,
      "fast: kind any, masks 3 to 9, all formats; h200-edges.csv: kirsch, GRAY16; h200-kinds.md, Samples of 16 bits" },
  { &convolve_variant_tensor, tensor, "fast: kind any, masks 5 to 63; h200-tensor.md, Times" },
  { &convolve_variant_fft, fft,
      "h200-fft.md, Times: the side at which fft passes each other variant; fast: kind any, NV12, 63x63" },
  { &convolve_variant_tensor_fused, is_products, "none: separable takes several times as long" },
  { &convolve_variant_tensor_separable, is_products, "none: the same" },
  { &convolve_variant_separable, separable, "h200-textbook.csv: masks 3x3 and 5x5, separable beside tiled" },
  { &convolve_variant_tiled, NULL,
      "h200-textbook.csv: every mask, tiled beside constant and global; h200-edges.csv: kirsch, GRAY16" },
  { &convolve_variant_global, NULL, "none: where tiled is not to be taken" },
};

static Choice
begin_choice (const ConvolvePlan *plan)
{
  const ConvolveTaps *taps = &plan->taps;

  return (Choice){
    .plan = plan,
    .extent = extent_of (plan),
    .side = taps->width > taps->height ? taps->width : taps->height,
  };
}

static void
end_choice (Choice *choice)
{
  for (int i = 0; i < N_VARIANTS; i++)
    free (choice->answers[i].found.block);
}

/* The variant of the first rule that fits, other than `without`. NULL where none does. */
static const ConvolveVariant *
choose (Choice *choice, const ConvolveVariant *without)
{
  for (size_t i = 0; i < sizeof (rules) / sizeof (rules[0]); i++)
    if (rules[i].variant != without && (!rules[i].profitable || rules[i].profitable (choice))
        && accepts (choice, rules[i].variant))
      return rules[i].variant;
  return NULL;
}

void
convolve_auto_choose (ConvolvePlan *plan)
{
  Choice choice = begin_choice (plan);
  const ConvolveVariant *variant = plan->device ? choose (&choice, NULL) : NULL;

  plan->variant = variant ? variant : &convolve_variant_cpu;
  if (variant) {
    ConvolveFound found = take_found (&choice, variant);

    plan->prepared = found.block;
    plan->kernel = found.kernel;
  }
  end_choice (&choice);
}

int
convolve_auto_candidates (const ConvolvePlan *plan, const ConvolveVariant *rows[], int most)
{
  Choice choice = begin_choice (plan);
  int count = 0;

  rows[count++] = plan->variant;
  for (int i = 0; i <= 2 * LARGE + 1; i++) {
    const ConvolveVariant *variant;
    bool taken = false;

    choice.extent = (Extent) (i % (LARGE + 1));
    variant = choose (&choice, i <= LARGE ? NULL : plan->variant);
    for (int k = 0; k < count; k++)
      taken = taken || !variant || rows[k] == variant;
    if (!taken && count < most)
      rows[count++] = variant;
  }
  end_choice (&choice);
  return count;
}
