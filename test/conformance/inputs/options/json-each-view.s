# CASE: -mcpu=skylake -json -timeline %s
# CASE: -mcpu=skylake -json -bottleneck-analysis %s
# CASE: -mcpu=skylake -json -all-stats %s
# CASE: -mcpu=skylake -json -all-views %s
# CASE: -mcpu=skylake -json -instruction-tables %s
# CASE: -mcpu=skylake -json -show-encoding -show-barriers %s
# CASE: -mcpu=skylake -json -resource-pressure=0 %s
# CASE: -mcpu=skylake -json -instruction-info=0 %s
# CASE: -mcpu=skylake -json -summary-view=0 %s
# CASE: -mcpu=skylake -json -all-views=0 %s
# CASE: -mcpu=skylake -json -iterations=1 -dispatch=2 -lqueue=3 %s
# CASE: -mcpu=skylake -json -print-imm-hex -output-asm-variant=1 %s
# CASE: -mcpu=skylake -json -register-file-stats -scheduler-stats %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
