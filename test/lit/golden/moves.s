# Move elimination: the renamer lets two registers share a place, and a chain through moves costs only its additions.
# RUN: cd %S && incc-mca -mcpu=skylake -all-views=false -summary-view -instruction-info moves.s | %golden moves.golden
# RUN: cd %S && incc-mca -mcpu=icelake-client -all-views=false -summary-view -instruction-info moves.s | %golden moves-icelake.golden
#
# To see: on Skylake the moves are marked E and have no latency. The chain would take the one cycle of its addition, but
# the renamer keeps track of a few shared registers only: some moves are executed all the same, which the last lines
# count, and “with every move eliminated that can be” is a cycle. On Ice Lake a microcode update has switched the
# elimination off for general-purpose registers: three cycles, two of them for moves. Moves of vector registers are
# eliminated on both, and the second loop takes the four cycles of its addition.
	.text
	.globl moves
	.type moves, @function
moves:
	# LLVM-MCA-BEGIN general-purpose
.L1:
	movq %rax, %rbx
	addq $1, %rbx
	movq %rbx, %rax
	decq %rcx
	jne .L1
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN vector
.L2:
	movaps %xmm0, %xmm1
	addps %xmm2, %xmm1
	movaps %xmm1, %xmm0
	decq %rcx
	jne .L2
	# LLVM-MCA-END
	ret
	.size moves, .-moves
