# CASE: -mcpu=graniterapids %s
tdpfp16ps	%tmm0, %tmm1, %tmm2

