# CASE: -mtriple=i686-unknown-unknown -mcpu=haswell %s
# CASE: -mtriple=i686-unknown-unknown -mcpu=znver4 -show-encoding -timeline %s
	aaa
	aad
	aad	$7
	aam
	aam	$7
	aas
	daa
	das
	bound	%bx, (%eax)
	bound	%ebx, 8(%eax,%ecx,4)
	into
	salc
	pushal
	popal
	arpl	%ax, (%ebx)
	lesw	(%eax), %cx
	ldsl	4(%esp), %esi
