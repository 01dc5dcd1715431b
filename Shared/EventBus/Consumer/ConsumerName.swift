import FoundationEssentials

/// The name of a consumer; unique for each start of a process, so that two processes never share pending entries.
enum ConsumerName {
    static func make(service: String) -> String {
        let process = ProcessInfo.processInfo
        return "\(service):\(process.hostName):\(process.processIdentifier):\(UUID().uuidString.prefix(8).lowercased())"
    }
}
