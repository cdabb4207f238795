# Ranges: the sentence behind the verdict, its two ends in JSON and in conditions, and the cost of wrong predictions.
#
# RUN: incc-mca -mcpu=skylake --auto -all-views=false -summary-view %s | FileCheck %s
# RUN: incc-mca -mcpu=skylake --auto -all-views=false -mispredict-rate=0.5 %s | FileCheck %s --check-prefix=RATE
# RUN: incc-mca -mcpu=skylake --auto -json %s | %python -c "import json, sys; [print(k['function'], k['range'] and [k['range']['least'] <= k['cycles'] <= k['range']['most'], [c['kind'] for c in k['range']['causes']]]) for k in json.load(sys.stdin)['units'][0]['kernels']]" | FileCheck %s --check-prefix=JSON
# RUN: not incc-mca -mcpu=skylake --auto -all-views=false -mispredict-rate=2 %s 2>&1 | FileCheck %s --check-prefix=BAD
#
# CHECK-LABEL: histogram:.L1
# CHECK: cycles depending on data: 6 if line 29 accesses the same element of `counts` as in the previous iteration.
#
# CHECK-LABEL: choose:.L2
# CHECK: depending on the path (2 paths); the branch in line {{[0-9]+}} depends on data, and a misprediction
# RATE: {{[0-9.]+}} cycles if 50 % of the inner branches are mispredicted: {{[0-9.]+}} + 0.5 × {{[0-9]+}}.
# CHECK: Note: 1 branch inside: analysed the likeliest path {{.*}} no instruction is
# CHECK-NEXT: skipped (line {{[0-9]+}} not taken)
#
# CHECK-LABEL: copy:.L4
# CHECK-NOT: same place
#
# JSON: histogram [True, ['aliasing']]
# JSON: choose [True, ['branches']]
# JSON: copy None
# BAD: incc-mca: error: -mispredict-rate
	.globl histogram
histogram:
.L1:
	movslq (%rsi), %rax
	addq $4, %rsi
	addl $3, counts(,%rax,4)
	cmpq %rsi, %rdx
	jne .L1
	ret
	.globl choose
choose:
.L2:
	cmpl $0, (%rsi)
	je .L3
	imulq $3, %rbx, %rbx
	imulq $5, %rbx, %rbx
.L3:
	addq $4, %rsi
	cmpq %rsi, %rdx
	jne .L2
	ret
	.globl copy
copy:
.L4:
	movl (%rsi), %eax
	movl %eax, (%rdi)
	addq $4, %rsi
	addq $4, %rdi
	cmpq %rsi, %rdx
	jne .L4
	ret
