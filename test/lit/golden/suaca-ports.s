# RUN: cd %S && incc-mca -mcpu=sandybridge -all-views=false -summary-view -wait-view --detail=18 --perfect-front-end --unlimited-ports --no-dependencies suaca-ports.s | %golden suaca-ports.golden
#
# Six independent moves for three ports, an example of chapter 4 of H. Meerkamp's bachelor's thesis on SUACA (Saarland
# University, 2018), as a loop that the loop stream detector can replay: the jump is a seventh µop, for port 5 alone.
#
# SUACA: 2.0 cycles for six µops on three ports, 1.5 with unlimited ports; here 7/3 for seven, 2.0 with unlimited ports,
# since the detector issues the first µop of an iteration in a cycle of its own (7 µops at 4 a cycle take 2, not 1.75).
# SUACA lets every move wait 15.6 cycles and blames three instructions for each: its scheduler chooses a port in the
# cycle of execution, so that a move waits only while all three are taken. The hardware, and the simulation, binds a µop
# to one port when it is issued: one instruction is to blame in each cycle, and both columns have the same sum.
	.text
	.globl ports
	.type ports, @function
ports:
	# LLVM-MCA-BEGIN
.L1:
	movq $6, %rax
	movq $6, %rax
	movq $6, %rax
	movq $6, %rax
	movq $6, %rax
	movq $6, %rax
	jne .L1
	# LLVM-MCA-END
	ret
	.size ports, .-ports
