#pragma once
#include <libpq-fe.h>
// For the loop that watches libpq's sockets: glibc's module map leaves these headers out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

/// Names the calling thread, for debuggers and top; prctl is variadic, which Swift cannot call.
static inline void heliograph_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}
