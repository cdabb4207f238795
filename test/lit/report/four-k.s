# Loads that agree with stores in the lower 12 bits of the address: a range if the distance is not known, part of the
# prediction if it is.
#
# RUN: incc-mca -mcpu=haswell -auto %s | FileCheck %s --check-prefix=UNKNOWN
# RUN: incc-mca -mcpu=haswell -auto --let rsi=0x10000 --let rdi=0x20010 %s | FileCheck %s --check-prefix=CLOSE
# RUN: incc-mca -mcpu=haswell -auto --let rsi=0x10000 --let rdi=0x20400 %s | FileCheck %s --check-prefix=APART
# RUN: incc-mca -mcpu=znver5 -auto %s | FileCheck %s --check-prefix=APART
#
# UNKNOWN:      1.00 cycles per iteration
# UNKNOWN:      1 to 2 cycles depending on the distance of arrays modulo 4 KiB: 2 if the load in line
# UNKNOWN-NEXT: {{.*}}with a store in flight (line
# CLOSE:        2.00 cycles per iteration
# CLOSE:        1 cycle if whole addresses
# CLOSE:        begin some cache lines closer or further apart: 2 times as fast
# APART:        1.00 cycles per iteration
# APART-NOT:    modulo 4 KiB

copy:
1:	movq	(%rsi,%rax), %rcx
	movq	%rcx, (%rdi,%rax)
	addq	$8, %rax
	cmpq	%rdx, %rax
	jne	1b
	ret
