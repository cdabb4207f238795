# CASE: -mtriple=x86_64-unknown-unknown -mcpu=btver2 -dispatch=3 -iterations=20 -lqueue=8 -squeue=8 -register-file-size=40 -noalias=false -timeline -timeline-max-iterations=4 -timeline-max-cycles=60 -all-stats -bottleneck-analysis %s
# CASE: -march=x86-64 -mcpu=skylake-avx512 -iterations=300 -resource-pressure=false -instruction-info=false -timeline -timeline-max-iterations=1 -dispatch-stats %s
# CASE: -mcpu=znver3 -iterations=2 -all-stats -all-views -output-asm-variant=1 -print-imm-hex -show-encoding %s
# CASE: -all-views -mcpu=haswell -iterations=3 -noalias=false -json %s
movl	(%rdi), %eax
leal	5(%rax,%rax), %ecx
imull	$99, %ecx, %ecx
xorl	%edx, %ecx
movl	%ecx, (%rsi)
addq	$4, %rdi
addq	$4, %rsi
cmpq	%r8, %rdi
jb	.Ltop

