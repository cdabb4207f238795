// CASE: -mtriple=aarch64-linux-gnu -mcpu=skylake %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=generic %s
// CASE: -mtriple=aarch64-linux-gnu -mcpu=help
add	x0, x1, x2
