/// A header field in bytes.
struct HeaderField: Sendable, Hashable {
    /// The name, in small letters.
    let name: [UInt8]
    let value: [UInt8]

    init(_ name: String, _ value: String) {
        self.name = Array(name.utf8)
        self.value = Array(value.utf8)
    }

    /// The size of an entry of the dynamic table (RFC 7541 §4.1).
    var entryByteCount: Int { name.count + value.count + 32 }
}

/// The header fields that both sides of a connection know by an index (RFC 7541 §2.3): the dynamic table, and of the static one what
/// requests use.
struct HeaderTable {
    /// The fields of the static table that are found with their value (RFC 7541 appendix A).
    private static let staticFields: [HeaderField: Int] = [
        HeaderField(":method", "GET"): 2, HeaderField(":method", "POST"): 3, HeaderField(":path", "/"): 4,
        HeaderField(":scheme", "http"): 6, HeaderField(":scheme", "https"): 7,
    ]
    /// The names of the static table that are found; others are sent as they are.
    private static let staticNames: [[UInt8]: Int] = [
        ":authority": 1, ":method": 2, ":path": 4, ":scheme": 6, "accept": 19, "authorization": 23, "content-type": 31, "user-agent": 58,
    ].reduce(into: [:]) { $0[Array($1.key.utf8)] = $1.value }
    /// The index of the newest entry of the dynamic table.
    private static let firstDynamicIndex = 62

    /// The entries of the dynamic table, the newest first.
    private var entries: [HeaderField] = []
    private var byteCount = 0
    /// The greatest size of the dynamic table.
    private(set) var capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Returns the index of a field; nil when the tables do not have it.
    func index(of field: HeaderField) -> Int? {
        Self.staticFields[field] ?? entries.firstIndex(of: field).map { $0 + Self.firstDynamicIndex }
    }

    /// Returns an index with this name; nil when the static table does not have it.
    func index(ofName name: [UInt8]) -> Int? { Self.staticNames[name] }

    /// Whether the dynamic table is large enough for a field.
    func hasRoom(for field: HeaderField) -> Bool { field.entryByteCount <= capacity }

    /// Adds a field to the dynamic table, in place of the oldest ones if it is full.
    mutating func insert(_ field: HeaderField) {
        evict(to: capacity - field.entryByteCount)
        entries.insert(field, at: 0)
        byteCount += field.entryByteCount
    }

    /// Sets the greatest size of the dynamic table.
    mutating func resize(to capacity: Int) {
        self.capacity = capacity
        evict(to: capacity)
    }

    private mutating func evict(to limit: Int) {
        while byteCount > limit, let oldest = entries.popLast() { byteCount -= oldest.entryByteCount }
    }
}
