// llvm-mca's timeline of an in-order core: instructions are dispatched when they issue, and do not retire.
//
// RUN: incc-mca --compat -mtriple=aarch64 -mcpu=cortex-a55 -timeline -iterations=2 %s | FileCheck %s
//
// CHECK:      [0,0]     DeeeeeeeeeeeeE {{[. ]+}} fdiv	s1, s2, s3
// CHECK-NEXT: [0,1]     DE {{[. ]+}} add	w8, w8, #1
// CHECK-NEXT: [0,2]     .DE {{[. ]+}} add	w1, w2, w0
// CHECK-NEXT: [1,0]     .    .    DeeeeeeeeeeeeE   fdiv	s1, s2, s3
//
// CHECK:      0.     2     0.0    0.0    0.0       fdiv	s1, s2, s3
	fdiv	s1, s2, s3
	add	w8, w8, #1
	add	w1, w2, w0
