# CASE: -mcpu=skylake -decoder-throughput=2 %s
# CASE: -mcpu=skylake -micro-op-queue-size=16 %s
# CASE: -mcpu=btver2 -micro-op-queue-size=8 -decoder-throughput=1 -timeline %s
addl	%eax, %ebx
addl	%ecx, %edx
addl	%esi, %edi

