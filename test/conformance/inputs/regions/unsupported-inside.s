# CASE: -mcpu=btver2 %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=lack-sched %s
# LLVM-MCA-BEGIN plain
addl	%eax, %ebx
# LLVM-MCA-END plain
# LLVM-MCA-BEGIN wide
vpermb	%zmm0, %zmm1, %zmm2
addl	%eax, %ebx
# LLVM-MCA-END wide

