# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver1 %s
cpuid
rdtsc
rdtscp
rdpmc
xgetbv
syscall
nop
nopw	(%rax,%rax)
nopl	8(%rbx)
int3
int	$0x80
ud2
hlt
cli
sti
wbinvd
invlpg	(%rax)
rdmsr
wrmsr
swapgs
sgdt	(%rdi)
lidt	(%rdi)
str	%ax
smsw	%ecx
movq	%cr0, %rax
movq	%rax, %cr3
movq	%dr7, %rbx
pushfq
popfq
enter	$16, $0
leave
xlatb
inb	$0x60, %al
outl	%eax, %dx

