import FoundationEssentials

/// The name of a consumer: unique for each start of a process, so that two of them never share what is pending.
enum ConsumerName {
    static func make(service: String) -> String {
        let process = ProcessInfo.processInfo
        return "\(service):\(process.hostName):\(process.processIdentifier):\(UUID().uuidString.prefix(8).lowercased())"
    }
}
