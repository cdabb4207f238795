# CASE: -mcpu=sapphirerapids %s
clui
stui
testui
senduipi	%rax
uiret

