# gcc 12.2.0: gcc -O2 -fPIC -fno-asynchronous-unwind-tables -fno-ident -fcf-protection=none -S switch.c
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
	.file	"switch.c"
	.text
	.p2align 4
	.globl	machine
	.type	machine, @function
machine:
	pushq	%r13
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	subq	$8, %rsp
	testq	%rsi, %rsi
	jle	.L12
	movq	%rdi, %rbx
	leaq	(%rdi,%rsi), %r13
	leaq	.L4(%rip), %r12
	xorl	%ebp, %ebp
	.p2align 4,,10
	.p2align 3
.L11:
	cmpb	$5, (%rbx)
	ja	.L1
	movzbl	(%rbx), %eax
	movslq	(%r12,%rax,4), %rax
	addq	%r12, %rax
	jmp	*%rax
	.section	.rodata
	.align 4
	.align 4
.L4:
	.long	.L9-.L4
	.long	.L8-.L4
	.long	.L7-.L4
	.long	.L6-.L4
	.long	.L5-.L4
	.long	.L3-.L4
	.text
	.p2align 4,,10
	.p2align 3
.L5:
	sall	$2, %ebp
	.p2align 4,,10
	.p2align 3
.L10:
	addq	$1, %rbx
	cmpq	%r13, %rbx
	jne	.L11
.L1:
	addq	$8, %rsp
	movl	%ebp, %eax
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	movl	%ebp, %edi
	call	f@PLT
	subl	%eax, %ebp
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L7:
	xorl	$7, %ebp
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L8:
	leal	0(%rbp,%rbp,4), %ebp
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L9:
	addl	$3, %ebp
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L3:
	orl	$9, %ebp
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L12:
	xorl	%ebp, %ebp
	jmp	.L1
	.size	machine, .-machine
	.section	.note.GNU-stack,"",@progbits
