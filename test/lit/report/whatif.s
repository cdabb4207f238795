# Options for changed cores: each alone and all together, one pass, all alignments; mistakes end with their own status.
#
# RUN: incc-mca -mcpu=skylake --auto -all-views=false -summary-view --what-if 'latency VADDSD = 2' --unlimited-ports \
# RUN:   --loop=1 --alignment=all %s | FileCheck %s
# RUN: incc-mca -mcpu=skylake --auto -all-views=false -summary-view --simulate=false %s | FileCheck %s --check-prefix=BOUNDS
# RUN: not incc-mca -mcpu=skylake --auto --what-if 'rob == 5' %s 2>&1 | FileCheck %s --check-prefix=COLUMN
# RUN: not incc-mca -mcpu=skylake --auto --what-if 'port 9 += 1' %s 2>&1 | FileCheck %s --check-prefix=PORT
# RUN: not incc-mca -mcpu=skylake --auto --what-if 'latency VSUBSD = 1' %s 2>&1 | FileCheck %s --check-prefix=LACKS
# RUN: not incc-mca -mcpu=skylake --auto --alignment=64 %s 2>&1 | FileCheck %s --check-prefix=PLACE
# RUN: not incc-mca -mcpu=skylake --auto --no-dependencies=flag %s 2>&1 | FileCheck %s --check-prefix=KIND
# RUN: not incc-mca -mcpu=skylake --auto --detail=x %s 2>&1 | FileCheck %s --check-prefix=LINE
#
# RUN: not incc-mca -mcpu=skylake --auto --detail=1 %s 2>&1 >%t | FileCheck %s --check-prefix=NOWHERE
# RUN: not incc-mca -mcpu=skylake --auto --dg=%t.x -o %t.x %s 2>&1 | FileCheck %s --check-prefix=SAME
# RUN: not incc-mca -mcpu=skylake --auto --html=%s %s 2>&1 | FileCheck %s --check-prefix=INPUT
#
# SAME:       incc-mca: error: -o and --graph name the same file, {{.*}}.x; see incc-mca --help
# INPUT:      incc-mca: error: --html would overwrite {{.*}}whatif.s; see incc-mca --help
# NOWHERE:    whatif.s:1: error: --detail: no analysed instruction in this line
# CHECK:      Bound by the loop-carried chain through xmm0
# CHECK:      Prediction        4.00  simulated
# CHECK:      Simulated with a changed core, in cycles per iteration:
# CHECK-DAG:  4.00 →  2.00  with latency VADDSD = 2
# CHECK-DAG:  4.00 →  4.00  with unlimited ports
# CHECK-DAG:  4.00 →  2.00  all together: with unlimited ports, with latency VADDSD = 2
# CHECK:      1 iteration from a cold start: {{[0-9]+}} cycles
# CHECK:      Simulated cycles per iteration by the offset of the first byte within 64 bytes:
# CHECK-NEXT:    +0    +1
# CHECK-NEXT: 0   4.00  4.00
# CHECK:      56   4.00
#
# BOUNDS:     Bound by the loop-carried chain {{.*}}; next limit: {{.*}} at 1 cycle.
# BOUNDS:     Prediction        4.00  the largest of these bounds
# BOUNDS-NOT: Simulated
#
# COLUMN:     incc-mca: error: what-if 'rob == 5': column 6: expected a number or unlimited; see incc-mca --help
# PORT:       incc-mca: error: what-if 'port 9 += 1': no port '9'; there are 0, 1, 2, 3, 4, 5, 6, 7
# LACKS:      whatif.s: error: what-if 'latency VSUBSD': no kernel has such an instruction
# PLACE:      incc-mca: error: --alignment is a number below 64, or all, not '64'; see incc-mca --help
# KIND:       incc-mca: error: --no-dependencies takes register or memory, not 'flag'; see incc-mca --help
# LINE:       incc-mca: error: --detail takes a line or FILE:LINE, not 'x'; see incc-mca --help
	.text
sum:
.L1:
	vaddsd %xmm1, %xmm0, %xmm0
	addq $8, %rax
	cmpq %rdx, %rax
	jne .L1
	ret
