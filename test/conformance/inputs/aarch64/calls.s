// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n2 -show-encoding -show-barriers %s
stp	x29, x30, [sp, #-16]!
bl	f
dmb	ish
ldaxr	w0, [x1]
ldp	x29, x30, [sp], #16
ret

