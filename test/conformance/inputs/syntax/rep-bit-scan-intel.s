# CASE: -mcpu=skylake -show-encoding %s
	.intel_syntax noprefix
	rep bsf	eax, edi
	rep bsr	rdx, qword ptr [rcx + 8]
	lzcnt	rdx, qword ptr [rcx + 8]
