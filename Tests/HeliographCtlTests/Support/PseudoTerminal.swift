import Foundation
import Synchronization
import TestSupport

/// A pseudo-terminal in which a program runs.
final class PseudoTerminal: Sendable {
    private let master: FileHandle
    private let slave: FileHandle
    private let output = Mutex(Output())
    private struct Output {
        var bytes: [UInt8] = []
        var waiter: Waiter?

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// A test that waits for output.
    private struct Waiter {
        let isMet: @Sendable (String) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    /// `TIOCSPTLCK` and `TIOCGPTN` of ioctl_tty(2).
    private static let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
    /// The process id of the program.
    let pid: pid_t

    /// Opens a terminal with a size and starts a program in it.
    init(_ command: [String], columns: UInt16, rows: UInt16, environment: [String: String]) throws {
        // Equivalent to posix_openpt, unlockpt and ptsname, which Glibc's module does not export to Swift.
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: UInt32 = 0
        guard ioctl(descriptor, Self.setLock, &lock) == 0, ioctl(descriptor, Self.getNumber, &number) == 0 else {
            throw POSIXError(.ENOTTY)
        }
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { throw POSIXError(.ENOTTY) }
        master = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        slave = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
        Self.resize(descriptor, columns, rows)
        pid = try GuardedProcess.spawn(
            command, standardInput: slave, standardOutput: slave, standardError: slave,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        // The thread holds the master as well: its descriptor must not be reused while it is read from.
        Thread.detachNewThread { [weak self, master] in
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(master.fileDescriptor, &bytes, bytes.count)
                guard count > 0, let self else { return }
                self.append(bytes.prefix(count))
            }
        }
    }

    /// All output of the program so far.
    var text: String { output.withLock { $0.text } }

    /// Waits until the output meets a condition; one test at a time.
    func waitForOutput(until isMet: @escaping @Sendable (String) -> Bool) async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                output.withLock { output in
                    output.waiter = Waiter(isMet: isMet, continuation: continuation)
                    Self.wake(&output, always: Task.isCancelled)
                }
            }
        } onCancel: {
            output.withLock { Self.wake(&$0, always: true) }
        }
        try Task.checkCancellation()
    }

    private func append(_ bytes: ArraySlice<UInt8>) {
        output.withLock { output in
            output.bytes += bytes
            Self.wake(&output, always: false)
        }
    }

    private static func wake(_ output: inout Output, always: Bool) {
        guard let waiter = output.waiter, always || waiter.isMet(output.text) else { return }
        output.waiter = nil
        waiter.continuation.resume()
    }

    /// The local mode bits of the terminal (`c_lflag`).
    var mode: tcflag_t {
        var attributes = termios()
        tcgetattr(slave.fileDescriptor, &attributes)
        return attributes.c_lflag
    }

    func type(_ text: String) throws { try master.write(contentsOf: Data(text.utf8)) }

    func signal(_ number: Int32) { kill(pid, number) }

    func resize(columns: UInt16, rows: UInt16) {
        Self.resize(master.fileDescriptor, columns, rows)
        // The kernel signals a program only through its controlling terminal.
        signal(SIGWINCH)
    }

    /// Waits for the end of the program and returns its exit code, or 128 + signal if a signal killed it.
    func exitCode() async -> Int32 { await CommandLineTool.exitCode(of: pid) }

    private static func resize(_ descriptor: Int32, _ columns: UInt16, _ rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }
}
