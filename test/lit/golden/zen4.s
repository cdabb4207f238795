# Zen 4: stores to the cache in order, flags by the branch unit, registers of 512 bits on pipes of 256.
# RUN: cd %S && incc-mca -mcpu=znver4 -all-views=false -summary-view -instruction-info zen4.s | %golden zen4.golden
#
# To see: two stores that follow each other within 32 aligned bytes go to the cache together, one cycle; 32 bytes apart they
# take two, and the store buffer is full, which no further port would change. Six additions and the fused dec and
# jump are seven operations for four ALUs, 7/4 cycles, since the pair needs one of them too. Each 512-bit instruction holds
# a pipe for two cycles: five multiply-adds on two pipes take five.
	.text
	.globl zen4
	.type zen4, @function
zen4:
	# LLVM-MCA-BEGIN stores together
.L1:
	movq %rax, (%rdi)
	movq %rbx, 8(%rdi)
	decq %rcx
	jne .L1
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN stores apart
.L2:
	movq %rax, (%rdi)
	movq %rbx, 32(%rdi)
	decq %rcx
	jne .L2
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN additions
.L3:
	addq $1, %rax
	addq $1, %rbx
	addq $1, %rdx
	addq $1, %rsi
	addq $1, %r8
	addq $1, %r9
	decq %rcx
	jne .L3
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN 512 bits
.L4:
	vfmadd231pd %zmm1, %zmm2, %zmm3
	vfmadd231pd %zmm1, %zmm2, %zmm4
	vfmadd231pd %zmm1, %zmm2, %zmm5
	vfmadd231pd %zmm1, %zmm2, %zmm6
	vfmadd231pd %zmm1, %zmm2, %zmm7
	decq %rcx
	jne .L4
	# LLVM-MCA-END
	ret
	.size zen4, .-zen4
