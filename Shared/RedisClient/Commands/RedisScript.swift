import Synchronization

/// A Lua script that is sent once and then called by its hash.
public final class RedisScript: Sendable {
    /// The text of the script.
    public let source: String
    /// The hash of the script, the same on every server because it depends on the text alone.
    private let hash = Mutex<String?>(nil)

    /// Creates a script; make one for each script of the program, not one for each call.
    public init(_ source: String) {
        self.source = source
    }

    /// Returns the call of the script, for a pipeline; nil until ``RedisCommandSender/eval(_:keys:arguments:timeout:)`` has run it
    /// once.
    ///
    /// The reply may be ``RedisServerErrorCode/noScript``: the server does not have the script any more, and `eval` sends it again.
    public func command(keys: [String], arguments: [any RedisArgument]) -> RedisCommand? {
        guard let hash = knownHash else { return nil }
        return RedisCommand("EVALSHA", arguments: [hash, keys.count] + keys as [any RedisArgument] + arguments)
    }

    fileprivate var knownHash: String? { hash.withLock { $0 } }

    fileprivate func storeHash(_ text: String) {
        hash.withLock { $0 = text }
    }
}

extension RedisCommandSender {
    /// Runs a script.
    ///
    /// Sends the text of the script when the server does not have it, for instance after a restart.
    ///
    /// - Parameters:
    ///   - keys: The keys that the script touches, its `KEYS`.
    ///   - arguments: Its `ARGV`.
    public func eval(
        _ script: RedisScript, keys: [String] = [], arguments: [any RedisArgument] = [], timeout: Duration? = nil
    ) async throws(RedisError) -> RedisReply {
        let tail = [keys.count] as [any RedisArgument] + keys as [any RedisArgument] + arguments
        let hash = try await hash(of: script, timeout: timeout)
        do throws(RedisError) {
            return try await send(RedisCommand("EVALSHA", arguments: [hash] + tail), timeout: timeout)
        } catch {
            guard error.code == .server(.noScript) else { throw error }
            return try await send(RedisCommand("EVAL", arguments: [script.source] + tail), timeout: timeout)
        }
    }

    private func hash(of script: RedisScript, timeout: Duration?) async throws(RedisError) -> String {
        if let hash = script.knownHash { return hash }
        let reply = try await send(RedisCommand("SCRIPT", "LOAD", script.source), timeout: timeout)
        guard let hash = reply.string else { throw RedisError.unexpected(reply, "the hash of a script") }
        script.storeHash(hash)
        return hash
    }
}
