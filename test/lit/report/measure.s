# REQUIRES: x86_64-host
# What cannot be run says why, wherever this is; nothing is measured here.
# RUN: incc-mca -auto -mcpu=skylake-avx512 -measure -views=summary %s | FileCheck %s
# RUN: incc-scan --measure -mcpu=skylake-avx512 %s | FileCheck --check-prefix=SCAN %s
# RUN: incc-mca -auto -mcpu=skylake-avx512 -measure -json %s | FileCheck --check-prefix=JSON %s
# RUN: not incc-scan --measure -j2 -mcpu=skylake-avx512 %s 2>&1 | FileCheck --check-prefix=JOBS %s

# CHECK:      Bound by
# CHECK:      Not measured on {{.*}}: it has a call in it (`call g` in line {{[0-9]+}}).
# CHECK:        Prediction {{.*}} simulated; a lower bound
# CHECK-NEXT:   Measured             -  call (above)
# CHECK:      Not measured on {{.*}}: `cpuid` in line {{[0-9]+}} is an instruction of the system

# SCAN:      Cycles{{ +}}Measured
# SCAN-NEXT: 1 {{.*[0-9.]+ +}}-{{ }}
# SCAN-NEXT: 2 {{.*[0-9.]+ +}}-{{ }}

# JSON:      "measured": {
# JSON-NEXT:   "cycles": null,
# JSON:        "failure": "call",
# JOBS: incc-scan: error: --measure and -j cannot be combined
f:
.L1:
	call	g
	subq	$1, %rbx
	jne	.L1
	ret

h:
.L2:
	cpuid
	subq	$1, %rsi
	jne	.L2
	ret
