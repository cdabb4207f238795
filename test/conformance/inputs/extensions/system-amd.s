# CASE: -mcpu=x86-64 -instruction-tables %s
# Instructions that only systems use, which LLVM has figures of on x86-64 in general.
clgi
stgi
skinit
vmload
vmrun
vmsave
vmmcall
invlpga
invlpgb
tlbsync
psmash
pvalidate
rmpadjust
rmpupdate
invept	(%rdi), %rax
invvpid	(%rdi), %rax
getsec
rsm
