# Straight code that runs through the decoders, since it is never in the µop cache.
# RUN: cd %S && incc-mca -mcpu=skylake -all-views=false -summary-view decoders.s | %golden decoders.golden
#
# To see: a 16-bit immediate behind an operand-size prefix makes an instruction shorter than its opcode says. The
# predecoder finds that out one instruction at a time, three cycles each: 12 beside the 19/16 for the bytes. The same
# additions with 32 bits are limited by the 16 bytes that are predecoded in a cycle: 23 bytes take 1.44. No bound knows
# of bytes; the simulation does, and “with a perfect front end” says how much they cost.
	.text
	.globl decoders
	.type decoders, @function
decoders:
	# LLVM-MCA-BEGIN length-changing prefix
	addw $1234, %ax
	addw $1234, %dx
	addw $1234, %bx
	addw $1234, %si
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN no prefix
	addl $1234, %eax
	addl $1234, %edx
	addl $1234, %ebx
	addl $1234, %esi
	# LLVM-MCA-END
	ret
	.size decoders, .-decoders
