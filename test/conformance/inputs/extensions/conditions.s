# CASE: -mcpu=skylake -output-asm-variant=1 %s
# CASE: -mcpu=btver2 %s
	cmpeqps	%xmm0, %xmm1
	cmpltps	%xmm0, %xmm1
	cmpleps	%xmm0, %xmm1
	cmpunordps	%xmm0, %xmm1
	cmpneqps	%xmm0, %xmm1
	cmpnltps	%xmm0, %xmm1
	cmpnleps	%xmm0, %xmm1
	cmpordps	%xmm0, %xmm1
	vcmpeq_uqpd	(%rdi), %ymm0, %ymm1
	vcmpngepd	(%rdi), %ymm0, %ymm1
	vcmpngtpd	(%rdi), %ymm0, %ymm1
	vcmpfalsepd	(%rdi), %ymm0, %ymm1
	vcmpneq_oqpd	(%rdi), %ymm0, %ymm1
	vcmpgepd	(%rdi), %ymm0, %ymm1
	vcmpgtpd	(%rdi), %ymm0, %ymm1
	vcmptruepd	(%rdi), %ymm0, %ymm1
	vcmpeq_ospd	(%rdi), %ymm0, %ymm1
	vcmplt_oqpd	(%rdi), %ymm0, %ymm1
	vcmple_oqpd	(%rdi), %ymm0, %ymm1
	vcmpunord_spd	(%rdi), %ymm0, %ymm1
	vcmpneq_uspd	(%rdi), %ymm0, %ymm1
	vcmpnlt_uqpd	(%rdi), %ymm0, %ymm1
	vcmpnle_uqpd	(%rdi), %ymm0, %ymm1
	vcmpord_spd	(%rdi), %ymm0, %ymm1
	vcmpeq_uspd	(%rdi), %ymm0, %ymm1
	vcmpnge_uqpd	(%rdi), %ymm0, %ymm1
	vcmpngt_uqpd	(%rdi), %ymm0, %ymm1
	vcmpfalse_ospd	(%rdi), %ymm0, %ymm1
	vcmpneq_ospd	(%rdi), %ymm0, %ymm1
	vcmpge_oqpd	(%rdi), %ymm0, %ymm1
	vcmpgt_oqpd	(%rdi), %ymm0, %ymm1
	vcmptrue_uspd	(%rdi), %ymm0, %ymm1
	cmpsd	$9, %xmm0, %xmm1
	vcmpss	$40, %xmm0, %xmm1, %xmm2
	seto	%al
	setno	%al
	setb	%al
	setae	%al
	sete	%al
	setne	%al
	setbe	%al
	seta	%al
	sets	%al
	setns	%al
	setp	%al
	setnp	%al
	setl	%al
	setge	%al
	setle	%al
	setg	%al
	setc	%al
	setnc	%al
	setz	%al
	setnz	%al
	setnae	%al
	setnb	%al
	setna	%al
	setnbe	%al
	setpe	%al
	setpo	%al
	setnge	%al
	setnl	%al
	setng	%al
	setnle	%al
	cmovcl	%eax, %ebx
	cmovncl	%eax, %ebx
	cmovzl	%eax, %ebx
	cmovnzl	%eax, %ebx
	cmovnal	%eax, %ebx
	cmovnbel	%eax, %ebx
	cmovpel	%eax, %ebx
	cmovpol	%eax, %ebx
	cmovngel	%eax, %ebx
	cmovnll	%eax, %ebx
	cmovngl	%eax, %ebx
	cmovnlel	%eax, %ebx
