# Branches inside the loop: a table of every way through it, and of the sides of the first branch.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 --auto -all-views=false --branch --paths --branch-probability=0.75 --cfg=%t.dot ways.s \
# RUN:   | sed -n '/^Sides/,$p' | %golden ways.golden
# RUN: FileCheck %s --check-prefix=CFG < %t.dot
# CFG:      label="clamp";
# CFG:      [label=".L3:\l19: movl (%rdi,%rax,4), %edx\l20: cmpl %esi, %edx\l21: jl .L7\l", style=bold];
# CFG:      -> {{.*}} [label="jl"];
# CFG:      [label="jne", style=dashed];
	.text
	.globl	clamp
	.type	clamp, @function
clamp:
	testq	%r8, %r8
	je	.L1
	xorl	%eax, %eax
	.p2align 4
# Below the limit, above it, or between.
.L3:
	movl	(%rdi,%rax,4), %edx
	cmpl	%esi, %edx
	jl	.L7
	cmpl	%ecx, %edx
	jle	.L5
	movl	%ecx, (%rdi,%rax,4)
	imull	%ecx, %r9d
.L5:
	incq	%rax
	cmpq	%r8, %rax
	jne	.L3
.L1:
	ret
.L7:
	movl	%esi, (%rdi,%rax,4)
	jmp	.L5
	.size	clamp, .-clamp
