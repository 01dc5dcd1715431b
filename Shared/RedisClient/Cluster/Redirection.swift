/// The answer of a server of a cluster that does not have the keys of a command.
struct Redirection: Equatable, Sendable {
    /// Whether the slot is there for good, and not only this command should go there.
    let isMoved: Bool
    let slot: ClusterSlot
    let target: RedisAddress

    /// Reads `MOVED 3999 127.0.0.1:6381` or `ASK …`; nil for any other error.
    ///
    /// - Parameter server: The server that sent it: an address without a host means its own host.
    init?(_ error: RedisError, from server: RedisAddress) {
        guard case .server(let code) = error.code, code.isRedirection else { return nil }
        let words = error.message.split(separator: " ")
        guard words.count > 2, let number = Int(words[1]), (0..<ClusterSlot.count).contains(number),
            let colon = words[2].lastIndex(of: ":"), let port = Int(words[2][words[2].index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        let host = String(words[2][..<colon])
        isMoved = code == .moved
        slot = ClusterSlot(number: number)
        target = RedisAddress(host: host.isEmpty || host == "?" ? server.host : host, port: port)
    }
}
