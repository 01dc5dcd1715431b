/// The failure of a command.
///
/// Messages are safe for logs: they hold neither arguments of commands nor passwords.
public struct RedisError: Error, Sendable {
    /// The kind of failure, for callers to branch on.
    public enum Code: Hashable, Sendable {
        /// The configuration cannot be used.
        case invalidConfiguration
        /// There is no connection, and no connection could be made in time.
        case connectionFailed
        /// The server refused the user name or the password.
        case authenticationFailed
        /// The connection ended before the reply came.
        case connectionLost
        /// The reply did not come within the command's time limit.
        case timeout
        /// The task was cancelled.
        case cancelled
        /// Too many commands, or bytes of commands, wait for their replies.
        case queueFull
        /// The client or the connection was shut down.
        case shutDown
        /// The server sent bytes that are not RESP2.
        case protocolViolation
        /// The server sent a reply beyond the configured limits.
        case replyTooLarge
        /// The reply is not of the kind that the command returns.
        case unexpectedReply
        /// The server answered with an error.
        case server(RedisServerErrorCode)
    }

    /// The kind of the failure, for decisions in code.
    public let code: Code
    /// For the log.
    public let message: String
    /// Whether the server may have executed the command: false means that it certainly has not, so that sending it again cannot
    /// execute it twice.
    public let mayHaveExecuted: Bool
    /// The error that caused this one.
    public let underlying: (any Error)?

    /// Creates an error; `message` is logged, so it must not hold arguments of commands.
    public init(_ code: Code, _ message: String, mayHaveExecuted: Bool = false, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.mayHaveExecuted = mayHaveExecuted
        self.underlying = underlying
    }

    /// Whether the same command may succeed a little later. It does not mean that a retry is safe: see ``mayHaveExecuted``.
    public var isRetryable: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .timeout, .queueFull: true
        case .server(let server): server.isTransient
        default: false
        }
    }

    func with(mayHaveExecuted: Bool) -> RedisError {
        RedisError(code, message, mayHaveExecuted: mayHaveExecuted, underlying: underlying)
    }
}

extension RedisError: CustomStringConvertible {
    /// The code, the message and the cause, for the log.
    public var description: String {
        let cause = underlying.map { ": \($0)" } ?? ""
        return "\(code): \(message)\(cause)"
    }
}

/// The first word of a server's error: an open set, with constants for those that programs handle.
public struct RedisServerErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word as the server sends it, in capitals.
    public let rawValue: String

    /// Creates a code from the first word of a server's error; any word is accepted.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The word as the server sends it.
    public var description: String { rawValue }

    /// Any error without a code of its own.
    public static let err = Self(rawValue: "ERR")
    /// The server is loading its data from disk and does not execute commands yet.
    public static let loading = Self(rawValue: "LOADING")
    /// The server is a replica: the primary is elsewhere.
    public static let readOnly = Self(rawValue: "READONLY")
    /// The server does not have the script; send its text.
    public static let noScript = Self(rawValue: "NOSCRIPT")
    /// The stream or its consumer group does not exist.
    public static let noGroup = Self(rawValue: "NOGROUP")
    /// The consumer group exists already.
    public static let busyGroup = Self(rawValue: "BUSYGROUP")
    /// The key holds a value of another type.
    public static let wrongType = Self(rawValue: "WRONGTYPE")
    /// The server requires a password first.
    public static let noAuth = Self(rawValue: "NOAUTH")
    /// The user name or password is wrong.
    public static let wrongPassword = Self(rawValue: "WRONGPASS")
    /// The user does not have permission for the command.
    public static let noPermission = Self(rawValue: "NOPERM")
    /// The memory limit is reached; only commands that free memory work.
    public static let outOfMemory = Self(rawValue: "OOM")
    /// A script has been running for too long.
    public static let busy = Self(rawValue: "BUSY")
    /// A blocked command was ended because the stream is gone or the server became a replica.
    public static let unblocked = Self(rawValue: "UNBLOCKED")
    /// The replica has no primary to serve from.
    public static let masterDown = Self(rawValue: "MASTERDOWN")
    /// Too few replicas are connected for a write to be accepted.
    public static let noReplicas = Self(rawValue: "NOREPLICAS")
    /// The server cannot write to disk and refuses writes.
    public static let misconfigured = Self(rawValue: "MISCONF")
    /// The cluster is being reconfigured.
    public static let tryAgain = Self(rawValue: "TRYAGAIN")
    /// The cluster is down.
    public static let clusterDown = Self(rawValue: "CLUSTERDOWN")
    /// The keys are on another server of the cluster.
    public static let moved = Self(rawValue: "MOVED")
    /// The keys are on their way to another server of the cluster, which may have them already.
    public static let ask = Self(rawValue: "ASK")
    /// No server sent this: in a pipeline to several servers of a cluster, the one with the command's key could not be reached in time.
    public static let unreachable = Self(rawValue: "UNREACHABLE")
    /// No server sent this: in a pipeline to several servers of a cluster, the one with the command's key was lost before it answered.
    public static let unanswered = Self(rawValue: "UNANSWERED")

    private static let transient: Set<Self> = [
        .loading, .readOnly, .outOfMemory, .busy, .unblocked, .masterDown, .noReplicas, .misconfigured, .tryAgain, .clusterDown,
        .moved, .ask, .unreachable, .unanswered,
    ]

    /// Whether the condition is expected to end without a change of the command.
    public var isTransient: Bool { Self.transient.contains(self) }

    /// Whether this error means that the server refused the command before executing any part of it.
    var meansNotExecuted: Bool { Self.refusals.contains(self) }
    private static let refusals: Set<Self> = [
        .loading, .noScript, .noAuth, .wrongPassword, .busy, .masterDown, .tryAgain, .clusterDown, .moved, .ask, .unreachable,
    ]

    /// Whether the server of the connection does not accept writes any more, so that a new connection should be made.
    var asksForReconnect: Bool { self == .readOnly || self == .masterDown }

    /// Whether another server of the cluster has the keys.
    var isRedirection: Bool { self == .moved || self == .ask }
}

extension RedisError {
    /// Creates the error of an error reply: its first word, when in capitals, is the code.
    init(serverMessage text: String) {
        let word = text.prefix { $0 != " " }
        let isCode = !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") }
        let code = isCode ? RedisServerErrorCode(rawValue: String(word)) : .err
        // "unknown command 'X', with args beginning with: …" would carry the arguments into the log.
        var message = Substring(text)
        if let arguments = text.firstRange(of: ", with args beginning with") { message = text[..<arguments.lowerBound] }
        self.init(.server(code), String(message.prefix(300)), mayHaveExecuted: !code.meansNotExecuted)
    }
}
