# CASE: -mcpu=ivybridge -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# hash.c: clang-19 -O2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=ivybridge
	.text
	.file	"hash.c"
	.globl	hash                            # -- Begin function hash
	.p2align	4, 0x90
	.type	hash,@function
hash:                                   # @hash
# %bb.0:
	movzbl	(%rdi), %ecx
	testb	%cl, %cl
	je	.LBB0_1
# %bb.3:
	incq	%rdi
	movl	$5381, %eax                     # imm = 0x1505
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	movq	%rax, %rdx
	shlq	$5, %rdx
	addq	%rax, %rdx
	movzbl	%cl, %eax
	xorq	%rdx, %rax
	movzbl	(%rdi), %ecx
	incq	%rdi
	testb	%cl, %cl
	jne	.LBB0_4
# %bb.2:
	retq
.LBB0_1:
	movl	$5381, %eax                     # imm = 0x1505
	retq
.Lfunc_end0:
	.size	hash, .Lfunc_end0-hash
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
