#pragma once

// seccomp exists on Linux only. The calls of prctl(2) are here, because Swift cannot call variadic functions.
#if defined(__linux__)
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/prctl.h>

/* Forbids other processes of the same user to read the memory of this one, and its dump. Returns 0, or -1 with errno. */
static inline int cseccomp_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* The flags by which glibc starts a thread. A process, or a namespace, has others. */
static const unsigned long cseccomp_thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM
    | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

/* The macros of libseccomp that Swift does not import. */
static const unsigned int cseccomp_kill_process = SCMP_ACT_KILL_PROCESS;
static const unsigned int cseccomp_allow = SCMP_ACT_ALLOW;
static const unsigned int cseccomp_no_such_call = SCMP_ACT_ERRNO(38 /* ENOSYS */);
#endif
