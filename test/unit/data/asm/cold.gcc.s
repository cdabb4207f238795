# gcc 12.2.0: gcc -O2 -g1 -fno-ident -S cold.c
# int h(int) __attribute__((cold));
# void g(void) __attribute__((noreturn));
# int sum(const int *p, int n) {
#   int s = 0;
#   for (int i = 0; i < n; i++) {
#     if (__builtin_expect(p[i] < 0, 0))
#       s = h(s);
#     s += p[i];
#     if (__builtin_expect(s == 77, 0))
#       g();
#   }
#   return s;
# }
	.file	"cold.c"
	.text
.Ltext0:
	.file 0 "/home/user/src" "cold.c"
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.p2align 4
	.section	.text.unlikely
.Ltext_cold0:
	.text
	.globl	sum
	.type	sum, @function
sum:
.LFB0:
	.file 1 "cold.c"
	.loc 1 3 30
	.cfi_startproc
.LBB2:
	.loc 1 5 21
	testl	%esi, %esi
	jle	.L6
.LBE2:
	.loc 1 3 30
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movslq	%esi, %rsi
	.loc 1 4 7
	xorl	%eax, %eax
	.loc 1 3 30
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	leaq	(%rdi,%rsi,4), %rbp
	movq	%rdi, %rbx
	subq	$8, %rsp
	.cfi_def_cfa_offset 32
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L4:
.LBB3:
	.loc 1 5 21 discriminator 2
	addq	$4, %rbx
	cmpq	%rbp, %rbx
	je	.L14
.L5:
	.loc 1 6 27
	movl	(%rbx), %edx
	.loc 1 6 8
	testl	%edx, %edx
	js	.L8
.L3:
	.loc 1 8 7
	addl	%edx, %eax
	.loc 1 9 8
	cmpl	$77, %eax
	jne	.L4
	.loc 1 10 7
	call	g@PLT
	.p2align 4,,10
	.p2align 3
.L14:
.LBE3:
	.loc 1 13 1
	addq	$8, %rsp
	.cfi_def_cfa_offset 24
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
.L6:
	.cfi_restore 3
	.cfi_restore 6
	.loc 1 4 7
	xorl	%eax, %eax
	.loc 1 13 1
	ret
	.cfi_endproc
	.section	.text.unlikely
	.cfi_startproc
	.type	sum.cold, @function
sum.cold:
.LFSB0:
.L8:
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -24
	.cfi_offset 6, -16
.LBB4:
	.loc 1 7 11
	movl	%eax, %edi
	call	h@PLT
	.loc 1 8 11
	movl	(%rbx), %edx
	jmp	.L3
.LBE4:
	.cfi_endproc
.LFE0:
	.text
	.size	sum, .-sum
	.section	.text.unlikely
	.size	sum.cold, .-sum.cold
.LCOLDE0:
	.text
.LHOTE0:
.Letext0:
	.section	.text.unlikely
.Letext_cold0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x41
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x1
	.long	.LASF2
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.long	.LLRL1
	.quad	0
	.long	.Ldebug_line0
	.uleb128 0x2
	.string	"g"
	.byte	0x1
	.byte	0x2
	.byte	0x6
	.uleb128 0x3
	.string	"h"
	.byte	0x1
	.byte	0x1
	.byte	0x5
	.uleb128 0x4
	.string	"sum"
	.byte	0x1
	.byte	0x3
	.byte	0x5
	.long	.LLRL0
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
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x11
	.uleb128 0x1
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
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x87
	.uleb128 0x19
	.uleb128 0x3c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x3c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7c
	.uleb128 0x19
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x3c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	.Ltext_cold0
	.quad	.Letext_cold0-.Ltext_cold0
	.quad	0
	.quad	0
	.section	.debug_rnglists,"",@progbits
.Ldebug_ranges0:
	.long	.Ldebug_ranges3-.Ldebug_ranges2
.Ldebug_ranges2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0
.LLRL0:
	.byte	0x7
	.quad	.LFB0
	.uleb128 .LHOTE0-.LFB0
	.byte	0x7
	.quad	.LFSB0
	.uleb128 .LCOLDE0-.LFSB0
	.byte	0
.LLRL1:
	.byte	0x7
	.quad	.Ltext0
	.uleb128 .Letext0-.Ltext0
	.byte	0x7
	.quad	.Ltext_cold0
	.uleb128 .Letext_cold0-.Ltext_cold0
	.byte	0
.Ldebug_ranges3:
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF2:
	.string	"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g1 -O2 -fno-ident -fasynchronous-unwind-tables"
	.section	.debug_line_str,"MS",@progbits,1
.LASF0:
	.string	"cold.c"
.LASF1:
	.string	"/home/user/src"
	.section	.note.GNU-stack,"",@progbits
