# CASE: -mcpu=btver2 -skip-unsupported-instructions=none %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=lack-sched %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=parse-failure %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=any %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=maybe %s
addl	%eax, %ebx
vpermb	%zmm0, %zmm1, %zmm2
not_an_instruction	%eax
subl	%ecx, %edx

