# CASE: -mcpu=skylake %s
	addl	%eax,%ebx;subl %ecx,%edx ;; nop;
  label: other:addl $1 , %eax
	ADDL	%EAX, %EBX
	addl %eax , %ebx # comment ; not a statement
	addl	$ 5, %eax
	movl 4 ( %rax ) , %ecx
	/* c */ addl /* d */ %eax, %ebx /* e */

		
