# CASE: -mcpu=skylake %s
	ADDL	%EAX, %EBX
	Rep Movsb
	LOCK INCL (%RDI)
	REP movsb
