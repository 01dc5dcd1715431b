import CSeccomp
import Foundation
import TestSupport
import Testing

@testable import Sandbox

/// Holds the system calls that a process may make in the sandbox to a list, and has the kernel show that it makes no others.
@Suite struct SandboxPolicyTests {
    /// The calls that may be made with any arguments. A call is added here only with a reason why one who runs code in the process
    /// gains nothing by it.
    private static let free: Set = [
        "brk", "clock_gettime", "exit", "exit_group", "futex", "getpid", "getrandom", "gettid", "madvise", "mremap", "munmap",
        "restart_syscall", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_getattr", "sched_yield",
        "set_robust_list", "sigaltstack",
    ]

    /// The calls that may be made with some arguments.
    private static let conditional: Set = [
        "read: a0 & ffffffffffffffff = 0",
        "write: a0 & ffffffffffffffff = 1",
        "write: a0 & ffffffffffffffff = 2",
        "mmap: a2 & 4 = 0, a3 & 20 = 20",
        "mprotect: a2 & 4 = 0",
        "clone: a0 & ffffffffffffffff = 3d0f00",
        "prctl: a0 & ffffffffffffffff = f",
        "tgkill: a0 & ffffffffffffffff = the process",
    ]

    private static func run(_ arguments: [String]) async throws -> [String] {
        try await CommandLineTool.run([try PackageRoot.executable("hostile-decoder")] + arguments).split(separator: "\n").map(String.init)
    }

    /// Has each of some calls made in a sandbox, and returns those that were made.
    private static func made(_ calls: [String]) async throws -> Set<String> {
        let outcomes = try await run(["probe"] + calls)
        #expect(outcomes.count == calls.count && Set(outcomes).isSubset(of: ["made", "ended"]), "\(outcomes)")
        return Set(zip(calls, outcomes).filter { $1 == "made" }.map(\.0))
    }

    @Test func `the policy is the list of this test`() {
        #expect(Set(SandboxPolicy.free) == Self.free)
        let rules = SandboxPolicy.conditional.map { call, conditions in
            let conditions = conditions.map {
                let value = call == "tgkill" && $0.value == UInt64(getpid()) ? "the process" : String($0.value, radix: 16)
                return "a\($0.argument) & \(String($0.mask, radix: 16)) = \(value)"
            }
            return "\(call): \(conditions.joined(separator: ", "))"
        }
        #expect(Set(rules) == Self.conditional)
    }

    @Test func `of all calls that the kernel may have, those of the list alone are made`() async throws {
        // All arguments are 0: a call with conditions that 0 does not meet ends the process, too.
        let expected = Self.free.union(["read", "mprotect"]).map { "\($0) made" } + ["clone3 ENOSYS"]
        // Linux shows its own returns from probes to no filter. They end a process that is not in one.
        let unfiltered: Set = ["call 335 made", "uretprobe made", "call 336 made", "uprobe made"]
        #expect(Set(try await Self.run(["survivors"])).subtracting(unfiltered) == Set(expected))
    }

    @Test func `each call that one who runs code in the process would want ends it`() async throws {
        #expect(
            try await Self.made([
                "kill parent 0", "kill self 9", "kill -1 0", "tkill self 0", "rt_sigqueueinfo parent 0", "pidfd_open parent 0",
                "execve 0 0 0", "execveat 3 0 0 0 0", "unshare 0", "setns 0 0", "ptrace 16 0 0 0", "kcmp 1 parent 0 0 0",
                "process_vm_readv parent 0 0 0 0 0", "process_vm_writev parent 0 0 0 0 0", "fcntl 0 0 0", "fcntl 1 3 0", "ioctl 1 0",
                "dup 1", "dup3 1 5 0", "close 0", "sendfile 1 0 0 0", "splice 0 0 1 0 0 0", "io_uring_setup 1 0", "io_setup 1 0",
                "memfd_create 0 0", "memfd_secret 0", "userfaultfd 0", "bpf 0 0 0", "perf_event_open 0 0 0 0 0", "seccomp 0 0 0",
                "socket 1 1 0", "socketpair 1 1 0 0", "openat 0 0 0 0", "openat2 0 0 0 0", "mount 0 0 0 0 0", "init_module 0 0 0",
                "setuid 0", "prlimit64 0 0 0 0", "shmget 0 0 0", "mq_open 0 0 0 0", "keyctl 0", "add_key 0 0 0 0 0", "personality 0",
                "pkey_mprotect 0 0 4 0",
            ]) == [])
    }

    #if arch(x86_64)
        @Test func `the calls of the processor's other interfaces end the process`() async throws {
            // getpid, by the numbers of both.
            #expect(try await Self.made(["32-bit 20", "x32 39", "x32 0"]) == [])
        }
    #endif

    @Test func `the process reads from its standard input, and writes to its standard output and error alone`() async throws {
        let descriptors = ["0", "1", "2", "3", "4294967296", "4294967297", "-1"]
        #expect(try await Self.made(descriptors.map { "read \($0)" }) == ["read 0"])
        #expect(try await Self.made(descriptors.map { "write \($0)" }) == ["write 1", "write 2"])
    }

    @Test func `memory is of no file, and is never executable`() async throws {
        for flags in [0, 0x01, 0x02, 0x10, 0x20, 0x21, 0x22, 0x32] {
            let calls = (0..<8).map { "mmap 0 4096 \($0) \(flags) -1 0" }
            #expect(try await Self.made(calls) == Set(flags & 0x20 == 0 ? [] : calls[..<4]), "flags \(flags)")
        }
        let changes = (0..<8).flatMap { ["mprotect 0 0 \($0)", "mprotect 0 4096 \($0 | 0x0100_0000)"] }
        #expect(try await Self.made(changes) == Set(changes[..<8]))
    }

    @Test func `the process starts threads, and no process or namespace`() async throws {
        let thread: UInt64 = 0x3D0F00
        let others = (0..<34).map { thread ^ (1 << $0) } + [0, 17, 0x4111]
        #expect(try await Self.made(others.map { "clone \($0)" }) == [])
    }

    @Test func `the process gives its threads names, and changes nothing else of itself`() async throws {
        let options = Array(0...80) + [0x5356_4D41, 0x5961_6D61, 0x4155_5856]
        #expect(try await Self.made(options.map { "prctl \($0)" }) == ["prctl 15"])
    }

    @Test func `the process sends signals to itself alone`() async throws {
        let calls = [
            "tgkill self self 0", "tgkill self+2^32 self 0", "tgkill parent parent 0", "tgkill 1 1 0", "tgkill -1 1 0", "tgkill 0 1 0",
        ]
        #expect(try await Self.made(calls) == ["tgkill self self 0"])
    }
}
