# CASE: -mcpu=skylake -show-barriers %s
# CASE: -mcpu=znver4 %s
# CASE: -mcpu=icelake-server -output-asm-variant=1 %s
	cpuid
	rdtsc
	rdtscp
	rdpmc
	rdmsr
	wrmsr
	xgetbv
	xsetbv
	swapgs
	invlpg	(%rax)
	invd
	hlt
	cli
	sti
	clts
	lgdt	(%rax)
	sidt	(%rax)
	lidt	(%rdi)
	ltr	%ax
	verr	%ax
	verw	(%rax)
	lar	%eax, %ebx
	lsl	%eax, %ebx
	movq	%cr0, %rax
	movq	%rax, %cr4
	movq	%dr7, %rax
	movq	%fs, %r8
	movl	%gs, %eax
	movq	%rdx, %es
	sldt	%rax
	str	%eax
	smsw	%ax
	lmsw	%ax
	inb	%dx, %al
	outl	%eax, $16
	insb	%dx, %es:(%rdi)
	outsl	(%rsi), %dx
	rdfsbase	%rax
	wrgsbase	%ecx
	xsave	(%rdi)
	xrstor64	(%rdi)
	fxsave64	(%rdi)
	ldmxcsr	(%rsp)
	stmxcsr	4(%rsp)
	monitor
	mwait
	enter	$32, $0
	enter	$32, $3
	leave
