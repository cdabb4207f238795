; Loops as clang hands them to the passes, without debug information and without names that anybody relies on.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; for (i = 0; i < n; ++i) a[i] += b[i], which do not overlap.
define void @sum(ptr noalias %a, ptr noalias %b, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %done

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr inbounds float, ptr %a, i64 %i
  %pb = getelementptr inbounds float, ptr %b, i64 %i
  %x = load float, ptr %pa
  %y = load float, ptr %pb
  %z = fadd float %x, %y
  store float %z, ptr %pa
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret void
}

; 1000 iterations, of which none can begin before the one before has ended.
define double @power(double %x) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %p = phi double [ 1.0, %entry ], [ %q, %loop ]
  %q = fmul double %p, %x
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 1000
  br i1 %more, label %loop, label %done

done:
  ret double %q
}

; Two loops around each other, of which the inner one alone is described.
define void @nest(ptr %a, i64 %n) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %inext, %latch ]
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %jnext, %inner ]
  %v = load volatile i32, ptr %a
  %jnext = add nuw nsw i64 %j, 1
  %jmore = icmp ult i64 %jnext, 7
  br i1 %jmore, label %inner, label %latch

latch:
  %inext = add nuw nsw i64 %i, 1
  %imore = icmp ult i64 %inext, %n
  br i1 %imore, label %outer, label %done

done:
  ret void
}
