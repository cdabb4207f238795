# CASE: -mcpu=haswell %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=parse-failure -mattr=+bmi2 %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=any -mattr=+bmi2 %s
andnl	%eax, %ebx, %ecx
andnq	(%rdi), %rdx, %rsi
bextrl	%eax, %ebx, %ecx
bextrq	%r8, (%rsi), %r9
blsil	%eax, %ecx
blsmskq	(%rdx), %rbx
blsrl	%esi, %edi
bzhil	%eax, %ebx, %ecx
bzhiq	%r10, 16(%rsp), %r11
pdepl	%eax, %ebx, %ecx
pextq	(%rdi), %rsi, %rdx
rorxl	$3, %eax, %ecx
rorxq	$60, (%rbx), %rdx
sarxl	%eax, %ebx, %ecx
shlxq	%r8, (%rdi), %r9
shrxl	%esi, %edi, %edx
mulxl	%eax, %ebx, %ecx

