// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-v2 %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-v2 -skip-unsupported-instructions=parse-failure %s
// Operands of the wrong kind.
	add	x0, w1, x2
	add	w0, w1, x2
	add	x0, v1, x2
	fadd	d0, s1, d2
	fadd	x0, d1, d2
	ldr	w0, [w1]
	ldr	x0, x1
	mul	x0, x1, #3
	mov	sp, #5
	add	x0, sp, xzr
	madd	x0, x1, x2, w3
	fmla	v0.4s, v1.4s, v2.2d
	fmla	v0.5s, v1.4s, v2.4s
	mov	x32, x1
	ldp	x0, w1, [x2]
	stp	x0, x1, x2
// Numbers that do not fit.
	add	x0, x1, #4096123
	and	x0, x1, #5
	ldr	x0, [x1, #32767]
	ldr	x0, [x1, #-300]!
	ldp	x0, x1, [x2, #1024]
	lsl	x0, x1, #64
	movz	x0, #70000
	movk	x0, #1, lsl #17
	tbz	w0, #32, .L1
	ubfx	x0, x1, #60, #10
	fmov	d0, #0.1
	ccmp	x0, #32, #0, eq
	ccmp	x0, #1, #16, eq
	extr	x0, x1, x2, #64
	sshr	v0.4s, v1.4s, #33
	add	x0, x1, w2, uxtw #5
	ldr	x0, [x1, x2, lsl #2]
	svc	#65536
// Signs, names and conditions.
	ldr	x0, [x1
	ldr	x0, x1]
	ld1	{ v0.4s, [x0]
	ld1	{ v0.4s, v2.4s }, [x0]
	ld1	{ v0.4s, v1.2d }, [x0]
	add	x0,, x1
	add	x0, x1, x2, x3
	add	x0 x1 x2
	add
	b.xx	.L1
	csel	x0, x1, x2, foo
	cset	w0, al
	bogus	x1
	addq	x0, x1, x2
	movq	%rax, %rbx
	.bogus	1
	.word	1 2
	.balign	3
	mrs	x0, nosuchreg
	dmb	foo
	prfm	foo, [x0]
	add	x0, x1, x2, ror #3
	add	x0, x1, x2, sxty
	ldr	x0, [x1, x2, uxtx]
	ldr	x0, [x1], x2
	ldr	x0, [x1, #8]!, #8
	mov	v0.s[4], w1
	mov	v0.b[16], w1
	ins	v0.d[2], x1
	fmla	v0.4s, v1.4s, v2.s[4]
	fmla	v0.8h, v1.8h, v16.h[1]
	dup	v0.4s, v1.s[7]
	umov	x0, v1.s[0]
	ext	v0.16b, v1.16b, v2.16b, #16
	tbl	v0.16b, v1.16b, v2.16b
// SVE.
	fmla	z0.d, p8/m, z1.d, z2.d
	fmla	z0.d, p0/z, z1.d, z2.d
	fadd	z0.d, p0/m, z1.d, z2.d
	fadd	z0.d, z1.s, z2.d
	fadd	z0, z1, z2
	ld1d	z0.d, p0/z, [x0]
	ld1d	{ z0.d }, p0/m, [x0]
	ld1d	{ z0.d }, p8/z, [x0]
	ld1d	{ z0.d }, p0, [x0]
	ld1d	{ z0.d }, p0/z, [x0, x1]
	ld1d	{ z0.d }, p0/z, [x0, #1]
	ld1d	{ z0.d }, p0/z, [x0, #8, mul vl]
	ld1w	{ z0.d }, p0/z, [x0, z1.s, uxtw]
	st1d	{ z0.d }, p0/z, [x0]
	ptrue	p16.d
	ptrue	p0.q
	ptrue	p0.d, vl5
	whilelo	p0.d, x0, w1
	incd	x0, all, mul #17
	index	z0.d, #16, #1
	movprfx	z0.d, p0/m, z1.s
	sel	z0.d, p0/m, z1.d, z2.d
	cmpeq	p0.d, p0/m, z1.d, z2.d
	dup	z0.d, #256
	cpy	z0.d, p0/m, #129
	addvl	x0, x1, #32
	cntd	w0
	bcax	z0.d, z1.d, z2.d, z3.d
// Well written.
	add	x0, x1, x2
