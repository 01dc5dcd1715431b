#pragma once

// Swift can neither call a variadic function nor fork.
#if defined(__linux__)
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes a system call as it is, without glibc's checks. Returns 0, or the number of the error. */
static inline int csystemcalls_make(long number, const unsigned long arguments[6]) {
    long result = syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    return result == -1 ? errno : 0;
}

/* Only for a process with one thread: its child has no other. */
static inline pid_t csystemcalls_fork(void) { return fork(); }

#if defined(__x86_64__)
/* Makes a call of another of the processor's interfaces. */
static inline int csystemcalls_make_32_bit(int number) {
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
    return result < 0 ? -result : 0;
}
static const unsigned long csystemcalls_x32 = 0x40000000;
#endif
#endif
