# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=znver4 -show-encoding=true -output-asm-variant=1 %s
# CASE: -mcpu=znver4 -show-encoding=false %s
# CASE: -mcpu=skylake -show-encoding -timeline -instruction-info=false %s
movq	%rax, %rbx
addq	$127, %rax
addq	$128, %rax
addl	$1, 0x12345678(%rax,%rbx,8)
jmp	.Lthere
jne	.Lthere
leaq	.Lthere(%rip), %rax
callq	f
movl	$.Lthere, %ecx
vmovaps	%xmm8, %xmm0
vmovups	256(%rdi), %zmm1
.Lthere:

