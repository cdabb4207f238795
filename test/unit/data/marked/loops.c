#include <math.h>
#include <stdlib.h>
#include <string.h>
double dot(const double*a,const double*b,long n){double s=0;for(long i=0;i<n;++i)s+=a[i]*b[i];return s;}
void saxpy(float*restrict y,const float*restrict x,float a,int n){for(int i=0;i<n;i++)y[i]+=a*x[i];}
void hist(int*h,const unsigned char*p,long n){for(long i=0;i<n;i++)h[p[i]]++;}
extern int g(int); 
int calls(int n){int s=0;for(int i=0;i<n;i++)s+=g(i);return s;}
long branches(const int*a,long n){long s=0;for(long i=0;i<n;i++){if(a[i]>7)s+=a[i]*3;else if(a[i]<-7){s^=a[i];if(s==5)continue;}else s--;if(s>100000)break;}return s;}
__attribute__((cold)) void coldloop(double*a,int n){for(int i=0;i<n;i++)a[i]=sqrt(a[i]);}
int likely(const int*a,int n){int s=0;for(int i=0;i<n;i++){if(__builtin_expect(a[i]<0,0)){for(int j=0;j<a[i];j++)s+=g(j);abort();}s+=a[i];}return s;}
int sw(const unsigned char*p,int n){int s=0;for(int i=0;i<n;i++)switch(p[i]){case 0:s+=1;break;case 1:s+=7;break;case 2:s^=3;break;case 3:s-=9;break;case 4:s*=3;break;case 5: s|=1;break;default:s++;}return s;}
void mm(int n,double*a,double*b,double*c){for(int i=0;i<n;i++)for(int j=0;j<n;j++){double s=0;for(int k=0;k<n;k++)s+=a[i*n+k]*b[k*n+j];c[i*n+j]=s;}}
size_t len(const char*s){size_t n=0;while(s[n])n++;return n;}
int cpy(char*d,const char*s){int n=0;while((*d++=*s++))n++;return n;}
int twice(const char*s){int n=0;while(*s){if(*s++==32)n++;}return n;}
int spin(volatile int*p){int n=0;for(;;){if(*p)return n;n++;__asm__ volatile("# a comment; here\n\tnop");}}
