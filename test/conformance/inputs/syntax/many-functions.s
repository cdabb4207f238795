# CASE: -mcpu=skylake %s
# CASE: -mcpu=icelake-server -timeline -timeline-max-iterations=1 %s
	.globl	f1
	.p2align	4
	.type	f1,@function
f1:
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	movq	%rsp, %rbp
	addl	%eax, %ebx
	popq	%rbp
	retq
.Lfunc_end1:
	.size	f1, .Lfunc_end1-f1
	.cfi_endproc
	.globl	f2
	.p2align	4
	.type	f2,@function
f2:
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	movq	%rsp, %rbp
	addl	%eax, %ebx
	addl	%eax, %ebx
	popq	%rbp
	retq
.Lfunc_end2:
	.size	f2, .Lfunc_end2-f2
	.cfi_endproc
	.globl	f3
	.p2align	4
	.type	f3,@function
f3:
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	movq	%rsp, %rbp
	addl	%eax, %ebx
	addl	%eax, %ebx
	addl	%eax, %ebx
	popq	%rbp
	retq
.Lfunc_end3:
	.size	f3, .Lfunc_end3-f3
	.cfi_endproc
	.globl	f4
	.p2align	4
	.type	f4,@function
f4:
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	movq	%rsp, %rbp
	addl	%eax, %ebx
	addl	%eax, %ebx
	addl	%eax, %ebx
	addl	%eax, %ebx
	popq	%rbp
	retq
.Lfunc_end4:
	.size	f4, .Lfunc_end4-f4
	.cfi_endproc
