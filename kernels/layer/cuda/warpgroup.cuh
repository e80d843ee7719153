/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions of compute capability 9.0 for the kernel of wgmma: products of matrices in shared memory, and copies
 * that the hardware makes while the threads go on.
 *
 * Programs read and write shared memory in two ways: by the threads' own loads and stores, and by these instructions,
 * which take a way of their own. convolve_fence_stores() orders the two.
 */
#ifndef CONVOLVE_LAYER_CUDA_WARPGROUP_CUH
#define CONVOLVE_LAYER_CUDA_WARPGROUP_CUH

#include <stdint.h>

#define CONVOLVE_WGMMA_SUMS 64 /* of a thread, for one instruction: 64 x 128 sums over 128 threads */

__device__ __forceinline__ uint32_t
convolve_shared_address (const void *at)
{
  return (uint32_t) __cvta_generic_to_shared (at);
}

/*
 * Tells the instruction where a matrix is. A matrix consists of core matrices, as NVIDIA calls them: 8 rows of 16
 * bytes, without gaps. The arguments are the address of the first core matrix, the distance from one core matrix to the
 * next along the reduction, and that along the other side. All are multiples of 16 bytes.
 */
__device__ __forceinline__ uint64_t
convolve_wgmma_matrix (uint32_t address, uint32_t along_reduction, uint32_t across)
{
  return (uint64_t) (address >> 4) | (uint64_t) (along_reduction >> 4) << 16 | (uint64_t) (across >> 4) << 32;
}

/*
 * convolve_wgmma() may use the registers of the sums after this, which is all that the instruction orders: matrices
 * that threads stored need convolve_fence_stores(). All 128 threads call this together.
 */
__device__ __forceinline__ void
convolve_wgmma_begin (void)
{
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* Ends a batch of products. */
__device__ __forceinline__ void
convolve_wgmma_commit (void)
{
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until all batches but the last `pending` are done. */
template <int pending>
__device__ __forceinline__ void
convolve_wgmma_wait (void)
{
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/*
 * Starts sums += A * B, or sums = A * B where `add` is false, with A of 64 x 16 and B of 16 x 128 numbers in float16. Warp w and lane 4g + t of it, with
 * t = 0 .. 3, hold in sums[4j + 2h + i] the sum for row 16w + 8h + g of A and column 8j + 2t + i of B.
 */
__device__ __forceinline__ void
convolve_wgmma (float (&sums)[CONVOLVE_WGMMA_SUMS], uint64_t a, uint64_t b, bool add)
{
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
               "}, %64, %65, add, 1, 1, 0, 0;\n}\n"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
               "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),
               "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]),
               "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]),
               "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]),
               "+f"(sums[30]), "+f"(sums[31]), "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]),
               "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]),
               "+f"(sums[42]), "+f"(sums[43]), "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]),
               "+f"(sums[48]), "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]),
               "+f"(sums[54]), "+f"(sums[55]), "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]),
               "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]), "+f"(sums[63])
               : "l"(a), "l"(b), "r"((int) add));
}

/*
 * After this, products and bulk copies see what the calling thread has stored in shared memory. Every thread that
 * stored a part of a matrix calls this before it tells the others that its part is there.
 */
__device__ __forceinline__ void
convolve_fence_stores (void)
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Waits for the other threads of the same number, which must be 1 .. 15; `threads` of them call it. */
template <int number, int threads>
__device__ __forceinline__ void
convolve_group_wait (void)
{
  asm volatile("bar.sync %0, %1;" ::"n"(number), "n"(threads) : "memory");
}

/* The same. Returns whether the condition holds for one of the threads. */
template <int number, int threads>
__device__ __forceinline__ bool
convolve_group_any (bool condition)
{
  int any;

  asm volatile("{\n.reg .pred own, all;\nsetp.ne.b32 own, %1, 0;\n"
               "bar.red.or.pred all, %2, %3, own;\nselp.b32 %0, 1, 0, all;\n}\n"
               : "=r"(any)
               : "r"((int) condition), "n"(number), "n"(threads)
               : "memory");
  return any;
}

/* The registers of a thread from here on, for all 128 threads of a warpgroup: fewer, and more. A multiple of 8. */
template <int registers>
__device__ __forceinline__ void
convolve_give_registers (void)
{
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers>
__device__ __forceinline__ void
convolve_take_registers (void)
{
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/*
 * Makes a counter of phases in shared memory. A phase ends when there were `arrivals` arrivals and all bytes are there
 * of the copies that were announced in this phase. Then the next phase begins. The first phase is phase 0. One thread
 * calls this.
 */
__device__ __forceinline__ void
convolve_phases_init (uint64_t *phases, int arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(convolve_shared_address (phases)), "r"(arrivals)
               : "memory");
}

__device__ __forceinline__ void
convolve_arrive (uint64_t *phases)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(convolve_shared_address (phases)) : "memory");
}

/* Starts a copy of `bytes` from global to shared memory: one arrival, and the phase waits for the bytes. */
__device__ __forceinline__ void
convolve_copy_bulk (void *to, const void *from, uint32_t bytes, uint64_t *phases)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(convolve_shared_address (phases)),
               "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   convolve_shared_address (to)),
               "l"(from), "r"(bytes), "r"(convolve_shared_address (phases))
               : "memory");
}

/*
 * Waits for the end of a phase. Only the last bit of its number is looked at, so the caller may be at most one phase
 * behind: `phase` is the one that is going on, or the one before. A wait for phase -1, before the first phase has
 * ended, returns at once.
 */
__device__ __forceinline__ void
convolve_phase_wait (uint64_t *phases, uint32_t phase)
{
  asm volatile("{\n.reg .pred there;\n"
               "again%=:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n"
               "@!there bra again%=;\n}\n" ::"r"(convolve_shared_address (phases)),
               "r"(phase & 1)
               : "memory");
}

#endif
