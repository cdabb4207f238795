# Said once for each region that is analysed, in its place among what else is said.
# CASE: -mcpu=atom -bottleneck-analysis %s
# CASE: -mcpu=atom -bottleneck-analysis -json -all-views %s
# CASE: -mcpu=atom -bottleneck-analysis -instruction-tables %s
# CASE: -mcpu=atom -bottleneck-analysis -skip-unsupported-instructions=any %s
	movl	(%rsi), %eax
# LLVM-MCA-BEGIN sum
	addl	%eax, %ecx
# LLVM-MCA-END
# LLVM-MCA-BEGIN called
	addl	$4, %esi
	call	f
# LLVM-MCA-END
# LLVM-MCA-BEGIN vectors
	vaddps	%ymm0, %ymm1, %ymm2
# LLVM-MCA-END
# LLVM-MCA-BEGIN end
	decl	%edi
	ret
# LLVM-MCA-END
