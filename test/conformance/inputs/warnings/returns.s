# CASE: -mcpu=znver3 %s
# Which instructions LLVM takes for returns: each in a region of its own, since one is warned of in each.
# LLVM-MCA-BEGIN iretw
iretw
# LLVM-MCA-END
# LLVM-MCA-BEGIN iretl
iretl
# LLVM-MCA-END
# LLVM-MCA-BEGIN sysretl
sysretl
# LLVM-MCA-END
# LLVM-MCA-BEGIN sysretq
sysretq
# LLVM-MCA-END
# LLVM-MCA-BEGIN sysexit
sysexitl
sysexitq
# LLVM-MCA-END
# LLVM-MCA-BEGIN far
lretl
lretq	$8
# LLVM-MCA-END
