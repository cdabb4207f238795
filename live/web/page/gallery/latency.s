# A chain by hand: a product and a sum, each waiting for the other. Change the latency of vfmadd231pd below "What if".
        .text
        .globl  chain
chain:
.L1:
        vmovupd (%rdi,%rax), %ymm1
        vfmadd231pd %ymm1, %ymm2, %ymm0
        vmulpd  %ymm0, %ymm3, %ymm0
        addq    $32, %rax
        cmpq    %rsi, %rax
        jne     .L1
        ret
