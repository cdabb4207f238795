# CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n2 -all-views %s
	ldp	x0, x1, [x2], #16
	stp	q0, q1, [x3, #-32]!
	ldr	x4, [x5, w6, uxtw #3]
	ldrsw	x7, [x8]
	prfm	pldl1keep, [x9]
	dmb	ish
	ldaxr	w1, [x2]
