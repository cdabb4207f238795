# What 512 bits do to the ports of Skylake-SP: port 1's vector unit lends itself to port 0's, and port 5 has one of its own.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -all-views=false -summary-view -resource-pressure ports-512.s | %golden ports-512.golden
#
# To see: six multiplications and three shuffles of 256 bits are nine µops for ports 0, 1 and 5, 3 cycles. With 512 bits the
# multiplications have ports 0 and 5, and as the shuffles know no port but 5, 4.5 cycles for two ports: twice the work in
# one and a half times the time.
	.text
	.globl ports
	.type ports, @function
ports:
	# LLVM-MCA-BEGIN 256 bits
.L1:
	vmulpd %ymm0, %ymm1, %ymm2
	vmulpd %ymm0, %ymm1, %ymm3
	vpermilpd $1, %ymm1, %ymm10
	vmulpd %ymm0, %ymm1, %ymm4
	vmulpd %ymm0, %ymm1, %ymm5
	vpermilpd $1, %ymm1, %ymm11
	vmulpd %ymm0, %ymm1, %ymm6
	vmulpd %ymm0, %ymm1, %ymm7
	vpermilpd $1, %ymm1, %ymm12
	decq %rcx
	jne .L1
	# LLVM-MCA-END
	# LLVM-MCA-BEGIN 512 bits
.L2:
	vmulpd %zmm0, %zmm1, %zmm2
	vmulpd %zmm0, %zmm1, %zmm3
	vpermilpd $1, %zmm1, %zmm10
	vmulpd %zmm0, %zmm1, %zmm4
	vmulpd %zmm0, %zmm1, %zmm5
	vpermilpd $1, %zmm1, %zmm11
	vmulpd %zmm0, %zmm1, %zmm6
	vmulpd %zmm0, %zmm1, %zmm7
	vpermilpd $1, %zmm1, %zmm12
	decq %rcx
	jne .L2
	# LLVM-MCA-END
	ret
	.size ports, .-ports
