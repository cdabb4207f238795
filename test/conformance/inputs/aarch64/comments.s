# CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 %s
// LLVM-MCA-BEGIN a
	add	x0, x1, x2 // sum
// LLVM-MCA-END a
	sub	w0, w1, #4
