      SUBROUTINE SCAL(N, A, X)
      INTEGER N, I
      REAL A, X(N)
      DO 10 I = 1, N
        X(I) = A * X(I)
   10 CONTINUE
      END
