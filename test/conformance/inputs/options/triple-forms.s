# CASE: -mtriple=x86_64 -mcpu=skylake %s
# CASE: -mtriple=x86_64-w64-mingw32 -mcpu=skylake %s
# CASE: -mtriple=x86_64-unknown-freebsd14 -mcpu=znver2 %s
# CASE: -mtriple=x86_64-unknown-none-elf -mcpu=znver2 %s
# CASE: -mtriple=amd64-linux -mcpu=skylake %s
# CASE: -march=x86-64 -mcpu=skylake %s
# CASE: -march=x86_64 -mcpu=skylake %s
# CASE: -mtriple=nothing -mcpu=skylake %s
# CASE: -mtriple= -mcpu=skylake %s
# CASE: -march= -mcpu=skylake %s
# CASE: -mtriple=x86_64-pc-windows-msvc -mcpu=skylake %s
# CASE: -mtriple=x86_64-linux-gnux32 -mcpu=skylake %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
