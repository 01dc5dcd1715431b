internal import ArgumentParser
internal import Foundation

/// Where a running stack is: the API, the emulator's control API, and its inbox.
struct StackAddresses: Sendable, Equatable {
    let api: URL
    let emulator: URL
    let inbox: String

    /// Reads the environment, or the file that `make up` has written.
    ///
    /// - Parameter run: The folder of `make up`; it counts before the environment, as in deploy/local/demo.sh.
    static func find(
        in run: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> StackAddresses {
        let file = "\(run)/stack.env"
        let values = (try? String(contentsOfFile: file, encoding: .utf8)).map(settings) ?? environment
        guard let api = values["IDENTITY_API_URL"].flatMap(address), let emulator = values["FCM_URL"].flatMap(address) else {
            throw ValidationError("Nothing runs here (no \(file), and no IDENTITY_API_URL and FCM_URL): run 'make up'.")
        }
        return StackAddresses(api: api, emulator: emulator, inbox: values["INBOX_URL"] ?? "\(emulator.absoluteString)/inbox")
    }

    /// The lines `NAME=VALUE` of a file; the values may be quoted.
    static func settings(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            values[String(parts[0])] = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"'"))
        }
        return values
    }

    private static func address(_ text: String) -> URL? {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        return URL(string: text).flatMap { $0.host == nil ? nil : $0 }
    }
}
