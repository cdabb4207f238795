# CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a57 -timeline %s
	cbz	x0, .L1
	tbnz	w1, #3, .L1
	b.ne	.L1
	bl	f
	br	x3
	ret
.L1:
	csel	x0, x1, x2, lt
	ccmp	x0, #1, #0, ne
