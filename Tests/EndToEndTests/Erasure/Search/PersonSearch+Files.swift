import Foundation
import TestSupport

extension PersonSearch {
    /// Searches the folder of the blob store: the names of its files, their bytes, and what is sealed in them. A file that does not open,
    /// such as one of an interrupted write, is a finding.
    func inBlobs() throws -> Set<Finding> {
        var found = try findings(below: stack.blobFolder) { "blob \($0)" }
        for name in FileTree.files(below: stack.blobFolder) {
            // A file that was deleted since it was listed has nothing any more.
            guard let bytes = FileTree.bytes(of: "\(stack.blobFolder)/\(name)") else { continue }
            let folder = name.split(separator: "/").first.map(String.init) ?? name
            if let plain = keys.openObject(bytes, key: name) {
                found.formUnion(findings(in: plain, at: "sealed blob of \(folder)"))
            } else {
                found.insert(Finding(place: "blob \(name)", what: "an object that does not open"))
            }
        }
        return found
    }

    /// Searches the folder of the services' temporary files, and the files without a name that the services have open.
    func inSpool() throws -> Set<Finding> {
        var found = try findings(below: stack.spoolFolder) { "spool file \($0)" }
        for service in Stack.services {
            guard let pid = stack.pid(of: service) else { continue }
            let folder = "/proc/\(pid)/fd"
            for number in try FileManager.default.contentsOfDirectory(atPath: folder) {
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)"),
                    target.hasPrefix(stack.spoolFolder), let bytes = FileTree.bytes(of: "\(folder)/\(number)")
                else { continue }
                found.formUnion(findings(in: bytes, at: "open file of \(service)"))
            }
        }
        return found
    }

    /// Searches the logs of the services, of Postgres and of Redis.
    func inLogs() throws -> Set<Finding> {
        let services = Stack.services.map { ($0, stack.logFile(of: $0)) }
        let servers = [("postgres", stack.database.server.logFile), ("redis", stack.redis.logFile)]
        return try (services + servers).reduce(into: []) { found, log in
            guard let bytes = FileTree.bytes(of: log.1), !bytes.isEmpty else {
                throw DeadlineExceeded(description: "\(log.0) has no log")
            }
            found.formUnion(findings(in: bytes, at: "log of \(log.0)"))
        }
    }

    /// Searches all that the services have sent to the collector of traces.
    func inTraces() -> Set<Finding> {
        (stack.traces?.requests ?? []).reduce(into: []) { $0.formUnion(findings(in: $1, at: "traces")) }
    }
}
