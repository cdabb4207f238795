# Cycles an element, roles and rates, wherever they are shown.
# RUN: incc-mca -mcpu=skylake --auto -summary-view=false -instruction-info=false -resource-pressure=false \
# RUN:   -dependency-view=false -ghz=3.5 %s | FileCheck %s
# RUN: incc-mca -mcpu=skylake --auto %s | FileCheck --check-prefix=CLOCKLESS %s
# RUN: incc-mca -mcpu=skylake --auto --json %s | FileCheck --check-prefix=JSON %s
# RUN: incc-scan -mcpu=skylake --ghz=3.5 %s | FileCheck --check-prefix=SCAN %s
# RUN: incc-scan -mcpu=skylake %s | FileCheck --check-prefix=PLAIN %s
# RUN: incc-scan -mcpu=skylake --where="role == 'main' and elements == 8" %s | FileCheck --check-prefix=WHERE %s
# RUN: not incc-scan --ghz=fast %s 2>&1 | FileCheck --check-prefix=BAD %s
# RUN: not incc-mca -ghz=0 %s 2>&1 | FileCheck --check-prefix=ZERO %s

# CHECK:      Loop at .L3
# CHECK:      {{^}}4.00 cycles per iteration, 0.50 per element (8 elements per iteration, inferred)
# CHECK-NEXT: {{^}}14 GFLOP/s, 112 GB/s loaded and stored (L1), 7 G elements/s at 3.5 GHz
# CHECK-NOT:  {{[Rr]}}emainder
# CHECK:      Loop at .L4
# CHECK:      {{^}}4.00 cycles per iteration, 4.00 per element (1 element per iteration, inferred)
# CHECK:      {{^}}Remainder: runs the iterations that the loop in lines {{[0-9]+-[0-9]+}} leaves over, and replaces it
# A sum that is one chain, which is the main loop's affair.
# CHECK-NOT:  chain in which

# CLOCKLESS-NOT: GFLOP/s

# JSON:     "elements": {
# JSON:     "per_iteration": 8.0
# JSON:     "ghz": null

# SCAN:      Cycles /elem. GFLOP/s GB/s Bound by
# SCAN-NEXT: 1 {{.*}} f 4.00 0.500 14.0 112.0
# SCAN-NEXT: 2 {{.*}} f remainder (1) 4.00 4.00 1.8 14.0

# PLAIN:     Cycles /elem. Bound by

# WHERE:     1 {{.*}} f 4.00 0.500
# WHERE-NOT: 2 {{.*}} f

# BAD: --ghz
# ZERO: -ghz is a clock in GHz, such as 3.5, not '0'

	.text
	.globl	f
	.type	f, @function
f:
	cmpq	$8, %rdx
	jb	.L4
.L3:
	vmovupd	(%rdi,%rax,8), %ymm1
	vmovupd	32(%rdi,%rax,8), %ymm2
	vmulpd	(%rsi,%rax,8), %ymm1, %ymm1
	vmulpd	32(%rsi,%rax,8), %ymm2, %ymm2
	vaddpd	%ymm1, %ymm0, %ymm0
	vaddpd	%ymm2, %ymm3, %ymm3
	addq	$8, %rax
	cmpq	%rax, %rcx
	jne	.L3
.L4:
	vmovsd	(%rdi,%rax,8), %xmm1
	vmulsd	(%rsi,%rax,8), %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	incq	%rax
	cmpq	%rax, %rdx
	jne	.L4
	ret
	.size	f, .-f
