// The examples that the page offers.
import count from "../gallery/count.cpp";
import division from "../gallery/division.c";
import gather from "../gallery/gather.c";
import gemm from "../gallery/gemm.c";
import horner from "../gallery/horner.c";
import latency from "../gallery/latency.s";
import saxpy from "../gallery/saxpy.f90";
import stencil from "../gallery/stencil.c";
import sum from "../gallery/sum.c";
import triad from "../gallery/triad.c";

export const GALLERY = [
  {name: "Triad", language: "c", source: triad},
  {name: "Sum", language: "c", source: sum},
  {name: "Polynomial", language: "c", source: horner},
  {name: "Stencil", language: "c", source: stencil},
  {name: "Matrix product", language: "c", source: gemm},
  {name: "Square root and division", language: "c", source: division},
  {name: "Sparse matrix", language: "c", source: gather},
  {name: "Search and count", language: "c++", source: count},
  {name: "Axpy in Fortran", language: "fortran", source: saxpy},
  {name: "Chain in assembly", language: "assembly", source: latency},
];
