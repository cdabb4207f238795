# CASE: -mcpu=btver2 %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=lack-sched %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=lack-sched -timeline -json %s
addl	%eax, %ebx
vpermb	%zmm0, %zmm1, %zmm2
tilezero	%tmm0
subl	%eax, %ebx

