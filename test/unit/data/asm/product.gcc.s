# gcc 12.2.0: gcc -O2 -g1 -fno-asynchronous-unwind-tables -fno-ident -fcf-protection=none -S product.c
# void product(double *restrict a, const double *restrict b, const double *restrict c, int n) {
#   for (int i = 0; i < n; i++)
#     for (int j = 0; j < n; j++) {
#       double s = 0;
#       for (int k = 0; k < n; k++)
#         s += b[i * n + k] * c[k * n + j];
#       a[i * n + j] = s;
#     }
# }
	.file	"product.c"
	.text
.Ltext0:
	.cfi_sections	.debug_frame
	.file 0 "/home/user/src" "product.c"
	.p2align 4
	.globl	product
	.type	product, @function
product:
.LFB0:
	.file 1 "product.c"
	.loc 1 1 93
	.cfi_startproc
.LBB2:
	.loc 1 2 21
	testl	%ecx, %ecx
	jle	.L9
	movslq	%ecx, %r11
.LBE2:
	.loc 1 1 93
	pushq	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset 12, -16
	movq	%rsi, %r9
	movq	%rdi, %r10
	pushq	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset 6, -24
	movl	%ecx, %ebp
	leaq	0(,%r11,8), %rcx
	movq	%rdx, %r12
	pushq	%rbx
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -32
	leaq	(%rsi,%rcx), %rsi
.LBB8:
	.loc 1 2 12
	xorl	%ebx, %ebx
	.p2align 4,,10
	.p2align 3
.L3:
	movq	%r12, %r8
.LBB3:
.LBB4:
	.loc 1 4 14
	xorl	%edi, %edi
	.p2align 4,,10
	.p2align 3
.L6:
.LBE4:
.LBE3:
.LBE8:
	.loc 1 1 93
	movq	%r8, %rdx
	movq	%r9, %rax
.LBB9:
.LBB7:
.LBB6:
	.loc 1 4 14
	pxor	%xmm1, %xmm1
	.p2align 4,,10
	.p2align 3
.L4:
.LBB5:
	.loc 1 6 27 discriminator 3
	movsd	(%rax), %xmm0
	mulsd	(%rdx), %xmm0
	.loc 1 5 25 discriminator 3
	addq	$8, %rax
	addq	%rcx, %rdx
	.loc 1 6 11 discriminator 3
	addsd	%xmm0, %xmm1
	.loc 1 5 25 discriminator 3
	cmpq	%rsi, %rax
	jne	.L4
.LBE5:
	.loc 1 7 20 discriminator 2
	movsd	%xmm1, (%r10,%rdi,8)
.LBE6:
	.loc 1 3 23 discriminator 2
	addq	$1, %rdi
	addq	$8, %r8
	cmpq	%rdi, %r11
	jne	.L6
.LBE7:
	.loc 1 2 27 discriminator 2
	addl	$1, %ebx
	.loc 1 2 21 discriminator 2
	addq	%rcx, %r10
	addq	%rcx, %r9
	addq	%rcx, %rsi
	cmpl	%ebx, %ebp
	jne	.L3
.LBE9:
	.loc 1 9 1
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
.L9:
	.cfi_restore 3
	.cfi_restore 6
	.cfi_restore 12
	ret
	.cfi_endproc
.LFE0:
	.size	product, .-product
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x45
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x1
	.long	.LASF2
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.long	.Ldebug_line0
	.uleb128 0x2
	.long	.LASF3
	.byte	0x1
	.byte	0x1
	.byte	0x6
	.quad	.LFB0
	.quad	.LFE0-.LFB0
	.uleb128 0x1
	.byte	0x9c
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x2c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	0
	.quad	0
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF2:
	.string	"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g1 -O2 -fno-asynchronous-unwind-tables -fno-ident -fcf-protection=none"
.LASF3:
	.string	"product"
	.section	.debug_line_str,"MS",@progbits,1
.LASF0:
	.string	"product.c"
.LASF1:
	.string	"/home/user/src"
	.section	.note.GNU-stack,"",@progbits
