/// Reads the lines of server-sent events (HTML, Server-sent events, §9.2.6). The fields `id` and `retry` have no use here.
struct EventStreamParser {
    struct Event: Equatable {
        var name: String
        var data: String
    }

    /// An event has more data than the limit.
    struct EventTooLong: Error {}

    /// The UTF-8 bytes of the data of one event.
    let maxBytes: Int
    private var name = ""
    private var data: [Substring] = []
    private var bytes = 0
    private var isFirst = true

    init(maxBytes: Int = 1 << 20) { self.maxBytes = maxBytes }

    /// Adds a line; returns the event that it ends. An event without data is ignored.
    mutating func append(_ line: String) throws(EventTooLong) -> Event? {
        var line = line[...]
        if isFirst, line.first == "\u{FEFF}" { line = line.dropFirst() }
        isFirst = false
        if line.isEmpty { return end() }
        let colon = line.firstIndex(of: ":") ?? line.endIndex
        // A comment only keeps the connection open.
        guard colon > line.startIndex else { return nil }
        var value = line[colon...].dropFirst()
        if value.first == " " { value = value.dropFirst() }
        switch line[..<colon] {
        case "event": name = String(value).cut(toBytes: 200)
        case "data":
            bytes += value.utf8.count + 1
            // A byte a line at least, so that empty lines cannot take memory without end either.
            guard bytes <= maxBytes else { throw EventTooLong() }
            data.append(value)
        default: break
        }
        return nil
    }

    private mutating func end() -> Event? {
        defer { (name, data, bytes) = ("", [], 0) }
        guard !data.isEmpty else { return nil }
        return Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
    }
}
