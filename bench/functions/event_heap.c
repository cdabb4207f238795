#include <stddef.h>
#include <stdint.h>

// Reschedule the earliest event of a binary heap for each delay, and return how many levels events sank.
size_t event_heap(uint64_t *heap, size_t size, const uint32_t *delays, size_t count) {
  size_t levels = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t time = heap[0] + delays[i];
    size_t hole = 0, child;
    while ((child = 2 * hole + 1) < size) {
      if (child + 1 < size && heap[child + 1] < heap[child])
        child++;
      if (time <= heap[child])
        break;
      heap[hole] = heap[child];
      hole = child;
      levels++;
    }
    heap[hole] = time;
  }
  return levels;
}
