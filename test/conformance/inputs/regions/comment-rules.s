# CASE: -mcpu=skylake %s
# CASE: -mtriple=x86_64-apple-darwin -mcpu=skylake %s
// LLVM-MCA-BEGIN slashes
	addl	%eax, %ebx
// LLVM-MCA-END slashes
/* LLVM-MCA-BEGIN block */
	subq	%rcx, %rdx
/* LLVM-MCA-END block */
## LLVM-MCA-BEGIN two
	imull	%esi, %edi
## LLVM-MCA-END two
# # LLVM-MCA-BEGIN no
	addl	%eax, %ebx
#LLVM-MCA-BEGIN tight
	subq	%rcx, %rdx
#LLVM-MCA-END tight
