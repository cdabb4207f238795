# Debian clang version 19.1.7 : clang-19 -O2 -g1 -fno-unroll-loops -S product.c
# void product(double *restrict a, const double *restrict b, const double *restrict c, int n) {
#   for (int i = 0; i < n; i++)
#     for (int j = 0; j < n; j++) {
#       double s = 0;
#       for (int k = 0; k < n; k++)
#         s += b[i * n + k] * c[k * n + j];
#       a[i * n + j] = s;
#     }
# }
	.text
	.file	"product.c"
	.globl	product                         # -- Begin function product
	.p2align	4, 0x90
	.type	product,@function
product:                                # @product
.Lfunc_begin0:
	.file	0 "/home/user/src" "product.c" md5 0x529305a57fb4664ebd87e96bd3a27ca2
	.cfi_startproc
# %bb.0:
	.loc	0 2 21 prologue_end             # product.c:2:21
	testl	%ecx, %ecx
	.loc	0 2 3 is_stmt 0                 # product.c:2:3
	jle	.LBB0_8
# %bb.1:
	pushq	%r14
	.cfi_def_cfa_offset 16
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset %rbx, -24
	.cfi_offset %r14, -16
	movl	%ecx, %eax
	leaq	(,%rax,8), %rcx
	xorl	%r8d, %r8d
	.p2align	4, 0x90
.LBB0_2:                                # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_3 Depth 2
                                        #       Child Loop BB0_4 Depth 3
	.loc	0 0 3                           # product.c:0:3
	movq	%r8, %r9
	imulq	%rax, %r9
	.loc	0 3 5 is_stmt 1                 # product.c:3:5
	leaq	(%rdi,%r9,8), %r9
	movq	%rdx, %r10
	xorl	%r11d, %r11d
	.p2align	4, 0x90
.LBB0_3:                                #   Parent Loop BB0_2 Depth=1
                                        # =>  This Loop Header: Depth=2
                                        #       Child Loop BB0_4 Depth 3
	.loc	0 0 5 is_stmt 0                 # product.c:0:5
	xorpd	%xmm0, %xmm0
	movq	%r10, %rbx
	xorl	%r14d, %r14d
	.p2align	4, 0x90
.LBB0_4:                                #   Parent Loop BB0_2 Depth=1
                                        #     Parent Loop BB0_3 Depth=2
                                        # =>    This Inner Loop Header: Depth=3
	.loc	0 6 14 is_stmt 1                # product.c:6:14
	movsd	(%rsi,%r14,8), %xmm1            # xmm1 = mem[0],zero
	.loc	0 6 11 is_stmt 0                # product.c:6:11
	mulsd	(%rbx), %xmm1
	addsd	%xmm1, %xmm0
	.loc	0 5 31 is_stmt 1                # product.c:5:31
	incq	%r14
	.loc	0 5 25 is_stmt 0                # product.c:5:25
	addq	%rcx, %rbx
	cmpq	%r14, %rax
	.loc	0 5 7                           # product.c:5:7
	jne	.LBB0_4
# %bb.5:                                #   in Loop: Header=BB0_3 Depth=2
	.loc	0 7 20 is_stmt 1                # product.c:7:20
	movsd	%xmm0, (%r9,%r11,8)
	.loc	0 3 29                          # product.c:3:29
	incq	%r11
	.loc	0 3 5 is_stmt 0                 # product.c:3:5
	addq	$8, %r10
	.loc	0 3 23                          # product.c:3:23
	cmpq	%rax, %r11
	.loc	0 3 5                           # product.c:3:5
	jne	.LBB0_3
# %bb.6:                                #   in Loop: Header=BB0_2 Depth=1
	.loc	0 2 27 is_stmt 1                # product.c:2:27
	incq	%r8
	.loc	0 2 3 is_stmt 0                 # product.c:2:3
	addq	%rcx, %rsi
	.loc	0 2 21                          # product.c:2:21
	cmpq	%rax, %r8
	.loc	0 2 3                           # product.c:2:3
	jne	.LBB0_2
# %bb.7:
	.loc	0 0 3                           # product.c:0:3
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%r14
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	.cfi_restore %r14
.LBB0_8:
	.loc	0 9 1 is_stmt 1                 # product.c:9:1
	retq
.Ltmp0:
.Lfunc_end0:
	.size	product, .Lfunc_end0-product
	.cfi_endproc
                                        # -- End function
	.section	.debug_abbrev,"",@progbits
	.byte	1                               # Abbreviation Code
	.byte	17                              # DW_TAG_compile_unit
	.byte	0                               # DW_CHILDREN_no
	.byte	37                              # DW_AT_producer
	.byte	37                              # DW_FORM_strx1
	.byte	19                              # DW_AT_language
	.byte	5                               # DW_FORM_data2
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	114                             # DW_AT_str_offsets_base
	.byte	23                              # DW_FORM_sec_offset
	.byte	16                              # DW_AT_stmt_list
	.byte	23                              # DW_FORM_sec_offset
	.byte	27                              # DW_AT_comp_dir
	.byte	37                              # DW_FORM_strx1
	.byte	17                              # DW_AT_low_pc
	.byte	27                              # DW_FORM_addrx
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	115                             # DW_AT_addr_base
	.byte	23                              # DW_FORM_sec_offset
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	0                               # EOM(3)
	.section	.debug_info,"",@progbits
.Lcu_begin0:
	.long	.Ldebug_info_end0-.Ldebug_info_start0 # Length of Unit
.Ldebug_info_start0:
	.short	5                               # DWARF version number
	.byte	1                               # DWARF Unit Type
	.byte	8                               # Address Size (in bytes)
	.long	.debug_abbrev                   # Offset Into Abbrev. Section
	.byte	1                               # Abbrev [1] 0xc:0x17 DW_TAG_compile_unit
	.byte	0                               # DW_AT_producer
	.short	29                              # DW_AT_language
	.byte	1                               # DW_AT_name
	.long	.Lstr_offsets_base0             # DW_AT_str_offsets_base
	.long	.Lline_table_start0             # DW_AT_stmt_list
	.byte	2                               # DW_AT_comp_dir
	.byte	0                               # DW_AT_low_pc
	.long	.Lfunc_end0-.Lfunc_begin0       # DW_AT_high_pc
	.long	.Laddr_table_base0              # DW_AT_addr_base
.Ldebug_info_end0:
	.section	.debug_str_offsets,"",@progbits
	.long	16                              # Length of String Offsets Set
	.short	5
	.short	0
.Lstr_offsets_base0:
	.section	.debug_str,"MS",@progbits,1
.Linfo_string0:
	.asciz	"Debian clang version 19.1.7 (3~deb12u1)" # string offset=0
.Linfo_string1:
	.asciz	"product.c"                     # string offset=40
.Linfo_string2:
	.asciz	"/home/user/src"                   # string offset=50
	.section	.debug_str_offsets,"",@progbits
	.long	.Linfo_string0
	.long	.Linfo_string1
	.long	.Linfo_string2
	.section	.debug_addr,"",@progbits
	.long	.Ldebug_addr_end0-.Ldebug_addr_start0 # Length of contribution
.Ldebug_addr_start0:
	.short	5                               # DWARF version number
	.byte	8                               # Address size
	.byte	0                               # Segment selector size
.Laddr_table_base0:
	.quad	.Lfunc_begin0
.Ldebug_addr_end0:
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.section	.debug_line,"",@progbits
.Lline_table_start0:
