// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 %s
add	x0, x1
ldr	w0, [w1]
bogus	x1
// LLVM-MCA-END nothing

