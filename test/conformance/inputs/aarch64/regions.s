// CASE: -mtriple=arm64-apple-macosx -mcpu=apple-m1 %s
// CASE: -mtriple=aarch64 -mcpu=cortex-a72 -bottleneck-analysis %s
// LLVM-MCA-BEGIN loop
ldp	x0, x1, [x2], #16
add	x3, x3, x0
// LLVM-MCA-END loop
// LLVM-MCA-BEGIN
subs	x4, x4, #1
b.ne	.Ltop
// LLVM-MCA-END

