/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Does a batch on the device: sends the tables there, and launches one kernel for each kind of work. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/regions/batch_kernels.cuh"
#include "cuda/device/launch.cuh"

#define STAGINGS 8                /* tables that may be on their way to the device at once */
#define MOST_FETCHED (256 * 1024) /* bytes of tables that a kernel fetches: a copy engine starts late, but is faster */
#define FETCHED 16                /* bytes that a thread fetches */

/* Bytes of tables in a launch. Parameters of up to 4 KB are the cheapest; most frames with boxes fit 32 KB. */
#define FEW_PARAMETERS 4000
#define MORE_PARAMETERS 14000
#define MANY_PARAMETERS 32000

/* Page-locked memory for tables on their way. */
struct Staging
{
  void *memory;
  size_t bytes;
  cudaEvent_t sent; /* NULL before the first use */
};

/* batch->loaded. */
struct Loaded
{
  ConvolveTables tables;
  uint8_t *arena, *sent; /* of the atlases and of the tables, on the device */
  size_t arena_bytes, sent_bytes;
  size_t offsets[CONVOLVE_N_TABLES]; /* of the tables that were sent */
  Staging stagings[STAGINGS];
  unsigned batches;
  ConvolveTableParameters<MANY_PARAMETERS> *parameters; /* of a launch, while it is put together */
};

/* Room for `bytes` bytes on the device. The contents are lost; what is enqueued and uses them is waited for. */
static ConvolveStatus
make_room (ConvolveDevice *device, uint8_t **memory, size_t *room, size_t bytes, ConvolveError *error)
{
  cudaError_t code;

  if (bytes <= *room)
    return CONVOLVE_OK;
  bytes += bytes / 4; /* boxes come and go */
  code = cudaStreamSynchronize (device->streams[PHASE_KERNEL]);
  if (code == cudaSuccess)
    code = cudaFree (*memory);
  *memory = NULL;
  *room = 0;
  if (code == cudaSuccess)
    code = cudaMalloc ((void **) memory, bytes);
  /* The gaps between the cells of an atlas are convolved, too. No output depends on the gaps, but they need values. */
  if (code == cudaSuccess)
    code = cudaMemsetAsync (*memory, 0, bytes, device->streams[PHASE_KERNEL]);
  if (code != cudaSuccess)
    return convolve_device_fail (device, code, "no device memory for regions", error);
  *room = bytes;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_batch_begin (ConvolveBatch *batch, size_t bytes, ConvolveError *error)
{
  ConvolveEntry entry (batch->device, error);

  ConvolveStatus status = entry.status == CONVOLVE_OK ? convolve_flush (batch->device, error) : entry.status;

  if (status != CONVOLVE_OK)
    return status;
  return make_room (batch->device, (uint8_t **) &batch->memory, &batch->bytes, bytes, error);
}

void
convolve_device_batch_clear (ConvolveBatch *batch)
{
  ConvolveExit exit (batch->device);
  Loaded *loaded = (Loaded *) batch->loaded;

  convolve_flush (batch->device, NULL);
  if (exit.possible) {
    cudaStreamSynchronize (batch->device->streams[PHASE_KERNEL]);
    cudaFree (batch->memory);
  }
  for (int i = 0; loaded && i < STAGINGS && exit.possible; i++)
    if (loaded->stagings[i].sent) {
      cudaFreeHost (loaded->stagings[i].memory);
      cudaEventDestroy (loaded->stagings[i].sent);
    }
  if (loaded && exit.possible) {
    cudaFree (loaded->arena);
    cudaFree (loaded->sent);
  }
  if (loaded) {
    convolve_tables_clear (&loaded->tables);
    free (loaded->parameters);
  }
  free (loaded);
}

/* --- the tables --- */

/* Page-locked memory that nothing reads any more. */
static cudaError_t
take_staging (Loaded *loaded, size_t bytes, Staging **taken)
{
  Staging *staging = &loaded->stagings[loaded->batches++ % STAGINGS];
  cudaError_t code = staging->sent ? cudaEventSynchronize (staging->sent)
                                   : cudaEventCreateWithFlags (&staging->sent, cudaEventDisableTiming);

  if (code == cudaSuccess && bytes > staging->bytes) {
    cudaFreeHost (staging->memory);
    staging->memory = NULL;
    staging->bytes = 0;
    code = cudaHostAlloc (&staging->memory, 2 * bytes, cudaHostAllocPortable);
    if (code == cudaSuccess)
      staging->bytes = 2 * bytes;
  }
  *taken = staging;
  return code;
}

/* Copies page-locked memory of the host to the device. */
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_fetch_tables (const uint4 *from, uint4 *to, unsigned count)
{
  const unsigned i = blockIdx.x * CONVOLVE_BATCH_THREADS + threadIdx.x;

  convolve_wait ();
  if (i < count)
    to[i] = from[i];
}

/* Enqueues the copy of the tables. */
static ConvolveStatus
copy_tables (ConvolveDevice *device, Loaded *loaded, Staging *staging, size_t bytes, ConvolveError *error)
{
  unsigned count = (unsigned) (bytes / FETCHED);
  ConvolveLaunch launch = { (const void *) convolve_fetch_tables,
    dim3 ((count + CONVOLVE_BATCH_THREADS - 1) / CONVOLVE_BATCH_THREADS), dim3 (CONVOLVE_BATCH_THREADS), 0, true };
  void *arguments[] = { &staging->memory, &loaded->sent, &count };
  cudaError_t code;

  if (bytes <= MOST_FETCHED)
    return convolve_enqueue (device, launch, arguments, "regions", error);
  code = cudaMemcpyAsync (loaded->sent, staging->memory, bytes, cudaMemcpyHostToDevice, device->streams[PHASE_KERNEL]);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "cannot send regions", error);
}

/* The table of planes, where they are now. */
static void
put_planes (const Loaded *loaded, const ConvolveMoves *moves, uint8_t *to)
{
  const ConvolveTable &table = loaded->tables.table[CONVOLVE_TABLE_PLANES];
  ConvolveFramePlane *planes = (ConvolveFramePlane *) to;

  if (table.count > 0)
    memcpy (planes, table.elements, table.count * sizeof (*planes));
  for (size_t i = 0; i < table.count && moves->count > 0; i++)
    planes[i].data = (uint8_t *) convolve_moved (moves, planes[i].data);
}

static void
put_table (const Loaded *loaded, ConvolveTableName name, const ConvolveMoves *moves, uint8_t *to)
{
  const ConvolveTable &table = loaded->tables.table[name];

  if (name == CONVOLVE_TABLE_PLANES)
    put_planes (loaded, moves, to);
  else if (table.count > 0)
    memcpy (to, table.elements, table.count * convolve_table_element (name));
}

/* Sends the tables to loaded->sent, where each begins at its offset. */
static ConvolveStatus
send_tables (ConvolveDevice *device, Loaded *loaded, const ConvolveMoves *moves, ConvolveError *error)
{
  size_t bytes = convolve_tables_place (&loaded->tables, loaded->offsets);
  ConvolveStatus status = make_room (device, &loaded->sent, &loaded->sent_bytes, bytes, error);
  Staging *staging;
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  code = take_staging (loaded, bytes, &staging);
  for (int i = 0; i < CONVOLVE_N_TABLES && code == cudaSuccess; i++)
    put_table (loaded, (ConvolveTableName) i, moves, (uint8_t *) staging->memory + loaded->offsets[i]);
  if (code != cudaSuccess)
    return convolve_device_fail (device, code, "cannot send regions", error);
  status = copy_tables (device, loaded, staging, bytes, error);
  if (status != CONVOLVE_OK)
    return status;
  code = cudaEventRecord (staging->sent, device->streams[PHASE_KERNEL]);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "cannot send regions", error);
}

/* --- launches --- */

/*
 * A kernel for each size of its parameters, and its tables. The first one is that of planes. The last one has the tiles, or
 * the jobs of an effect, whose tiles are counted in the member of ConvolveTables at `tiles`.
 */
struct BatchKernel
{
  const void *kernels[4];
  unsigned threads;
  size_t tiles; /* 0 for a table of tiles */
  int n_tables;
  ConvolveTableName tables[CONVOLVE_MOST_TABLES];
};

#define KERNELS(name) \
  { \
    (const void *) name<CONVOLVE_PLANES_SPACE>, (const void *) name<FEW_PARAMETERS>, \
        (const void *) name<MORE_PARAMETERS>, (const void *) name<MANY_PARAMETERS> \
  }
static_assert (sizeof (ConvolveTableParameters<MANY_PARAMETERS>) <= CONVOLVE_PARAMETER_BYTES,
    "the tables fit into the parameters");

#define EFFECT(name, tiles) KERNELS (convolve_##name##_tiles), CONVOLVE_BATCH_THREADS, offsetof (ConvolveTables, tiles)
#define EFFECT_TABLES CONVOLVE_TABLE_PLANES, CONVOLVE_TABLE_EFFECT_BOXES

static const BatchKernel batch_kernels[] = {
  { KERNELS (convolve_gather_tiles), CONVOLVE_BATCH_THREADS, 0, 3,
      { CONVOLVE_TABLE_PLANES, CONVOLVE_TABLE_GATHER_JOBS, CONVOLVE_TABLE_GATHER_TILES } },
  { KERNELS (convolve_take_tiles), CONVOLVE_BATCH_THREADS, 0, 3,
      { CONVOLVE_TABLE_PLANES, CONVOLVE_TABLE_TAKE_JOBS, CONVOLVE_TABLE_TAKE_TILES } },
  { EFFECT (shrink, shrink_tiles), 4, { EFFECT_TABLES, CONVOLVE_TABLE_WEIGHTS, CONVOLVE_TABLE_BLUR_JOBS } },
  { EFFECT (sum, sum_tiles), 3, { EFFECT_TABLES, CONVOLVE_TABLE_PIXELATE_JOBS } },
  { EFFECT (blur, blur_tiles), 4, { EFFECT_TABLES, CONVOLVE_TABLE_WEIGHTS, CONVOLVE_TABLE_BLUR_JOBS } },
  { EFFECT (pixelate, pixelate_tiles), 3, { EFFECT_TABLES, CONVOLVE_TABLE_PIXELATE_JOBS } },
  { EFFECT (fill, fill_tiles), 3, { EFFECT_TABLES, CONVOLVE_TABLE_FILL_JOBS } },
  { EFFECT (draw, draw_tiles), 3, { EFFECT_TABLES, CONVOLVE_TABLE_DRAW_JOBS } },
  { KERNELS (convolve_blend_tiles), CONVOLVE_BLEND_THREADS, 0, 5,
      { CONVOLVE_TABLE_PLANES, CONVOLVE_TABLE_BLEND_JOBS, CONVOLVE_TABLE_BOXES, CONVOLVE_TABLE_COVERS,
          CONVOLVE_TABLE_BLEND_TILES } },
  { KERNELS (convolve_blend_shapes), CONVOLVE_BLEND_THREADS, 0, 8,
      { CONVOLVE_TABLE_PLANES, CONVOLVE_TABLE_BLEND_JOBS, CONVOLVE_TABLE_BOXES, CONVOLVE_TABLE_COVERS,
          CONVOLVE_TABLE_OUTLINES, CONVOLVE_TABLE_CORNERS, CONVOLVE_TABLE_MATTES, CONVOLVE_TABLE_BLEND_TILES } },
};
#define N_KERNELS ((int) (sizeof (batch_kernels) / sizeof (batch_kernels[0])))
enum
{
  GATHER, /* the first one */
  TAKE,
  SHRINK,
  SUM,
  BLUR, /* the first one that may blend at once, as those up to BLEND may */
  BLEND = N_KERNELS - 2,
  BLEND_SHAPES
};

/* The bytes of a kernel's tables, one behind the other, and where each of them begins. */
static size_t
place_tables (const Loaded *loaded, const BatchKernel &kernel, unsigned offsets[CONVOLVE_MOST_TABLES])
{
  size_t end = 0;

  for (int i = 0; i < kernel.n_tables; i++) {
    offsets[i] = (unsigned) end;
    end += (loaded->tables.table[kernel.tables[i]].count * convolve_table_element (kernel.tables[i]) + 15) / 16 * 16;
  }
  return end;
}

/* The elements of its last table. */
static size_t
count_last (const Loaded *loaded, const BatchKernel &kernel)
{
  return loaded->tables.table[kernel.tables[kernel.n_tables - 1]].count;
}

/* The tiles of a kernel; of the two that blend one has all, and the other none. */
static size_t
count_tiles (const Loaded *loaded, const BatchKernel &kernel)
{
  if (&kernel == &batch_kernels[loaded->tables.has_shapes ? BLEND : BLEND_SHAPES])
    return 0;
  return kernel.tiles > 0 ? *(const size_t *) ((const uint8_t *) &loaded->tables + kernel.tiles)
                          : count_last (loaded, kernel);
}

/* Whether some kernel's tables are too large for its parameters, so that all tables have to be sent before. */
static bool
needs_sending (const Loaded *loaded)
{
  unsigned offsets[CONVOLVE_MOST_TABLES];

  for (int i = 0; i < N_KERNELS; i++)
    if (count_tiles (loaded, batch_kernels[i]) > 0
        && place_tables (loaded, batch_kernels[i], offsets) > MANY_PARAMETERS)
      return true;
  return false;
}

/* Whether the planes take more than their part of the parameters, so that they are sent with the other tables. */
static bool
sends_planes (const Loaded *loaded)
{
  return loaded->tables.table[CONVOLVE_TABLE_PLANES].count * sizeof (ConvolveFramePlane) > CONVOLVE_PLANES_SPACE;
}

/* Launches a kernel over its tiles; not where it has none. */
static ConvolveStatus
launch_kernel (ConvolveDevice *device, const Loaded *loaded, const BatchKernel &kernel, const ConvolveMoves *moves,
    ConvolveError *error)
{
  static_assert (offsetof (ConvolveTableParameters<MANY_PARAMETERS>, bytes)
          == offsetof (ConvolveTableParameters<1>, bytes),
      "parameters of all sizes begin alike");
  ConvolveTableParameters<MANY_PARAMETERS> *parameters = loaded->parameters;
  size_t tiles = count_tiles (loaded, kernel), bytes = place_tables (loaded, kernel, parameters->offsets);
  const bool sent = bytes > MANY_PARAMETERS;
  ConvolveLaunch launch = { NULL, dim3 ((unsigned) tiles), dim3 (kernel.threads), 0, true };
  void *arguments[] = { parameters };

  if (tiles == 0)
    return CONVOLVE_OK;
  launch.kernel = kernel.kernels[sent ? 0 : bytes > MORE_PARAMETERS ? 3 : bytes > FEW_PARAMETERS ? 2 : 1];
  parameters->sent = loaded->sent;
  parameters->sends_planes = sent && sends_planes (loaded);
  parameters->n_jobs = (int) count_last (loaded, kernel);
  for (int i = 0; i < kernel.n_tables && !sent; i++)
    put_table (loaded, kernel.tables[i], moves, parameters->bytes + parameters->offsets[i]);
  for (int i = 0; i < kernel.n_tables && sent; i++)
    parameters->offsets[i] = (unsigned) loaded->offsets[kernel.tables[i]];
  if (sent && !parameters->sends_planes) {
    parameters->offsets[0] = 0;
    put_planes (loaded, moves, parameters->bytes);
  }
  return convolve_enqueue (device, launch, arguments, "regions", error);
}

static ConvolveStatus
copy_planes (ConvolveDevice *device, const ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error)
{
  cudaStream_t stream = device->streams[PHASE_KERNEL];
  cudaError_t code = cudaSuccess;

  for (size_t i = 0; i < batch->n_works && code == cudaSuccess; i++) {
    const ConvolveWork *work = &batch->works[i];

    if (work->kind != CONVOLVE_WORK_COPY)
      continue;
    const ConvolvePlane plane = convolve_moved_plane (moves, work);
    const size_t bytes = work->row_bytes;

    /* A 2D copy takes strides from 0 to 2 GiB alone. */
    if (plane.source_stride == (ptrdiff_t) bytes && plane.destination_stride == (ptrdiff_t) bytes)
      code = cudaMemcpyAsync (plane.destination, plane.source, bytes * plane.height, cudaMemcpyDeviceToDevice, stream);
    else if (plane.source_stride > 0 && plane.destination_stride > 0)
      code = cudaMemcpy2DAsync (plane.destination, plane.destination_stride, plane.source, plane.source_stride, bytes,
          plane.height, cudaMemcpyDeviceToDevice, stream);
    else
      for (int y = 0; y < plane.height && code == cudaSuccess; y++)
        code = cudaMemcpyAsync ((uint8_t *) plane.destination + y * plane.destination_stride,
            (const uint8_t *) plane.source + y * plane.source_stride, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "cannot copy a plane", error);
}

/* The convolutions, with what is before and behind them. */
static ConvolveStatus
launch_convolutions (ConvolveDevice *device, const Loaded *loaded, const ConvolveMoves *moves, ConvolveError *error)
{
  const ConvolveBatchRun *runs = (const ConvolveBatchRun *) loaded->tables.runs.elements;
  ConvolveStatus status = launch_kernel (device, loaded, batch_kernels[GATHER], moves, error);

  for (size_t i = 0; i < loaded->tables.runs.count && status == CONVOLVE_OK; i++) {
    ConvolvePlane plane = runs[i].plane;

    plane.source = convolve_moved (moves, plane.source);
    status = convolve_run (runs[i].plan, &plane, error);
  }
  /* After an error, too: what is held must not outlive the arena. */
  ConvolveStatus flushed = convolve_flush (device, status == CONVOLVE_OK ? error : NULL);

  return status == CONVOLVE_OK ? flushed : status;
}

static ConvolveStatus
launch_kernels (ConvolveDevice *device, const Loaded *loaded, int first, int end, const ConvolveMoves *moves,
    ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  for (int i = first; i < end && status == CONVOLVE_OK; i++)
    status = launch_kernel (device, loaded, batch_kernels[i], moves, error);
  return status;
}

/*
 * Everything in the order of the batch: effects, copies, blends. What blends at once comes after the copies, and then
 * no copy changes what the effects are made from.
 */
static ConvolveStatus
launch_all (ConvolveDevice *device, const ConvolveBatch *batch, const Loaded *loaded, const ConvolveMoves *moves,
    ConvolveError *error)
{
  const int behind = loaded->tables.is_blended ? BLUR : BLEND; /* the first kernel after the copies */
  ConvolveStatus status = launch_convolutions (device, loaded, moves, error);

  if (status == CONVOLVE_OK)
    status = launch_kernels (device, loaded, TAKE, behind, moves, error);
  if (status == CONVOLVE_OK)
    status = copy_planes (device, batch, moves, error);
  return status == CONVOLVE_OK ? launch_kernels (device, loaded, behind, N_KERNELS, moves, error) : status;
}

/* Makes the tables, with the atlases in the arena. */
static ConvolveStatus
make_tables (ConvolveDevice *device, Loaded *loaded, const ConvolveBatch *batch, ConvolveError *error)
{
  ConvolveTables *tables = &loaded->tables;

  convolve_tables_reset (tables);
  size_t atlases = convolve_tables_plan_atlases (tables, batch), blurs = convolve_tables_plan_blurs (batch);
  size_t bytes = atlases + blurs + convolve_tables_plan_sums (batch);
  ConvolveStatus status = make_room (device, &loaded->arena, &loaded->arena_bytes, bytes, error);

  if (status != CONVOLVE_OK)
    return status;
  convolve_tables_find_pairs (tables, batch);
  convolve_tables_add_convolutions (tables, batch, loaded->arena);
  convolve_tables_add_blurs (tables, batch, loaded->arena + atlases);
  convolve_tables_add_simple (tables, batch, loaded->arena + atlases + blurs);
  convolve_tables_add_blends (tables, batch);
  return tables->failed ? convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the tables of regions")
                        : CONVOLVE_OK;
}

ConvolveStatus
convolve_device_batch_run (ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error)
{
  ConvolveDevice *device = batch->device;
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;

  if (status != CONVOLVE_OK || batch->n_works == 0)
    return status;
  if (!batch->loaded)
    batch->loaded = calloc (1, sizeof (Loaded));
  Loaded *loaded = (Loaded *) batch->loaded;

  if (loaded && !loaded->parameters)
    loaded->parameters = (ConvolveTableParameters<MANY_PARAMETERS> *) calloc (1, sizeof (*loaded->parameters));
  if (!loaded || !loaded->parameters)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a batch");
  cudaError_t code = convolve_frame_enqueue (device, PHASE_KERNEL);

  if (code != cudaSuccess)
    return convolve_device_fail (device, code, "cannot begin with regions", error);
  if (!batch->has_run)
    status = make_tables (device, loaded, batch, error);
  if (status == CONVOLVE_OK && needs_sending (loaded) && (!batch->has_run || sends_planes (loaded)))
    status = send_tables (device, loaded, moves, error);
  return status == CONVOLVE_OK ? launch_all (device, batch, loaded, moves, error) : status;
}
