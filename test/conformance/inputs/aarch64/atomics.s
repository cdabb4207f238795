// CASE: -mtriple=aarch64-linux-gnu -mcpu=ampere1 %s
ldadd	x0, x1, [x2]
casal	w3, w4, [x5]
swp	w6, w7, [x8]

