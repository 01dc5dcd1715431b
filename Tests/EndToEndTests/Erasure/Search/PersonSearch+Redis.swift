import Foundation
import TestSupport

extension PersonSearch {
    /// Searches the names and values of all keys, and opens the sealed texts of the messages in them.
    func inRedis() async throws -> Set<Finding> {
        var found: Set<Finding> = []
        for key in try await stack.redis.cli("--scan").split(separator: "\n").map(String.init) {
            let content = try await value(of: key)
            found.formUnion(findings(in: key, at: "name of Redis key \(key)"))
            found.formUnion(findings(in: content, at: "Redis key \(key)"))
            found.formUnion(inSealedTexts(of: content, at: "Redis key \(key)"))
        }
        return found
    }

    private func value(of key: String) async throws -> String {
        let redis = stack.redis
        return switch try await redis.cli("--raw", "TYPE", key).trimmingCharacters(in: .whitespacesAndNewlines) {
        case "stream": try await redis.cli("--raw", "XRANGE", key, "-", "+")
        case "hash": try await redis.cli("--raw", "HGETALL", key)
        case "zset": try await redis.cli("--raw", "ZRANGE", key, "0", "-1")
        case "set": try await redis.cli("--raw", "SMEMBERS", key)
        case "list": try await redis.cli("--raw", "LRANGE", key, "0", "-1")
        default: try await redis.cli("--raw", "GET", key)
        }
    }

    /// Searches the bytes of a new snapshot and of the append-only file after a rewrite: these have deleted messages as well whose node of
    /// the stream is not empty.
    func inFilesOfRedis() async throws -> Set<Finding> {
        let redis = stack.redis
        // In a compressed string nothing would be found.
        try await redis.cli("CONFIG", "SET", "rdbcompression", "no")
        try await redis.cli("SAVE")
        try await rewriteAppendOnlyFile()
        guard let snapshot = FileTree.bytes(of: redis.path + "/dump.rdb"), !FileTree.files(below: redis.path + "/appendonlydir").isEmpty
        else { throw DeadlineExceeded(description: "Redis has written no files") }
        return findings(in: snapshot, at: "RDB").union(try findings(below: redis.path + "/appendonlydir") { _ in "AOF" })
    }

    private func rewriteAppendOnlyFile() async throws {
        let redis = stack.redis
        func isIdle() async throws -> Bool {
            let info = try await redis.cli("INFO", "persistence")
            return info.contains("aof_rewrite_in_progress:0") && info.contains("aof_rewrite_scheduled:0")
        }
        try await eventually("no rewrite is under way", isTrue: isIdle)
        try await redis.cli("BGREWRITEAOF")
        try await eventually("the append-only file is rewritten", isTrue: isIdle)
        guard try await redis.cli("INFO", "persistence").contains("aof_last_bgrewrite_status:ok") else {
            throw DeadlineExceeded(description: "the append-only file was not rewritten")
        }
    }
}
