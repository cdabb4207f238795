# CASE: -mcpu=btver2 %s
# LLVM-MCA-BEGIN
imull	%ecx, %edx

