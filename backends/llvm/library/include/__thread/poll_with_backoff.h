/* How threads wait in libc++: for an atomic object, a latch, a barrier, a semaphore. Instead of trying some dozens of
   times, looking at the clock and sleeping, a thread tries, and then waits until somebody notifies those who wait for
   the object. Who waits for some time alone gets it at once or gives up. */
#ifndef SYNTH_POLL_WITH_BACKOFF
#define SYNTH_POLL_WITH_BACKOFF

#define __libcpp_thread_poll_with_backoff __libcpp_thread_poll_with_clock
#include_next <__thread/poll_with_backoff.h>
#undef __libcpp_thread_poll_with_backoff

extern "C" unsigned* __synth_notified(void const volatile* object); /* how often those who wait for it were notified */
extern "C" void __synth_assumes(char const* what);

_LIBCPP_BEGIN_NAMESPACE_STD

template <class Poll, class Backoff>
auto __libcpp_thread_poll_with_backoff(Poll&& poll, Backoff&& backoff,
                                       chrono::nanoseconds limit = chrono::nanoseconds::zero())
    -> decltype(std::__libcpp_thread_poll_with_clock(poll, backoff, limit)) {
  using Result = decltype(std::__libcpp_thread_poll_with_clock(poll, backoff, limit));
  if (limit != chrono::nanoseconds::zero()) {
    __synth_assumes("who waits for something for some time gets it or gives up at once");
    return poll() ? Result::__poll_success : Result::__timeout;
  }
  unsigned* word = __synth_notified(__builtin_addressof(backoff.__a_));
  unsigned count = word ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
  while (!poll()) {
    if (!word)
      continue;
    unsigned before = count;
    while ((count = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == before) {
    }
  }
  return Result::__poll_success;
}

_LIBCPP_END_NAMESPACE_STD

#endif
