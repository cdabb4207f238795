//===- ideal.cpp - A pipeline of which nothing is known -------------------===//

#include "incc/sim.h"

#include <algorithm>

using namespace incc;

Pipeline incc::idealPipeline(const Kernel &K) {
  Pipeline P;
  size_t N = K.InstructionFlags.size();
  for (auto *Array :
       {&P.Length, &P.Offset, &P.OpcodeOffset, &P.Lcp, &P.Fusible, &P.ComplexDecoder,
        &P.SimpleDecoders, &P.EndsGroup, &P.UopsMs, &P.DsbExtraSlots, &P.NoLsd, &P.UsesStack,
        &P.StackChange, &P.MoveClasses, &P.MoveLatency, &P.WideMemory, &P.AddressUnit})
    Array->assign(N, 0);
  for (auto *Array : {&P.MergesLow, &P.MergesHigh, &P.MoveFrom, &P.MoveTo})
    Array->assign(N, -1);
  P.MovePorts.assign(N, 0);
  P.UopsMite = K.IssueSlots;
  P.Idq = std::max(P.Idq, K.IssueWidth);
  P.IssueToDispatch = std::max(1, K.IssueToExecute);
  // A load sees a store at once: all that passes is the latency of forwarding.
  P.StoreAddressToLoad = P.StoreDataToLoad;
  return P;
}
