# CASE: -mcpu=sapphirerapids -show-encoding %s
# CASE: -mcpu=alderlake %s
# CASE: -mcpu=skylake %s
	movdir64b	(%rsi), %rdi
	movdiri	%eax, 4(%rdi)
	enqcmd	(%rsi), %rdi
	serialize
	ptwritel	%eax
	tpause	%eax
	umwait	%ecx
	clwb	(%rdi)
	clflushopt	(%rdi)
	cldemote	(%rdi)
	rdpid	%rax
	wbnoinvd
	incsspq	%rax
	rdsspd	%eax
	endbr64
	endbr32
	xsusldtrk
	xresldtrk
	hreset	$0
	stui
	clui
	testui
	senduipi	%rax
	prefetchwt1	(%rdi)
	prefetchw	(%rdi)
	prefetchnta	(%rdi)
