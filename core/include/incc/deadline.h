//===- deadline.h - The end of a thread's processor time --------*- C++ -*-===//

#ifndef INCC_DEADLINE_H
#define INCC_DEADLINE_H

namespace incc {

/// Lets simulations of this thread throw std::runtime_error once it has used this processor time,
/// in seconds (CLOCK_THREAD_CPUTIME_ID).
void setDeadline(double Seconds);

} // namespace incc

#endif
