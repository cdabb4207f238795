#include <vector>
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
template<class T> struct S{T v[4];T sum()const{T s{};for(auto x:v)s+=x;return s;}};
double acc(const std::vector<double>&v){return std::accumulate(v.begin(),v.end(),0.0);}
void tr(std::vector<float>&v,float a){std::transform(v.begin(),v.end(),v.begin(),[=](float x){return x*a+1;});}
void srt(std::vector<int>&v){std::sort(v.begin(),v.end());}
int ex(const std::vector<std::string>&v){int n=0;for(auto&s:v){try{n+=std::stoi(s);}catch(...){n--;}}return n;}
std::unordered_map<int,int> cnt(const std::vector<int>&v){std::unordered_map<int,int>m;for(int x:v)m[x]++;return m;}
double ss(S<double>*p,int n){double t=0;for(int i=0;i<n;i++)t+=p[i].sum();return t;}
