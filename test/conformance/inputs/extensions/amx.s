# CASE: -mcpu=sapphirerapids %s
# CASE: -mcpu=sapphirerapids -show-encoding %s
ldtilecfg	(%rdi)
tilezero	%tmm0
tileloadd	(%rsi,%rax), %tmm1
tileloaddt1	64(%rdx,%rcx,2), %tmm2
tdpbf16ps	%tmm1, %tmm2, %tmm0
tdpbssd	%tmm1, %tmm2, %tmm3
tdpbuud	%tmm4, %tmm5, %tmm6
tilestored	%tmm0, (%rdi,%rbx)
sttilecfg	(%rsp)
tilerelease

