# CASE: -mcpu=haswell %s
# LLVM-MCA-BEGIN one
imull	%ecx, %edx
# LLVM-MCA-BEGIN two
shll	$2, %edx

