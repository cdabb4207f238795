// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-v2 -all-views %s
whilelo	p0.d, x0, x1
ld1d	{ z0.d }, p0/z, [x2, x0, lsl #3]
fmla	z1.d, p0/m, z0.d, z2.d
st1d	{ z1.d }, p0, [x3, x0, lsl #3]
incd	x0

