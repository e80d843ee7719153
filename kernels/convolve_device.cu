/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device: its stream, staging buffers and clock, and the launch that all variants share. */
#include <stdio.h>
#include <stdlib.h>

#include "convolve_cuda.cuh"

/* What the stream is busy with, in the order of a frame. An event marks where each begins. */
enum Phase
{
  PHASE_UPLOAD,
  PHASE_KERNEL,
  PHASE_DOWNLOAD,
  PHASE_IDLE,
  N_PHASES
};

struct Stage
{
  void *source, *destination;
  size_t capacity;              /* bytes of each */
  size_t stride;
};

struct ConvolveDevice
{
  int id;
  bool adopted;                 /* its context is the caller's to make current */
  char name[320];
  size_t shared_limit;
  bool overlaps;                /* launches: see convolve_wait () */
  cudaStream_t stream;
  cudaEvent_t begins[N_PHASES], timer[2];
  int phase;
  Stage stages[CONVOLVE_MAX_STAGES];
  bool failed;                  /* a failure poisons the process's context: no CUDA call is made after it */
};

__global__ void
convolve_probe (void)
{
}

static ConvolveStatus
fail (ConvolveDevice *device, cudaError_t code, const char *what, ConvolveError *error)
{
  cudaGetLastError ();          /* a refused allocation is forgotten; only sticky errors stay */
  if (code == cudaErrorMemoryAllocation)
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, code, "%s: %s", what, cudaGetErrorString (code));
  device->failed = true;
  return convolve_fail (error, CONVOLVE_DEVICE_FAILED, code, "%s: %s", what, cudaGetErrorString (code));
}

/* Every entry comes through here: threads come and go, and each has a current device of its own. */
static ConvolveStatus
enter (ConvolveDevice *device, ConvolveError *error)
{
  if (device->failed)
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 0, "the CUDA device failed before");
  cudaError_t code = device->adopted ? cudaSuccess : cudaSetDevice (device->id);
  return code == cudaSuccess ? CONVOLVE_OK : fail (device, code, "cannot select the device", error);
}

/* Marks where a phase begins, and those before it that the frame has not. */
static cudaError_t
go_on_to (ConvolveDevice *device, Phase phase)
{
  cudaError_t code = cudaSuccess;

  if (device->phase == PHASE_IDLE)
    code = cudaEventRecord (device->begins[device->phase = PHASE_UPLOAD], device->stream);
  while (code == cudaSuccess && device->phase < phase)
    code = cudaEventRecord (device->begins[++device->phase], device->stream);
  return code;
}

ConvolveStatus
convolve_device_find (int id, ConvolveError *error)
{
  int count = 0;
  cudaError_t code = cudaGetDeviceCount (&count);

  if (code != cudaSuccess || count == 0) {
    cudaGetLastError ();
    return convolve_fail (error, CONVOLVE_NO_DEVICE, code, "no CUDA device: %s",
        cudaGetErrorString (code ? code : cudaErrorNoDevice));
  }
  if (id >= count)
    return convolve_fail (error, CONVOLVE_NO_DEVICE, cudaErrorInvalidDevice,
        "there is no CUDA device %d, the last is %d", id, count - 1);
  return CONVOLVE_OK;
}

static ConvolveStatus
open_device (ConvolveDevice *device, ConvolveError *error)
{
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  int driver = 0, shared = 0;
  cudaError_t code;

  if (convolve_device_find (device->id, error) != CONVOLVE_OK)
    return CONVOLVE_NO_DEVICE;
  if ((code = device->adopted ? cudaGetDevice (&device->id) : cudaSetDevice (device->id)) != cudaSuccess
      || (code = cudaGetDeviceProperties (&properties, device->id)) != cudaSuccess
      || (code = cudaDeviceGetAttribute (&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device->id)) != cudaSuccess
      || (code = cudaDriverGetVersion (&driver)) != cudaSuccess)
    return fail (device, code, "cannot open the CUDA device", error);
  device->shared_limit = shared;
  device->overlaps = properties.major >= 9;
  snprintf (device->name, sizeof (device->name), "%s (sm_%d%d, driver for CUDA %d.%d)", properties.name,
      properties.major, properties.minor, driver / 1000, driver % 1000 / 10);

  if (cudaFuncGetAttributes (&attributes, convolve_probe) != cudaSuccess) {
    cudaGetLastError ();
    return convolve_fail (error, CONVOLVE_NO_DEVICE, cudaErrorNoKernelImageForDevice,
        "this build has no kernels for %s", device->name);
  }
  if ((code = cudaStreamCreateWithFlags (&device->stream, cudaStreamNonBlocking)) != cudaSuccess)
    return fail (device, code, "cannot create a stream", error);
  for (int i = 0; i < N_PHASES; i++)
    if ((code = cudaEventCreate (&device->begins[i])) != cudaSuccess)
      return fail (device, code, "cannot create an event", error);
  for (int i = 0; i < 2; i++)
    if ((code = cudaEventCreate (&device->timer[i])) != cudaSuccess)
      return fail (device, code, "cannot create an event", error);
  return CONVOLVE_OK;
}

static ConvolveDevice *
new_device (int id, bool adopted, ConvolveError *error)
{
  ConvolveDevice *device = (ConvolveDevice *) calloc (1, sizeof (ConvolveDevice));

  if (!device) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a device");
    return NULL;
  }
  device->id = id < 0 ? 0 : id;
  device->adopted = adopted;
  device->phase = PHASE_IDLE;
  if (open_device (device, error) != CONVOLVE_OK) {
    convolve_device_free (device);
    return NULL;
  }
  return device;
}

ConvolveDevice *
convolve_device_new (int id, ConvolveError *error)
{
  return new_device (id, false, error);
}

ConvolveDevice *
convolve_device_new_current (ConvolveError *error)
{
  return new_device (0, true, error);
}

void
convolve_device_free (ConvolveDevice *device)
{
  if (!device)
    return;
  if (device->stream && enter (device, NULL) == CONVOLVE_OK) {
    cudaStreamSynchronize (device->stream);
    for (int i = 0; i < CONVOLVE_MAX_STAGES; i++) {
      cudaFree (device->stages[i].source);
      cudaFree (device->stages[i].destination);
    }
    for (int i = 0; i < N_PHASES; i++)
      if (device->begins[i])
        cudaEventDestroy (device->begins[i]);
    for (int i = 0; i < 2; i++)
      if (device->timer[i])
        cudaEventDestroy (device->timer[i]);
    cudaStreamDestroy (device->stream);
  }
  free (device);
}

int
convolve_device_id (const ConvolveDevice *device)
{
  return device->id;
}

const char *
convolve_device_name (const ConvolveDevice *device)
{
  return device->name;
}

size_t
convolve_device_shared_limit (const ConvolveDevice *device)
{
  return device->shared_limit;
}

/* Makes the stage large enough. What it held is not kept; the last frame that used it is done. */
static ConvolveStatus
grow (ConvolveDevice *device, Stage *stage, size_t bytes, ConvolveError *error)
{
  cudaError_t code;

  if (bytes <= stage->capacity)
    return CONVOLVE_OK;
  cudaFree (stage->source);
  cudaFree (stage->destination);
  *stage = Stage ();
  if ((code = cudaMalloc (&stage->source, bytes)) != cudaSuccess
      || (code = cudaMalloc (&stage->destination, bytes)) != cudaSuccess) {
    char what[80];

    snprintf (what, sizeof (what), "no room for a plane of %zu bytes, twice", bytes);
    return fail (device, code, what, error);
  }
  stage->capacity = bytes;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_stage (ConvolveDevice *device, int slot, size_t row_bytes, size_t rows, ConvolveStage *stage,
    ConvolveError *error)
{
  ConvolveStatus status = enter (device, error);
  size_t stride, bytes;

  if (status != CONVOLVE_OK)
    return status;
  if (slot < 0 || slot >= CONVOLVE_MAX_STAGES || row_bytes == 0 || rows == 0 || row_bytes > SIZE_MAX - 255)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%zu rows of %zu bytes in stage %d", rows, row_bytes, slot);
  stride = (row_bytes + 255) / 256 * 256;
  if (__builtin_mul_overflow (stride, rows, &bytes))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%zu rows of %zu bytes", rows, row_bytes);

  Stage *held = &device->stages[slot];
  if ((status = grow (device, held, bytes, error)) != CONVOLVE_OK)
    return status;
  held->stride = stride;
  stage->source = held->source;
  stage->destination = held->destination;
  stage->stride = stride;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_upload (ConvolveDevice *device, int slot, const void *host, size_t host_stride, size_t row_bytes,
    size_t rows, ConvolveStage *stage, ConvolveError *error)
{
  ConvolveStatus status = convolve_device_stage (device, slot, row_bytes, rows, stage, error);
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  if (host_stride < row_bytes)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "rows of %zu bytes with a stride of %zu", row_bytes,
        host_stride);
  if ((code = go_on_to (device, PHASE_UPLOAD)) != cudaSuccess
      || (code = cudaMemcpy2DAsync (stage->source, stage->stride, host, host_stride, row_bytes, rows,
              cudaMemcpyHostToDevice, device->stream)) != cudaSuccess)
    return fail (device, code, "upload", error);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_download (ConvolveDevice *device, int slot, void *host, size_t host_stride, size_t row_bytes,
    size_t rows, ConvolveError *error)
{
  ConvolveStatus status = enter (device, error);
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  if (slot < 0 || slot >= CONVOLVE_MAX_STAGES || host_stride < row_bytes || row_bytes > device->stages[slot].stride
      || rows > device->stages[slot].capacity / (device->stages[slot].stride + !device->stages[slot].stride))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a download of %zu rows of %zu bytes from stage %d", rows,
        row_bytes, slot);
  const Stage *held = &device->stages[slot];
  if ((code = go_on_to (device, PHASE_DOWNLOAD)) != cudaSuccess
      || (code = cudaMemcpy2DAsync (host, host_stride, held->destination, held->stride, row_bytes, rows,
              cudaMemcpyDeviceToHost, device->stream)) != cudaSuccess)
    return fail (device, code, "download", error);
  return CONVOLVE_OK;
}

static uint64_t
elapsed (cudaEvent_t from, cudaEvent_t to)
{
  float milliseconds = 0;

  cudaEventElapsedTime (&milliseconds, from, to);
  return (uint64_t) (milliseconds * 1e6);
}

ConvolveStatus
convolve_device_finish (ConvolveDevice *device, ConvolveTimes *times, ConvolveError *error)
{
  ConvolveStatus status = enter (device, error);
  bool frame = device->phase != PHASE_IDLE;
  cudaError_t code;

  if (times)
    *times = ConvolveTimes ();
  if (status != CONVOLVE_OK)
    return status;
  if ((code = go_on_to (device, PHASE_IDLE)) != cudaSuccess
      || (code = cudaStreamSynchronize (device->stream)) != cudaSuccess)
    return fail (device, code, "the device", error);
  if (frame && times) {
    times->upload = elapsed (device->begins[PHASE_UPLOAD], device->begins[PHASE_KERNEL]);
    times->kernel = elapsed (device->begins[PHASE_KERNEL], device->begins[PHASE_DOWNLOAD]);
    times->download = elapsed (device->begins[PHASE_DOWNLOAD], device->begins[PHASE_IDLE]);
  }
  return CONVOLVE_OK;
}

void *
convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error)
{
  void *memory = NULL;
  cudaError_t code;

  if (enter (device, error) != CONVOLVE_OK)
    return NULL;
  if ((code = cudaMalloc (&memory, bytes)) != cudaSuccess) {
    fail (device, code, "device memory", error);
    return NULL;
  }
  return memory;
}

void
convolve_device_release (ConvolveDevice *device, void *memory)
{
  if (enter (device, NULL) == CONVOLVE_OK)
    cudaFree (memory);
}

ConvolveStatus
convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes, ConvolveCopy direction,
    ConvolveError *error)
{
  static const cudaMemcpyKind kinds[] = { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
  ConvolveStatus status = enter (device, error);
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  code = cudaMemcpyAsync (to, from, bytes, kinds[direction], device->stream);
  return code == cudaSuccess ? CONVOLVE_OK : fail (device, code, "copy", error);
}

ConvolveStatus
convolve_device_put (ConvolveDevice *device, const float *values, size_t count, float **copy, ConvolveError *error)
{
  size_t bytes = count * sizeof (float);

  *copy = (float *) convolve_device_alloc (device, bytes, error);
  if (!*copy)
    return error ? error->status : CONVOLVE_DEVICE_FAILED;
  ConvolveStatus status = convolve_device_copy (device, *copy, values, bytes, CONVOLVE_COPY_TO_DEVICE, error);
  return status == CONVOLVE_OK ? convolve_device_finish (device, NULL, error) : status;
}

void
convolve_device_timer_start (ConvolveDevice *device)
{
  if (enter (device, NULL) == CONVOLVE_OK)
    cudaEventRecord (device->timer[0], device->stream);
}

double
convolve_device_timer_stop (ConvolveDevice *device)
{
  float milliseconds = -1e-6f;
  cudaError_t code;

  if (enter (device, NULL) != CONVOLVE_OK)
    return -1;
  if ((code = cudaEventRecord (device->timer[1], device->stream)) != cudaSuccess
      || (code = cudaEventSynchronize (device->timer[1])) != cudaSuccess
      || (code = cudaEventElapsedTime (&milliseconds, device->timer[0],
              device->timer[1])) != cudaSuccess) {
    fail (device, code, "timer", NULL);
    return -1;
  }
  return milliseconds * 1e6;
}

ConvolveStatus
convolve_launch (const ConvolvePlan *plan, const ConvolvePlane *plane, const void *kernel,
    const ConvolveGrid &grid, const void *mask, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveRect *region = &plane->region;
  ConvolveDevice *device = plan->device;
  ConvolveStatus status = enter (device, error);
  const int most_rows = 65535 * grid.tile_height;       /* gridDim.y's limit */
  ConvolveImage image;
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  if ((code = go_on_to (device, PHASE_KERNEL)) != cudaSuccess)
    return fail (device, code, plan->variant->name, error);
  /* The limit is a property of the kernel in this context, so it is set where it is needed. */
  if (grid.shared > 48 * 1024
      && (code = cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, grid.shared))
      != cudaSuccess)
    return fail (device, code, plan->variant->name, error);

  image.source = (const uint8_t *) plane->source;
  image.destination = (uint8_t *) plane->destination;
  image.source_stride = plane->source_stride;
  image.destination_stride = plane->destination_stride;
  image.width = plane->width;
  image.height = plane->height;
  image.x0 = region->x;
  image.x1 = region->x + region->width;
  image.y1 = region->y + region->height;
  image.pixel_stride = pixel->stride;
  image.shift = pixel->shift;
  image.maximum = (1 << pixel->depth) - 1;
  image.select = pixel->select;
  image.swapped = pixel->swapped;
  for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++)
    image.zero[i] = pixel->zero[i];
  image.mask_width = plan->taps.width;
  image.mask_height = plan->taps.height;
  image.tail = plan->tail;

  if (grid.tile_width == 0) {
    void *arguments[] = { &image, (void *) mask };

    image.y0 = region->y;
    cudaLaunchAttribute overlap;
    cudaLaunchConfig_t config = { };

    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid.blocks;
    config.blockDim = grid.block;
    config.dynamicSmemBytes = grid.shared;
    config.stream = device->stream;
    config.attrs = &overlap;
    config.numAttrs = device->overlaps;
    if ((code = cudaLaunchKernelExC (&config, kernel, arguments)) != cudaSuccess)
      return fail (device, code, plan->variant->name, error);
    return CONVOLVE_OK;
  }
  for (image.y0 = region->y; image.y0 < image.y1; image.y0 += most_rows) {
    int rows = image.y1 - image.y0 < most_rows ? image.y1 - image.y0 : most_rows;
    dim3 blocks ((region->width + grid.tile_width - 1) / grid.tile_width,
        (rows + grid.tile_height - 1) / grid.tile_height, pixel->samples);
    void *arguments[] = { &image, (void *) mask };

    if ((code = cudaLaunchKernel (kernel, blocks, grid.block, arguments, grid.shared, device->stream)) != cudaSuccess)
      return fail (device, code, plan->variant->name, error);
  }
  return CONVOLVE_OK;
}
