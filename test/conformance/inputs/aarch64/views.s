// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a55 -all-views %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a55 -all-stats %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a55 -bottleneck-analysis -retire-stats -timeline %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a55 -instruction-tables %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a55 -json -timeline %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a53 -all-views %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=generic -all-views %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -all-views %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-v2 -all-views -show-encoding -show-barriers %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1 -instruction-tables -json %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -dispatch=2 -lqueue=3 -squeue=3 -register-file-size=20 -all-stats %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=a64fx -all-views -iterations=7 -timeline-max-iterations=3 %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=thunderx2t99 -bottleneck-analysis -noalias=0 %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=apple-m1 -all-views %s
// CASE: -mtriple=arm64-apple-macosx -mcpu=apple-m1 -timeline %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=cortex-a510 -scheduler-stats -dispatch-stats %s
// CASE: -march=aarch64 -mcpu=neoverse-n2 -print-imm-hex -output-asm-variant=1 %s
// CASE: -march=arm64 -mcpu=neoverse-n1 -x86-asm-syntax=intel %s
// CASE: -march=aarch64 -mcpu=neoverse-n1 -mattr=-lse,+sve2 -call-latency=5 %s
// CASE host: -march=aarch64 -mcpu=native %s
// CASE host: -march=aarch64 %s
.L3:
	ldr	q0, [x0], #16
	ldr	q1, [x1, x2, lsl #4]
	and	x5, x5, #0xff
	fmla	v2.2d, v0.2d, v1.2d
	str	q2, [x3], #16
	mov	x6, x7
	add	x2, x2, #1
	fmul	d4, d4, d5
	sdiv	x8, x8, x2
	cmp	x2, x4
	b.cc	.L3
