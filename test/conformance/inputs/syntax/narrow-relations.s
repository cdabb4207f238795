# Position-independent code for 32 bits, read for 64 without an option.
# CASE: -mcpu=skylake %s
# CASE: -mcpu=haswell -mtriple=i686-pc-linux-gnu %s
	fadds	.LC0@GOTOFF(%esi)
	flds	.LC1@GOTOFF(%ebx,%eax,4)
	movl	foo@NTPOFF(%eax), %eax
	addl	$_GLOBAL_OFFSET_TABLE_, %ebx
	addss	.LC2@GOTOFF(%ebx,%ecx,4), %xmm0
