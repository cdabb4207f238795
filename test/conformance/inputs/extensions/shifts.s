# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=sandybridge %s
shlb	%al
shlw	$3, %bx
shll	%cl, %ecx
shrq	$63, %rdx
sarl	%cl, (%rdi)
sarq	%rsi
rolw	$4, %r8w
rorq	%cl, %r9
rclb	%al
rcll	$2, %r10d
rcrq	%cl, %r11
shldl	$5, %eax, %ebx
shldq	%cl, %rcx, %rdx
shrdw	$1, %ax, (%rsi)
shrdq	%cl, %r12, 8(%rdi)

