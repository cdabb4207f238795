# Where a loop lies decides what the µop cache can hold of it.
# RUN: cd %S && incc-mca -mcpu=skylake -all-views=false -summary-view --alignment=all place.s | %golden place.golden
#
# To see: since a microcode update against an erratum of Skylake, blocks of 32 bytes are not in the µop cache if a jump
# crosses their boundary or ends at it (Intel's “Mitigations for Jump Conditional Code Erratum”). Here decq and jne, fused
# to one, are the last five of 29 bytes. From +3 to +7 they cross, and the decoders take two cycles for the two lines of
# 16 bytes, or three where there are three. From +0 to +2 all of the loop is in one block, whose two lines are read in
# turn, since the cache cannot go back to a block that it is reading; from +8 on it is in two blocks, and the ports are the
# limit.
	.text
	.globl place
	.type place, @function
place:
	# LLVM-MCA-BEGIN
.L1:
	addq $1, %rax
	addq $1, %rbx
	addq $1, %rdx
	addq $1, %rsi
	addq $1, %r8
	addq $1, %r9
	decq %rcx
	jne .L1
	# LLVM-MCA-END
	ret
	.size place, .-place
