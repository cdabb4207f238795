addq %rax, %rbx
vaddpd %ymm0, %ymm1, %ymm2
.L1: addq %rax, %rbx
vaddpd %zmm0, %zmm1, %zmm2
jne .L1
