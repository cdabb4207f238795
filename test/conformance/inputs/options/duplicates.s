# CASE: -mcpu=skylake -mcpu=znver2 %s
# CASE: -mcpu=skylake -timeline -timeline %s
# CASE: -mcpu=skylake -json -json=0 %s
# CASE: -mcpu=skylake -mattr=+avx -mattr=-avx,+sse2 %s
# CASE: -mcpu=skylake -output-asm-variant=1 -output-asm-variant=0 %s
# CASE: -mcpu=skylake -o one.txt -o two.txt %s
# CASE: -mcpu=skylake -mtriple=x86_64-linux -mtriple=x86_64-apple-darwin %s
# CASE: -mcpu=skylake %s %s
# CASE: -mcpu=skylake -print-imm-hex -print-imm-hex=false %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
