# CASE: -mcpu=sandybridge -timeline %s
# CASE: -mcpu=znver4 -timeline -timeline-max-iterations=1 %s
vdivps	%xmm0, %xmm1, %xmm2
vxorps	%xmm2, %xmm2, %xmm2
vaddps	%xmm2, %xmm3, %xmm4
sbbl	%eax, %eax
addl	%eax, %ebx
cmpl	%ecx, %ecx
setb	%cl
