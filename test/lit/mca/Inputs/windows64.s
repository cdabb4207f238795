	.def	@feat.00;
	.scl	3;
	.type	0;
	.endef
	.globl	@feat.00
.set @feat.00, 0
	.file	"w.cpp"
	.def	"?f@@YAXH@Z";
	.scl	2;
	.type	32;
	.endef
	.section	.text,"xr",one_only,"?f@@YAXH@Z"
	.globl	"?f@@YAXH@Z"                    # -- Begin function ?f@@YAXH@Z
"?f@@YAXH@Z":
.seh_proc "?f@@YAXH@Z"
# %bb.0:
	subq	$40, %rsp
	.seh_stackalloc 40
	.seh_endprologue
	mulsd	__real@4004000000000000(%rip), %xmm0
	movl	t@SECREL32(%rax), %eax
	movsd	"?tab@@3PANA"(%rip), %xmm1
	callq	"?g@@YAXXZ"
	.seh_endproc
