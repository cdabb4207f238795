# CASE: -mcpu=graniterapids %s
# CASE: -mcpu=sapphirerapids -all-views=true -timeline-max-iterations=2 %s
# CASE: -mcpu=sapphirerapids -output-asm-variant=1 -show-encoding %s
	ldtilecfg	(%rdi)
	tilezero	%tmm0
	tileloadd	(%rsi,%rax), %tmm1
	tileloaddt1	64(%rdx,%rcx,2), %tmm2
	tdpbssd	%tmm2, %tmm1, %tmm0
	tdpbuud	%tmm2, %tmm1, %tmm0
	tdpbf16ps	%tmm2, %tmm1, %tmm0
	tilestored	%tmm0, (%rbx,%rax)
	sttilecfg	8(%rsp)
	tilerelease
