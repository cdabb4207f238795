# CASE: -mcpu=broadwell %s
# CASE: -mcpu=broadwell -output-asm-variant=1 -show-encoding %s
	addl	$1, %eax
	.intel_syntax noprefix
	add	eax, 1
	lock add	dword ptr [rdi], 3
	rep movsb
	.att_syntax prefix
	subl	$1, %eax

