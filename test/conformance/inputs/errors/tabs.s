# CASE: -mcpu=skylake %s
		addl	%eax,	%bogus
	  	 subl	$1,		%nothing

