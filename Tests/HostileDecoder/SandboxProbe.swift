import CSeccomp
import CSystemCalls
import Foundation
import Sandbox

/// Makes a system call in the sandbox, in a process of its own, and prints its outcome.
enum SandboxProbe {
    /// More than any architecture has.
    private static let numbers = 0..<600
    /// The seconds after which a call that waits is taken for one that was made.
    private static let patience: UInt32 = 5

    /// Prints the calls of the kernel that do not end the process when all their arguments are 0, and what becomes of them.
    static func printSurvivors() {
        for number in numbers {
            let name = seccomp_syscall_resolve_num_arch(UInt32(SCMP_ARCH_NATIVE), Int32(number)).map { name in
                defer { free(name) }
                return String(cString: name)
            }
            let outcome = outcome { csystemcalls_make(number, [0, 0, 0, 0, 0, 0]) }
            if outcome != "ended" { print(name ?? "call \(number)", outcome) }
        }
    }

    /// Prints what becomes of a call that is given by its name and its arguments, such as `kill parent 0`.
    static func printOutcome(of call: String) {
        let words = call.split(separator: " ").map(String.init)
        let parent = getpid()
        let number = seccomp_syscall_resolve_name(words[0])
        guard number >= 0 || ["32-bit", "x32"].contains(words[0]) else { return print("unknown") }
        print(
            outcome {
                let arguments = words.dropFirst().map { value(of: $0, parent: parent) } + [0, 0, 0, 0, 0, 0]
                #if arch(x86_64)
                    if words[0] == "32-bit" { return csystemcalls_make_32_bit(Int32(arguments[0])) }
                    if words[0] == "x32" { return csystemcalls_make(Int(csystemcalls_x32 | arguments[0]), [0, 0, 0, 0, 0, 0]) }
                #endif
                return csystemcalls_make(Int(number), Array(arguments.prefix(6)))
            })
    }

    private static func value(of word: String, parent: pid_t) -> UInt {
        switch word {
        case "self": UInt(getpid())
        // As a number of 64 bits: the kernel reads 32 of them.
        case "self+2^32": UInt(getpid()) | 1 << 32
        case "parent": UInt(parent)
        default: UInt(word) ?? UInt(bitPattern: Int(word) ?? 0)
        }
    }

    /// Forks, because a filter cannot be left and a forbidden call ends the process.
    private static func outcome(of call: () -> Int32) -> String {
        // What is buffered would be printed by both.
        fflush(nil)
        let child = csystemcalls_fork()
        if child == 0 {
            alarm(patience)
            guard Sandbox.limitResources(memory: 64 << 20), Sandbox.enter() == .entered else { _exit(EX_USAGE) }
            _exit(call())
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let (signal, code) = (status & 0x7F, (status >> 8) & 0xFF)
        if signal == SIGSYS { return "ended" }
        if signal == 0, code == EX_USAGE { return "no sandbox" }
        return signal == 0 && code == ENOSYS ? "ENOSYS" : "made"
    }
}
