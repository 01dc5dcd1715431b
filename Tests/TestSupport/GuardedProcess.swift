public import Foundation
import Synchronization

/// A server of a test that cannot outlive the test process, however that ends.
///
/// A small shell, the guardian, is the server's parent: it holds one end of a socket pair whose other end only the test process
/// has, and kills the server when that closes, by ``stop(signal:patience:)``, a crash or `kill -9`.
public final class GuardedProcess: Sendable {
    /// The process id of the server itself.
    public let pid: pid_t
    private let log: String
    private let guardian: pid_t
    private let lifeline: Mutex<FileHandle?>

    // The log is created before the pid is printed, because a test may read it before the server's own redirection creates it.
    private static let script = """
        log=$1; shift; : >>"$log"; "$@" </dev/null >>"$log" 2>&1 & echo $!; exec >/dev/null 2>&1; read -r _; kill -9 $!; wait
        """

    /// Starts `command` with its output appended to the file `log`.
    public init(_ command: [String], log: String, environment: [String: String] = [:]) throws {
        let lifeline = try Self.makePair()
        let announcement = try Self.makePair()
        guardian = try Self.spawn(
            ["/bin/sh", "-c", Self.script, "guardian", log] + command, standardInput: lifeline.reading,
            standardOutput: announcement.writing,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        try lifeline.reading.close()
        try announcement.writing.close()
        let line = String(decoding: announcement.reading.availableData, as: UTF8.self)
        guard let pid = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CommandLineTool.Failure(command: command, exitCode: -1, output: "the guardian did not say a pid: \(line)")
        }
        self.pid = pid
        self.log = log
        self.lifeline = Mutex(lifeline.writing)
    }

    deinit { release() }

    /// Whether the server is still running.
    public var isRunning: Bool {
        // The guardian collects the exit code only when its lifeline closes, so a dead server stays as a zombie until then.
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
        return stat.split(separator: ")").last?.hasPrefix(" Z") == false
    }

    /// Waits until a condition of a server that has just been started is true.
    ///
    /// - Throws: ``DeadlineExceeded``, with the end of the server's log, after two minutes or when the server has ended.
    public func waitUntil(_ what: String, isTrue condition: () async throws -> Bool) async throws {
        do {
            try await eventually(
                what,
                isTrue: {
                    if try await condition() { return true }
                    guard isRunning else { throw DeadlineExceeded(description: "it has ended before \(what)") }
                    return false
                })
        } catch let error as DeadlineExceeded {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            let tail = text.split(separator: "\n").suffix(10).joined(separator: "\n  ")
            throw DeadlineExceeded(description: "\(error), its log:\n  \(tail)")
        }
    }

    /// Sends a signal to the server, unless it was stopped: its pid may belong to another process by then.
    public func signal(_ number: Int32) {
        lifeline.withLock { if $0 != nil { _ = kill(pid, number) } }
    }

    /// Stops the server by `signal` and waits until it has ended; after `patience` it is killed.
    public func stop(signal number: Int32 = 15, patience: Duration = .seconds(60)) async {
        signal(number)
        let deadline = ContinuousClock.now + patience
        while isRunning, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
        release()
    }

    /// Closes the lifeline and waits for the guardian, which ends within milliseconds.
    private func release() {
        let handle = lifeline.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let handle else { return }
        try? handle.close()
        waitpid(guardian, nil, 0)
    }

    /// Starts a program with no signal blocked or ignored, and with no open file except the three standard ones; returns its pid.
    ///
    /// Foundation's `Process` passes on the signal mask of the calling thread, and Dispatch's threads block every signal: a server
    /// started that way would never receive its SIGTERM.
    public static func spawn(
        _ command: [String], standardInput: FileHandle, standardOutput: FileHandle, standardError: FileHandle? = nil,
        environment: [String: String]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput.fileDescriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, standardOutput.fileDescriptor, 1)
        if let standardError { posix_spawn_file_actions_adddup2(&actions, standardError.fileDescriptor, 2) }
        // NIO's sockets are not closed on exec: a child would keep the connections and listeners of tests open after their end.
        // All descriptors are closed, not only those in use, because another thread may open one before the child is created.
        // (closefrom is not available in Swift.)
        for descriptor in 3..<Int32(min(sysconf(Int32(_SC_OPEN_MAX)), 4096)) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var arguments = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        return pid
    }

    private static func makePair() throws -> (reading: FileHandle, writing: FileHandle) {
        var descriptors: [Int32] = [-1, -1]
        // Sockets can be created with close-on-exec; a pipe gets it only after its creation, too late for a child that another
        // thread starts in between: that child would hold the lifeline of another server.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else { throw POSIXError(.EMFILE) }
        return (
            FileHandle(fileDescriptor: descriptors[0], closeOnDealloc: true),
            FileHandle(fileDescriptor: descriptors[1], closeOnDealloc: true)
        )
    }
}
