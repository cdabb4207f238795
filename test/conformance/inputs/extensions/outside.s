# CASE: -mcpu=znver3 -timeline -timeline-max-cycles=0 %s
# CASE: -mcpu=btver2 -instruction-tables %s
# CASE: -mcpu=slm -skip-unsupported-instructions=any %s
# CASE: -mcpu=haswell -all-views -timeline=0 %s
# CASE: -mcpu=sapphirerapids -instruction-tables %s
# CASE: -mcpu=atom -skip-unsupported-instructions=lack-sched -resource-pressure=0 %s
# Extensions that a core lacks: LLVM's scheduling models have figures of most of them.
invlpga	%rax, %ecx
vmmcall
vmcall
pfadd	%mm0, %mm1
pi2fd	(%rax), %mm3
blcfill	%eax, %ecx
vpermil2ps	$0, %xmm3, %xmm2, %xmm1, %xmm0
vphaddbw	%xmm0, %xmm1
vfmaddss	(%rax), %xmm1, %xmm2, %xmm3
vaddps	%xmm17, %xmm2, %xmm3
vaddps	(%rax){1to4}, %xmm2, %xmm3 {%k1} {z}
vmovdqu32	%ymm20, (%rdi)
kmovw	%eax, %k1
vpcmpeqd	%ymm1, %ymm2, %k3
vaddph	%xmm1, %xmm2, %xmm3
cmpoxadd	%eax, %ecx, (%rdx)
crc32l	%eax, %ecx
