# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -json %s
# LLVM-MCA-BEGIN a.b-c_d[3] "quoted" \ back/slash
addl	%eax, %ebx
# LLVM-MCA-END a.b-c_d[3] "quoted" \ back/slash
# LLVM-MCA-BEGIN LLVM-MCA-END
subl	%eax, %ebx
# LLVM-MCA-END LLVM-MCA-END

