# JSON has exact fractions and the same keys in the same order each time; the graph marks paths and chains.
#
# RUN: incc-mca -mcpu=skylake-avx512 --auto --json --graph=%t.dot %s >%t.json
# RUN: FileCheck %s <%t.json
# RUN: FileCheck %s --check-prefix=DOT <%t.dot
# RUN: incc-mca -mcpu=skylake-avx512 --auto --json %s | diff - %t.json
# RUN: %python -c "import json, sys; json.load(open(sys.argv[1]))" %t.json
#
# CHECK:      "schema_version": "1.0",
# CHECK-NEXT: "tool": {"name": "incc", "version": "{{.*}}"},
# CHECK:      "chosen_by": "-mcpu=skylake-avx512",
# CHECK-NEXT: "note": ""
# CHECK:      "function": "swap",
# CHECK:      "loop_carried": {"cycles": 2.5, "exact": "5/2", "by": "through rbx and rax, lines {{.*}}, 5 over 2 iterations"},
# CHECK:      "through": ["rbx", "rax"],
#
# DOT:      digraph dependencies {
# DOT:      label="swap:.L2: 2.{{[0-9]+}} cycles per iteration";
# DOT:      k0_i[[#]] -> k0_i[[#]] [label="{{.*}}", style="dashed", constraint="false", color="#d55e00", fontcolor="#d55e00"];
	.text
	.globl swap
	.type swap, @function
swap:
.L2:
	leaq 1(%rax), %rsi
	imulq %rdx, %rbx
	leaq 1(%rbx), %rax
	movq %rsi, %rbx
	decq %rdi
	jne .L2
	ret
	.size swap, .-swap
