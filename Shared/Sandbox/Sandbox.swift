#if canImport(Glibc)
    internal import CSeccomp
    internal import Glibc
#endif

/// Removes from the calling process, for good, all permissions beyond computing on bytes from its standard input.
///
/// Afterwards the process can neither open a file, nor create a socket, nor start a program or a process, nor make memory executable.
/// An attempt ends it by `SIGSYS`. It can read from its standard input, write to its standard output and error, allocate memory, and
/// start threads. ``SandboxPolicy`` lists the allowed system calls.
public enum Sandbox {
    /// The result of an entry.
    public enum Outcome: Sendable, Equatable {
        /// The filter is in force for all threads.
        case entered
        /// The system has no such filter; the reason is for the log.
        case unsupported(reason: String)
    }

    /// Installs the filter for all threads of the process, present and future.
    public static func enter() -> Outcome {
        #if canImport(Glibc)
            // libseccomp's level 3 is the first with an action that ends the whole process instead of a thread.
            guard seccomp_api_get() >= 3 else { return .unsupported(reason: "the kernel cannot filter system calls by process") }
            // A crash handler, such as that of Swift's runtime, looks at files, and the crash would count as a forbidden call.
            for crash in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(crash, SIG_DFL) }
            guard let filter = seccomp_init(cseccomp_kill_process) else { return .unsupported(reason: "no filter can be created") }
            defer { seccomp_release(filter) }
            let status = SandboxPolicy.install(in: filter)
            guard status == 0 else { return .unsupported(reason: "the kernel refuses the filter (\(String(cString: strerror(-status))))") }
            return .entered
        #else
            return .unsupported(reason: "only Linux has seccomp")
        #endif
    }

    /// Limits the resources of the process: no new file descriptors, no core dump, and a limit of memory. These limits also apply where
    /// there is no filter.
    ///
    /// - Parameter memory: The bytes of address space that the process may map in addition to its present mappings.
    /// - Returns: Whether all limits are in force.
    public static func limitResources(memory: Int) -> Bool {
        #if canImport(Glibc)
            guard cseccomp_forbid_dumps() == 0, let mapped = mappedBytes() else { return false }
            let limits = [(RLIMIT_AS, mapped + memory), (RLIMIT_NOFILE, 3), (RLIMIT_CORE, 0), (RLIMIT_FSIZE, 0)]
            return limits.allSatisfy { resource, value in
                var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
                return setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
            }
        #else
            return true
        #endif
    }

    #if canImport(Glibc)
        /// The bytes of address space that the process has mapped (proc(5), `statm`).
        private static func mappedBytes() -> Int? {
            guard let file = fopen("/proc/self/statm", "re") else { return nil }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 128)
            guard fgets(&line, Int32(line.count), file) != nil else { return nil }
            let pages = strtol(line, nil, 10)
            return pages > 0 ? pages * sysconf(Int32(_SC_PAGESIZE)) : nil
        }
    #endif
}
