# CASE: -mcpu=skylake %s
/* a block
   of comment */
addq	$1, %rax	# to the end of the line
addq	$2, %rbx	/* between */ ; subq $3, %rcx
// with slashes
  # indented
addq	$4, %rdx

