// The program that bench/functions.py links with one function and runs. call.h has the function's prototype and the
// macros CALL, ELEMENTS and TRIPS, from bench/functions/table.toml.
//
// It prints elements and trips per call, core cycles per call, and how many readings it took; 0 if no two readings in
// succession agreed. As in incc.measuring.server, a core cycle is the time of one of a chain of dependent additions
// before and after each sample, and a crowd of instructions that fills all issue slots tells whether another thread of
// the core took some. Calls follow each other without a fence, so that the end of one overlaps with the next.
#define _GNU_SOURCE
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

#include "call.h"

enum { SAMPLES = 61, FEWEST = 15, TRIES = 600, READINGS = 60, LINKS = 10000, LEAST = 40000 };
static const double AGREE = 0.02, ALONE = 1.04;

// No size is a multiple of 4 KiB, so that neighbours do not begin at the same place within a page.
static alignas(64) uint8_t bytes[8192 + 64], bytes2[8192 + 128];
static alignas(64) char text[4096 + 192], digits[4096 + 256];
static alignas(64) char runs[4096 + 320];
static alignas(64) uint32_t words[4096 + 80], numbers[4096 + 96];
static alignas(64) int32_t sorted[1024 + 112];
static alignas(64) float floats[4096 + 128], floats2[4096 + 144], filter[16];
static alignas(64) double doubles[1024 + 80], doubles2[1024 + 88], doubles3[1024 + 96], force[8];
static alignas(64) uint64_t heap[1024 + 104];
static alignas(64) struct { int next, value; } nodes[2000];
static long r;

static uint32_t random_bits(void) {
  static uint64_t state = 88172645463325252;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state >> 20;
}

static int compare_doubles(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

static int compare_numbers(const void *a, const void *b) {
  int x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void fill(void) {
  static const char *const letters = "etaoin shrdlu \n\xc3\xa4";
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = random_bits(), bytes2[i] = random_bits();
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = letters[random_bits() % 17];
  for (size_t i = 0; i < sizeof digits; i++)
    digits[i] = "0123456789abcdef"[random_bits() % 16];
  for (size_t i = 0; i < sizeof runs; i++)
    runs[i] = i && random_bits() % 8 ? runs[i - 1] : (char)random_bits();
  for (size_t i = 0; i < 4096; i++)
    numbers[i] = random_bits() >> 1, floats[i] = random_bits() % 4096 / 1024.0f - 1;
  for (size_t i = 0; i < 1024; i++) {
    doubles[i] = 1 + random_bits() % 4096 / 4096.0, doubles2[i] = 1 + random_bits() % 4096 / 4096.0;
    doubles3[i] = 1 + random_bits() % 4096 / 4096.0;
    sorted[i] = random_bits() >> 1, heap[i] = (uint64_t)i << 22;
  }
  qsort(sorted, 1023, sizeof *sorted, compare_numbers);
  for (int i = 0; i < 15; i++)
    filter[i] = (float[]){0.2f, 0.4f, 0.2f, -0.4f, 0.2f}[i % 5];
  for (int i = 0; i < 2000; i++) // a list that visits the nodes in another order than that of memory
    nodes[i * 37 % 2000].next = i < 1999 ? (i + 1) * 37 % 2000 : -1, nodes[i].value = i;
}

static uint64_t now(void) {
  unsigned processor;
  _mm_lfence();
  uint64_t time = __rdtscp(&processor);
  _mm_lfence();
  return time;
}

static double empty; // the time that reading the clock twice takes
static double alone; // a crowd's time in times of a chain, on a core of its own

static double since(uint64_t start) { return now() - start - empty; }

static double chain(void) {
  long value = 1;
  uint64_t start = now();
  for (int i = 0; i < LINKS / 100; i++)
    __asm__ volatile(".rept 100\n\taddq %0, %0\n\t.endr" : "+r"(value));
  return since(start);
}

static double crowd(void) {
  long a = 1, b = 1, c = 1, d = 1;
  uint64_t start = now();
  for (int i = 0; i < LINKS / 100; i++)
    __asm__ volatile(".rept 25\n\taddq %0, %0\n\tnop\n\taddq %1, %1\n\tnop\n\taddq %2, %2\n\tnop\n\t"
                     "addq %3, %3\n\tnop\n\t.endr" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  return since(start);
}

static void calibrate(void) {
  enum { ROWS = 4000 };
  static double crowds[ROWS], chains[ROWS], clocks[ROWS];
  for (int i = 0; i < ROWS; i++)
    clocks[i] = now(), clocks[i] = now() - clocks[i];
  qsort(clocks, ROWS, sizeof *clocks, compare_doubles);
  empty = clocks[ROWS / 8];
  for (int i = 0; i < ROWS; i++)
    crowds[i] = crowd(), chains[i] = chain();
  qsort(crowds, ROWS, sizeof *crowds, compare_doubles);
  qsort(chains, ROWS, sizeof *chains, compare_doubles);
  alone = crowds[2] / chains[2];
}

// Return the cycles of a call, and in *fair if the core seems to have had no other thread.
static double sample(int calls, int *fair) {
  double before = crowd(), first = chain();
  uint64_t start = now();
  for (int i = 0; i < calls; i++) {
    __asm__ volatile("" ::: "memory");
    CALL;
  }
  double time = since(start) / calls, second = chain(), after = crowd();
  double least = first < second ? first : second;
  *fair = before <= ALONE * alone * least && after <= ALONE * alone * least;
  return time * LINKS / least;
}

// Return the cycles of a call, and in *fair if enough samples were undisturbed.
static double reading(int calls, int *fair) {
  double all[TRIES], kept[SAMPLES];
  int tries = 0, count = 0;
  while (tries < TRIES && count < SAMPLES) {
    int undisturbed;
    all[tries] = sample(calls, &undisturbed);
    if (undisturbed)
      kept[count++] = all[tries];
    tries++;
  }
  *fair = count >= FEWEST;
  double *values = *fair ? kept : all;
  int size = *fair ? count : tries;
  qsort(values, size, sizeof *values, compare_doubles);
  return values[size / 8];
}

int main(void) {
  fill();
  calibrate();
  for (int i = 0; i < 20; i++)
    CALL;
  printf("%ld %ld ", (long)(ELEMENTS), (long)(TRIPS));
  int fair, was_fair = 0;
  int calls = 1 + (int)(LEAST / reading(1, &fair));
  double last = 0, best = 0;
  for (int i = 1; i <= READINGS; i++) {
    double next = reading(calls, &fair), less = next < last ? next : last;
    if (fair && was_fair && next - less <= AGREE * less && last - less <= AGREE * less) {
      printf("%f %d\n", (next + last) / 2, i);
      return 0;
    }
    best = best && best < next ? best : next;
    last = next;
    was_fair = fair;
    if (!fair)
      usleep(20000);
  }
  printf("%f 0\n", best);
}
