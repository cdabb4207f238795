// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 %s
// CASE: -march=aarch64 -mcpu=cortex-a55 -timeline %s
add	x0, x1, x2
sub	w3, w4, #16
madd	x5, x6, x7, x8
udiv	w9, w10, w11
ldr	x12, [x13, #8]
str	w14, [x15], #4
csel	x16, x17, x18, eq
cbz	x0, .Lend
.Lend:

