internal import Synchronization

/// The settings that code reads, from which `docs/CONFIGURATION.md` is made.
public final class SettingsRecord: Sendable {
    private struct Entry {
        let name: String
        var about: String
        let expectation: String
        /// The value when it is not set; nil for a required setting.
        var fallback: String?
    }

    private let entries = Mutex<[Entry]>([])

    /// Returns Markdown tables of the settings that `read` reads.
    ///
    /// - Parameter environments: Environments with which it reads, each with the title of its table. A table leaves out the settings of
    ///   those before it.
    public static func tables(
        _ environments: [(title: String, values: [String: String])], _ read: (Settings) async throws -> Void
    ) async throws -> String {
        var known: Set<String> = []
        var text = ""
        for (title, values) in environments {
            let record = SettingsRecord()
            try await read(Settings(environment: values, record: record))
            let entries = record.entries.withLock { $0 }.filter { known.insert($0.name).inserted }
            text += (title.isEmpty ? "" : "\n\(title):\n\n") + "| name | what it is | value | default |\n|---|---|---|---|\n"
            for entry in entries {
                let fallback = entry.fallback ?? "required"
                text += "| `\(entry.name)` | \(entry.about) | \(entry.expectation) | \(fallback) |\n"
            }
        }
        return text
    }

    /// Notes that a setting is read. If it is read several times, one of the reads describes it, and it is required if any of them requires
    /// it.
    func add(_ name: String, about: String, expectation: String, fallback: String?) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.name == name }) else {
                entries.append(Entry(name: name, about: about, expectation: expectation, fallback: fallback))
                return
            }
            if entries[index].about.isEmpty { entries[index].about = about }
            if fallback == nil { entries[index].fallback = nil }
        }
    }
}
