# RUN: cd %S && incc-mca -mcpu=sandybridge --auto -all-views=false -summary-view --branch suaca-branch.s | %golden suaca-branch.golden
#
# A branch inside, the example of chapter 2 of H. Meerkamp's bachelor's thesis on SUACA (Saarland University, 2018), as a
# loop: the jump back is a µop more.
#
# SUACA compares the sides of the branch. Left, with the jump over the other side, it takes 2.34 cycles for six µops (it
# counts cmp and jnz as one, too) on three ports, which dependencies do not change; right 2.00 for five, the two dependent
# additions to rbx. Here the left side has three jumps, all of which need port 5, and the right side two: 3.00 and 2.00.
# SUACA's left side has two jumps and is limited by all of its ports alike.
	.text
	.globl branch
	.type branch, @function
branch:
.L1:
	movq $1, %rax
	cmpq $0, %rcx
	jnz .L2
	addq %rax, %rbx
	jmp .L3
.L2:
	addq %rax, %rbx
.L3:
	addq %rbx, %rbx
	jmp .L1
	.size branch, .-branch
