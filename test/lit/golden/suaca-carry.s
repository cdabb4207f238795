# RUN: cd %S && incc-mca -mcpu=skylake -all-views=false -summary-view -wait-view --detail=22 --perfect-front-end --unlimited-ports --no-dependencies suaca-carry.s | %golden suaca-carry.golden
#
# Eight additions that hand the carry flag on, an example of chapter 4 of H. Meerkamp's bachelor's thesis on SUACA
# (Saarland University, 2018), followed by a jump that waits for the last one.
#
# SUACA: 8.0 cycles, also with a perfect front end and with unlimited ports, 4.0 without dependencies: eight µops for the
# two ports of adc. Here the jump is a ninth µop for port 6, one of the two: 4.5 without dependencies, and now and then it
# takes that port from the addition whose turn it is, so that the loop takes a little more than 8, and 8.0 with unlimited
# ports. SUACA's columns are 92.4 cycles waited and 177.8 caused: the scheduler of 97 entries is full of additions, each of
# which waits for as long as those before it take, and two results are missing at any time, the carry and the register of
# the iteration before. Here jumps take a ninth of the entries (83.8), and the cycles between issue and the first possible
# start do not count as waiting; the register comes eight additions before the carry, so that less is caused than twice
# what is waited.
	.text
	.globl carry
	.type carry, @function
carry:
	# LLVM-MCA-BEGIN
.L1:
	adcq $1, %rax
	adcq $1, %rbx
	adcq $1, %rcx
	adcq $1, %rdx
	adcq $1, %r8
	adcq $1, %r9
	adcq $1, %r10
	adcq $1, %r11
	jne .L1
	# LLVM-MCA-END
	ret
	.size carry, .-carry
