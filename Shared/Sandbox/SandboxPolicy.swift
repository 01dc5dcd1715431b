#if canImport(Glibc)
    internal import CSeccomp
    internal import Glibc

    /// The system calls that a process may make in the sandbox; every other one ends it.
    enum SandboxPolicy {
        /// A condition on an argument of a call; only the bits of `mask` are compared.
        struct Condition {
            let argument: UInt32
            var mask = UInt64.max
            let value: UInt64
        }

        /// Calls without conditions: memory that exists, time, waiting, signals to the thread itself, the ends of threads and the process.
        static let free = [
            "brk", "munmap", "mremap", "madvise", "futex", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity",
            "sched_getattr", "clock_gettime", "getrandom", "getpid", "gettid",
            "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "exit", "exit_group",
        ]

        static let conditional: [(call: String, conditions: [Condition])] = [
            ("read", [Condition(argument: 0, value: 0)]),
            ("write", [Condition(argument: 0, value: 1)]),
            // libde265 reports the faults of a damaged file on the standard error.
            ("write", [Condition(argument: 0, value: 2)]),
            // Memory of no file, which is not executable.
            (
                "mmap",
                [
                    Condition(argument: 2, mask: UInt64(PROT_EXEC), value: 0),
                    Condition(argument: 3, mask: UInt64(MAP_ANONYMOUS), value: UInt64(MAP_ANONYMOUS)),
                ]
            ),
            ("mprotect", [Condition(argument: 2, mask: UInt64(PROT_EXEC), value: 0)]),
            ("clone", [Condition(argument: 0, value: UInt64(cseccomp_thread))]),
            // The name of a thread.
            ("prctl", [Condition(argument: 0, value: UInt64(PR_SET_NAME))]),
            // `abort` of the process itself.
            ("tgkill", [Condition(argument: 0, value: UInt64(getpid()))]),
        ]

        /// Adds the rules to a filter that ends the process, and loads it into the kernel for all threads.
        ///
        /// - Returns: 0, or the negative number of the error.
        static func install(in filter: scmp_filter_ctx) -> Int32 {
            var status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1)
            if status == 0 { status = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, cseccomp_kill_process) }
            for call in free where status == 0 { status = allow(call, [], in: filter) }
            for (call, conditions) in conditional where status == 0 { status = allow(call, conditions, in: filter) }
            // Its flags are in memory that a filter cannot read. glibc then uses `clone`.
            if status == 0 {
                status = seccomp_rule_add_array(filter, cseccomp_no_such_call, seccomp_syscall_resolve_name("clone3"), 0, nil)
            }
            return status == 0 ? seccomp_load(filter) : status
        }

        private static func allow(_ call: String, _ conditions: [Condition], in filter: scmp_filter_ctx) -> Int32 {
            let comparisons = conditions.map {
                scmp_arg_cmp(arg: $0.argument, op: SCMP_CMP_MASKED_EQ, datum_a: $0.mask, datum_b: $0.value)
            }
            return seccomp_rule_add_array(
                filter, cseccomp_allow, seccomp_syscall_resolve_name(call), UInt32(comparisons.count), comparisons)
        }
    }
#endif
