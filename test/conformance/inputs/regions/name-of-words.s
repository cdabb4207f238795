# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -json %s
# LLVM-MCA-BEGIN  the "first" \ loop, 100% <b>&amp;
	addl	%eax, %ebx
# LLVM-MCA-END  the "first" \ loop, 100% <b>&amp;
