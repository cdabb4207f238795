subroutine axpy(n,a,x,y)
 integer n,i
 real(8) a,x(n),y(n)
 do i=1,n
  y(i)=y(i)+a*x(i)
 end do
end
real(8) function nrm(n,x)
 integer n
 real(8) x(n)
 nrm=sqrt(sum(x*x))
end
subroutine mm(a,b,c)
 real(8) a(:,:),b(:,:),c(:,:)
 c=matmul(a,b)
end
