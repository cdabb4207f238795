// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -skip-unsupported-instructions=any %s
// CASE: -mtriple=arm64-apple-macosx -mcpu=apple-m1 %s
	.macro	twice a
	add	x0, x0
	bogus	\a
	.endm
	twice	x0
1:	add	x0, x0, #1 ; bogus x1
lab:	add	x0
	.rept	2
	ldr	x0, [w0]
	.endr
	.if	0
	bogus
	.endif
	.arch	armv8-a+nosuch
	.cpu	nosuch
	.arch_extension	sve
	addvl	x0, x1, #1
	.set	size, 5000
	add	x0, x0, #size
	.error	"stop"
	.warning "slow"
	.type	f, @object
	.size	f, .-f
	adrp	x0, f
	add	x0, x0, :lo12:f
	add	x0, x0, :hi12:f
# 77 "other.c"
	bogus	x2
	.inst	0xffffffff
	.req	x1
acc	.req	x5
	add	acc, acc, w1
	.unreq	acc
	add	acc, acc, x1
	b.ne	1b
	.p2align 4,,11
	.section .foo,"zz"
	add	x0, x0, x1
