# g++ 12.2.0: g++ -O2 -fno-ident -S except.cpp
# int parse(const char *);
# int total(const char *const *p, int n) {
#   int s = 0;
#   for (int i = 0; i < n; i++)
#     try {
#       s += parse(p[i]);
#     } catch (int x) {
#       s -= x;
#     }
#   return s;
# }
	.file	"except.cpp"
	.text
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.p2align 4
	.globl	_Z5totalPKPKci
	.type	_Z5totalPKPKci, @function
_Z5totalPKPKci:
.LFB0:
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDA0
	pushq	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset 12, -16
	pushq	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset 6, -24
	pushq	%rbx
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -32
	testl	%esi, %esi
	jle	.L7
	movslq	%esi, %rsi
	movq	%rdi, %rbx
	xorl	%ebp, %ebp
	leaq	(%rdi,%rsi,8), %r12
	.p2align 4,,10
	.p2align 3
.L3:
	movq	(%rbx), %rdi
.LEHB0:
	call	_Z5parsePKc@PLT
.LEHE0:
	addl	%eax, %ebp
.L6:
	addq	$8, %rbx
	cmpq	%r12, %rbx
	jne	.L3
	movl	%ebp, %eax
	popq	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L7:
	.cfi_restore_state
	xorl	%ebp, %ebp
	popq	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 24
	movl	%ebp, %eax
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
.L8:
	.cfi_restore_state
	movq	%rax, %rdi
	movq	%rdx, %rax
	jmp	.L4
	.globl	__gxx_personality_v0
	.section	.gcc_except_table,"a",@progbits
	.align 4
.LLSDA0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATT0-.LLSDATTD0
.LLSDATTD0:
	.byte	0x1
	.uleb128 .LLSDACSE0-.LLSDACSB0
.LLSDACSB0:
	.uleb128 .LEHB0-.LFB0
	.uleb128 .LEHE0-.LEHB0
	.uleb128 .L8-.LFB0
	.uleb128 0x1
.LLSDACSE0:
	.byte	0x1
	.byte	0
	.align 4
	.long	DW.ref._ZTIi-.
.LLSDATT0:
	.text
	.cfi_endproc
	.section	.text.unlikely
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDAC0
	.type	_Z5totalPKPKci.cold, @function
_Z5totalPKPKci.cold:
.LFSB0:
.L4:
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -32
	.cfi_offset 6, -24
	.cfi_offset 12, -16
	subq	$1, %rax
	jne	.L12
	call	__cxa_begin_catch@PLT
	subl	(%rax), %ebp
	call	__cxa_end_catch@PLT
	jmp	.L6
.L12:
.LEHB1:
	call	_Unwind_Resume@PLT
.LEHE1:
	.cfi_endproc
.LFE0:
	.section	.gcc_except_table
	.align 4
.LLSDAC0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATTC0-.LLSDATTDC0
.LLSDATTDC0:
	.byte	0x1
	.uleb128 .LLSDACSEC0-.LLSDACSBC0
.LLSDACSBC0:
	.uleb128 .LEHB1-.LCOLDB0
	.uleb128 .LEHE1-.LEHB1
	.uleb128 0
	.uleb128 0
.LLSDACSEC0:
	.byte	0x1
	.byte	0
	.align 4
	.long	DW.ref._ZTIi-.
.LLSDATTC0:
	.section	.text.unlikely
	.text
	.size	_Z5totalPKPKci, .-_Z5totalPKPKci
	.section	.text.unlikely
	.size	_Z5totalPKPKci.cold, .-_Z5totalPKPKci.cold
.LCOLDE0:
	.text
.LHOTE0:
	.hidden	DW.ref._ZTIi
	.weak	DW.ref._ZTIi
	.section	.data.rel.local.DW.ref._ZTIi,"awG",@progbits,DW.ref._ZTIi,comdat
	.align 8
	.type	DW.ref._ZTIi, @object
	.size	DW.ref._ZTIi, 8
DW.ref._ZTIi:
	.quad	_ZTIi
	.hidden	DW.ref.__gxx_personality_v0
	.weak	DW.ref.__gxx_personality_v0
	.section	.data.rel.local.DW.ref.__gxx_personality_v0,"awG",@progbits,DW.ref.__gxx_personality_v0,comdat
	.align 8
	.type	DW.ref.__gxx_personality_v0, @object
	.size	DW.ref.__gxx_personality_v0, 8
DW.ref.__gxx_personality_v0:
	.quad	__gxx_personality_v0
	.section	.note.GNU-stack,"",@progbits
