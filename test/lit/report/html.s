# RUN: incc-mca -mcpu=skylake --auto --html=%t.html %s >/dev/null
# RUN: FileCheck %s <%t.html
# RUN: not incc-mca -mcpu=skylake --auto --function=none --html=%t.none %s 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
# RUN: not test -e %t.none
#
# CHECK: <!DOCTYPE html>
# CHECK: Content-Security-Policy{{.*}}default-src 'none'
# CHECK: <title>f, {{.*}}html.s:{{.*}} - incc</title>
# CHECK: <script type="application/json" id="data-1">{"title":"f, {{.*}}html.s:
# CHECK-SAME: "timeline":{"cycles":
# NONE: error: {{.*}}.none: not written: no kernel to show
	.type f, @function
f:
.L1:
	mulsd %xmm1, %xmm0
	decq %rcx
	jne .L1
	ret
