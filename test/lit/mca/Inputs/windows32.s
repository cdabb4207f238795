	.def	@feat.00;
	.scl	3;
	.type	0;
	.endef
	.globl	@feat.00
@feat.00 = 1
	.section	.rdata,"dr",discard,__real@bf800000
	.globl	__real@bf800000
__real@bf800000:
	.long	0xbf800000
	.text
	.globl	@fast@8
@fast@8:
	mulss	__real@bf800000, %xmm0
	calll	@fast@8
	calll	_std@8
	calll	*__imp__abort
