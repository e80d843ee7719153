/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of the driver that GStreamer looks up by their names, in its versions 1.22 to 1.28. libcuda.c and
 * trampolines.S include this list. A function that the real driver lacks answers "not found".
 */
/* The formatter breaks lines inside the parentheses. */
/* clang-format off */
#define DRIVER_EXPORTED \
  X (cuCtxCreate) X (cuCtxCreate_v2) X (cuCtxDestroy) X (cuCtxDestroy_v2) X (cuCtxDisablePeerAccess) \
  X (cuCtxEnablePeerAccess) X (cuCtxGetCurrent) X (cuCtxGetDevice) X (cuCtxPopCurrent) X (cuCtxPopCurrent_v2) \
  X (cuCtxPushCurrent) X (cuCtxPushCurrent_v2) X (cuCtxSetCurrent) X (cuCtxSynchronize) X (cuDeviceCanAccessPeer) \
  X (cuDeviceGet) X (cuDeviceGetAttribute) X (cuDeviceGetCount) X (cuDeviceGetName) X (cuDeviceGetUuid) \
  X (cuDeviceGetUuid_v2) X (cuDevicePrimaryCtxRelease) X (cuDevicePrimaryCtxRelease_v2) X (cuDevicePrimaryCtxRetain) \
  X (cuEventCreate) X (cuEventDestroy) X (cuEventDestroy_v2) X (cuEventQuery) X (cuEventRecord) \
  X (cuEventSynchronize) X (cuGetErrorName) X (cuGetErrorString) X (cuGLGetDevices) X (cuGLGetDevices_v2) \
  X (cuGraphicsGLRegisterBuffer) X (cuGraphicsGLRegisterImage) X (cuGraphicsMapResources) \
  X (cuGraphicsResourceGetMappedPointer) X (cuGraphicsResourceGetMappedPointer_v2) \
  X (cuGraphicsResourceSetMapFlags) X (cuGraphicsResourceSetMapFlags_v2) X (cuGraphicsSubResourceGetMappedArray) \
  X (cuGraphicsUnmapResources) X (cuGraphicsUnregisterResource) X (cuIpcCloseMemHandle) X (cuIpcGetEventHandle) \
  X (cuIpcGetMemHandle) X (cuIpcOpenEventHandle) X (cuIpcOpenMemHandle) X (cuIpcOpenMemHandle_v2) X (cuLaunchKernel) \
  X (cuMemAddressFree) X (cuMemAddressReserve) X (cuMemAlloc) X (cuMemAlloc_v2) X (cuMemAllocAsync) \
  X (cuMemAllocFromPoolAsync) X (cuMemAllocHost) X (cuMemAllocHost_v2) X (cuMemAllocPitch) X (cuMemAllocPitch_v2) \
  X (cuMemCreate) X (cuMemExportToShareableHandle) X (cuMemFree) X (cuMemFree_v2) X (cuMemFreeAsync) X (cuMemFreeHost) \
  X (cuMemGetAllocationGranularity) X (cuMemGetInfo) X (cuMemGetInfo_v2) X (cuMemHostRegister) \
  X (cuMemHostRegister_v2) X (cuMemHostUnregister) X (cuMemImportFromShareableHandle) X (cuMemMap) \
  X (cuMemPoolCreate) X (cuMemPoolDestroy) X (cuMemPoolSetAttribute) X (cuMemRelease) \
  X (cuMemRetainAllocationHandle) X (cuMemSetAccess) X (cuMemUnmap) X (cuMemcpy2D) X (cuMemcpy2D_v2) \
  X (cuMemcpy2DAsync) X (cuMemcpy2DAsync_v2) X (cuMemcpyDtoH) X (cuMemcpyDtoH_v2) X (cuMemcpyHtoD) X (cuMemcpyHtoD_v2) \
  X (cuMemsetD2D8Async) X (cuMemsetD2D16Async) X (cuMemsetD2D32Async) X (cuModuleGetFunction) X (cuModuleLoadData) \
  X (cuModuleUnload) X (cuPointerGetAttribute) X (cuStreamCreate) X (cuStreamCreateWithPriority) X (cuStreamDestroy) \
  X (cuStreamDestroy_v2) X (cuStreamQuery) X (cuStreamSynchronize) X (cuStreamWaitEvent) X (cuTexObjectCreate) \
  X (cuTexObjectDestroy)
/* clang-format on */
