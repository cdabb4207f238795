// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1 %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1 -json %s
fmla	v0.4s, v1.4s, v2.4s
ld1	{ v3.2d, v4.2d }, [x0], #32
st1	{ v5.16b }, [x1]
addp	v6.4s, v7.4s, v8.4s
fdiv	d9, d10, d11
tbl	v12.16b, { v13.16b }, v14.16b

