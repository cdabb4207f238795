# Store forwarding: a load takes what a store before it has not yet written to the cache.
# RUN: cd %S && incc-mca -mcpu=skylake -all-views=false -summary-view -dependency-view forwarding.s | %golden forwarding.golden
# RUN: cd %S && incc-mca -mcpu=znver4 -all-views=false -summary-view -dependency-view forwarding.s | %golden forwarding-zen4.golden
#
# To see: the first loop is a chain through memory, of the cycles that forwarding takes on Skylake and of one on Zen 4,
# whose renamer knows that the load reads what was stored to the same address, and hands it on. In the second loop the
# load needs the bytes of two stores. That cannot be forwarded; what it costs is not in the model, and a hint says so.
	.text
	.globl forwarding
	.type forwarding, @function
forwarding:
	# LLVM-MCA-BEGIN whole
.L1:
	movq %rax, (%rdi)
	movq (%rdi), %rax
	decq %rcx
	jne .L1
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN parts
.L2:
	movl %eax, (%rdi)
	movl %edx, 4(%rdi)
	movq (%rdi), %rax
	decq %rcx
	jne .L2
	# LLVM-MCA-END
	ret
	.size forwarding, .-forwarding
