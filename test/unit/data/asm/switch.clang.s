# Debian clang version 19.1.7 : clang-19 -O2 -fno-asynchronous-unwind-tables -S switch.c
# int f(int);
# int machine(const unsigned char *p, long n) {
#   int s = 0;
#   for (long i = 0; i < n; i++)
#     switch (p[i]) {
#     case 0: s += 3; break;
#     case 1: s *= 5; break;
#     case 2: s ^= 7; break;
#     case 3: s -= f(s); break;
#     case 4: s <<= 2; break;
#     case 5: s |= 9; break;
#     default: return s;
#     }
#   return s;
# }
	.text
	.file	"switch.c"
	.globl	machine                         # -- Begin function machine
	.p2align	4, 0x90
	.type	machine,@function
machine:                                # @machine
# %bb.0:
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	testq	%rsi, %rsi
	jle	.LBB0_1
# %bb.2:
	movq	%rsi, %rbx
	movq	%rdi, %r14
	xorl	%r12d, %r12d
	leaq	.LJTI0_0(%rip), %r13
	xorl	%r15d, %r15d
	jmp	.LBB0_3
.LBB0_9:                                #   in Loop: Header=BB0_3 Depth=1
	shll	$2, %r15d
	.p2align	4, 0x90
.LBB0_11:                               #   in Loop: Header=BB0_3 Depth=1
	incq	%r12
	cmpq	%r12, %rbx
	je	.LBB0_12
.LBB0_3:                                # =>This Inner Loop Header: Depth=1
	movzbl	(%r14,%r12), %eax
	cmpq	$5, %rax
	ja	.LBB0_12
# %bb.4:                                #   in Loop: Header=BB0_3 Depth=1
	movslq	(%r13,%rax,4), %rax
	addq	%r13, %rax
	jmpq	*%rax
.LBB0_5:                                #   in Loop: Header=BB0_3 Depth=1
	addl	$3, %r15d
	jmp	.LBB0_11
.LBB0_7:                                #   in Loop: Header=BB0_3 Depth=1
	xorl	$7, %r15d
	jmp	.LBB0_11
.LBB0_8:                                #   in Loop: Header=BB0_3 Depth=1
	movl	%r15d, %edi
	callq	f@PLT
	subl	%eax, %r15d
	jmp	.LBB0_11
.LBB0_6:                                #   in Loop: Header=BB0_3 Depth=1
	leal	(%r15,%r15,4), %r15d
	jmp	.LBB0_11
.LBB0_10:                               #   in Loop: Header=BB0_3 Depth=1
	orl	$9, %r15d
	jmp	.LBB0_11
.LBB0_1:
	xorl	%r15d, %r15d
.LBB0_12:
	movl	%r15d, %eax
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	retq
.Lfunc_end0:
	.size	machine, .Lfunc_end0-machine
	.section	.rodata,"a",@progbits
	.p2align	2, 0x0
.LJTI0_0:
	.long	.LBB0_5-.LJTI0_0
	.long	.LBB0_6-.LJTI0_0
	.long	.LBB0_7-.LJTI0_0
	.long	.LBB0_8-.LJTI0_0
	.long	.LBB0_9-.LJTI0_0
	.long	.LBB0_10-.LJTI0_0
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
