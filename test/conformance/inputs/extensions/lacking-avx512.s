# CASE: -mcpu=haswell %s
# CASE: -mcpu=skylake -skip-unsupported-instructions=lack-sched %s
# CASE: -mcpu=btver2 -timeline %s
# CASE: -mcpu=broadwell -json %s
	vaddpd	(%rdi,%rax,8), %zmm1, %zmm2
	vfmadd231ps	%zmm3, %zmm2, %zmm1 {%k1} {z}
	vpermt2d	%zmm4, %zmm5, %zmm6
	vmovups	%zmm6, (%rsi)
	kmovw	%eax, %k1
	vpternlogd	$128, (%rdi){1to16}, %zmm1, %zmm2
	addq	$64, %rax
