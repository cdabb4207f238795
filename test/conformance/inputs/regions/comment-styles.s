# CASE: -mcpu=skylake %s
// LLVM-MCA-BEGIN slashes
addl	%eax, %ebx
// LLVM-MCA-END slashes
/* LLVM-MCA-BEGIN block */
subl	%eax, %ebx
/* LLVM-MCA-END block */
## LLVM-MCA-BEGIN hashes
orl	%eax, %ebx
## LLVM-MCA-END hashes

