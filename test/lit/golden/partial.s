# Parts of registers: what keeps the other bits of a register depends on them.
# RUN: cd %S && incc-mca -mcpu=skylake -all-views=false -summary-view -instruction-info -dependency-view partial.s | %golden partial.golden
#
# To see: the first loop loads into the lowest byte. The other bytes stay, so that the load needs the old value, an ALU
# merges both (all µops but the jump compete for four ports, which then are as narrow as the front end), and a chain runs
# from each load to the next; movzbl, in the second loop, has none of this. Bits 8 to 15 are a register of their own: in
# the third loop the addition needs both parts, and the µop that puts them together is issued alone in a cycle, as what is
# empty of the issue slots shows; no more than one iteration in two cycles.
	.text
	.globl partial
	.type partial, @function
partial:
	# LLVM-MCA-BEGIN low byte
.L1:
	movb (%rdi), %al
	addq %rax, %rbx
	incq %rdi
	cmpq %rsi, %rdi
	jne .L1
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN whole register
.L2:
	movzbl (%rdi), %eax
	addq %rax, %rbx
	incq %rdi
	cmpq %rsi, %rdi
	jne .L2
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN high byte
.L3:
	movb (%rdi), %ah
	addq %rax, %rbx
	incq %rdi
	cmpq %rsi, %rdi
	jne .L3
	# LLVM-MCA-END
	ret
	.size partial, .-partial
