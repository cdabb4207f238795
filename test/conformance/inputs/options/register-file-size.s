# CASE: -mcpu=btver2 -register-file-size=5 -register-file-stats %s
# CASE: -mcpu=skylake -register-file-size=10 -dispatch-stats %s
# CASE: -mcpu=znver2 -register-file-size=0 -register-file-stats %s
vaddps	%xmm0, %xmm1, %xmm2
vmulps	%xmm3, %xmm4, %xmm5
addl	%eax, %ebx
subl	%ecx, %edx

