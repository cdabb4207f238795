# CASE: -mcpu=lunarlake %s
# CASE: -mcpu=arrowlake -json %s
	vsha512msg1	%xmm1, %ymm2
	vsha512msg2	%ymm1, %ymm2
	vsha512rnds2	%xmm1, %ymm2, %ymm3
	vsm3msg1	%xmm1, %xmm2, %xmm3
	vsm3rnds2	$5, (%rdi), %xmm2, %xmm3
	vsm4key4	%ymm1, %ymm2, %ymm3
	vpdpwsud	(%rsi), %ymm1, %ymm2
	vbcstnebf162ps	(%rdi), %ymm1
	{vex}	vpmadd52luq	%ymm1, %ymm2, %ymm3
	cmpnlexadd	%eax, %ecx, (%rdi)
