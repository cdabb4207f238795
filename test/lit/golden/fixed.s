# --fixed-ports: equal shares to all ports that a µop may use, as OSACA's --fixed.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 --fixed-ports fixed.s | %golden fixed.golden
.L2:
	vaddpd	%ymm0, %ymm1, %ymm2
	vpermilpd	$5, %ymm2, %ymm3
	vmulpd	%ymm3, %ymm3, %ymm4
	addq	$1, %rax
	cmpq	%rax, %rdx
	jne	.L2
