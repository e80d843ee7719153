/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trampolines of libcuda.c, 16 bytes each. A trampoline keeps all registers that hold arguments, so that it fits every
 * signature: arguments on the stack stay where they are, because the real function is reached by a jump. Only a
 * function that takes or gives back something is called, so that its answer is seen; its arguments fit into registers.
 */
#include "exported.h"

        .text
        .globl  driver_trampolines
        .hidden driver_trampolines
        .balign 16
driver_trampolines:
        .set    index, 0
/* The first trampolines have names. */
#define X(name) .balign 16; .globl name; .type name, @function; name: pushq $index; jmp enter; .set index, index + 1;
        DRIVER_EXPORTED
#undef X
        .rept   2048 - index
        .balign 16
        pushq   $index
        jmp     enter
        .set    index, index + 1
        .endr

/* Here the stack has the number of the trampoline, and above it the return address of the caller. */
        .balign 16
enter:
        popq    %r11
        subq    $200, %rsp
        movq    %rdi, 0(%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movq    %rax, 48(%rsp)
        movups  %xmm0, 64(%rsp)
        movups  %xmm1, 80(%rsp)
        movups  %xmm2, 96(%rsp)
        movups  %xmm3, 112(%rsp)
        movups  %xmm4, 128(%rsp)
        movups  %xmm5, 144(%rsp)
        movups  %xmm6, 160(%rsp)
        movups  %xmm7, 176(%rsp)
        movq    %rdi, %rsi
        movl    %r11d, %edi
        call    driver_enter
        movq    %rax, %r11
        movq    %rdx, %r10
        movq    0(%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        movq    24(%rsp), %rcx
        movq    32(%rsp), %r8
        movq    40(%rsp), %r9
        movq    48(%rsp), %rax
        movups  64(%rsp), %xmm0
        movups  80(%rsp), %xmm1
        movups  96(%rsp), %xmm2
        movups  112(%rsp), %xmm3
        movups  128(%rsp), %xmm4
        movups  144(%rsp), %xmm5
        movups  160(%rsp), %xmm6
        movups  176(%rsp), %xmm7
        addq    $200, %rsp
        testq   %r11, %r11
        jz      1f
        testq   %r10, %r10
        jnz     2f
        jmp     *%r11
/* No real function, or a call that is to fail: r10 is the answer. */
1:      movq    %r10, %rax
        ret
/* A call whose answer driver_leave () sees and may replace; r10 says which call it was. */
2:      pushq   %r10
        call    *%r11
        popq    %rdi
        movl    %eax, %esi
        subq    $8, %rsp
        call    driver_leave
        addq    $8, %rsp
        ret

        .section .note.GNU-stack, "", @progbits
