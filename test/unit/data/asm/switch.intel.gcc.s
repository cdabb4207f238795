# gcc 12.2.0: gcc -O2 -masm=intel -fno-asynchronous-unwind-tables -fno-ident -fcf-protection=none -S switch.c
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
	.intel_syntax noprefix
	.text
	.p2align 4
	.globl	machine
	.type	machine, @function
machine:
	push	r13
	push	r12
	push	rbp
	push	rbx
	sub	rsp, 8
	test	rsi, rsi
	jle	.L12
	mov	rbx, rdi
	lea	r13, [rdi+rsi]
	lea	r12, .L4[rip]
	xor	ebp, ebp
	.p2align 4,,10
	.p2align 3
.L11:
	cmp	BYTE PTR [rbx], 5
	ja	.L1
	movzx	eax, BYTE PTR [rbx]
	movsx	rax, DWORD PTR [r12+rax*4]
	add	rax, r12
	jmp	rax
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
	sal	ebp, 2
	.p2align 4,,10
	.p2align 3
.L10:
	add	rbx, 1
	cmp	rbx, r13
	jne	.L11
.L1:
	add	rsp, 8
	mov	eax, ebp
	pop	rbx
	pop	rbp
	pop	r12
	pop	r13
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	mov	edi, ebp
	call	f@PLT
	sub	ebp, eax
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L7:
	xor	ebp, 7
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L8:
	lea	ebp, 0[rbp+rbp*4]
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L9:
	add	ebp, 3
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L3:
	or	ebp, 9
	jmp	.L10
	.p2align 4,,10
	.p2align 3
.L12:
	xor	ebp, ebp
	jmp	.L1
	.size	machine, .-machine
	.section	.note.GNU-stack,"",@progbits
