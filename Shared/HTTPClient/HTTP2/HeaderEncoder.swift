/// Encodes the header blocks of the requests of one connection (HPACK, RFC 7541).
///
/// nghttp2 has an encoder, but it writes the path and the access token out in each request, because it adds neither to the table that
/// both sides keep. Pushes have the same fields but for the length of the body; here all of them but the length are in the table, so that
/// the block of a push takes a dozen bytes, which are made once. A token in the table can be guessed by the sizes of blocks only by a party
/// that chooses fields of requests on the same connection (RFC 7541 §7.1), which is none but this client.
struct HeaderEncoder {
    /// The size of the dynamic table that a server allows before it says otherwise (RFC 9113 §6.5.2), and the most that is used.
    private static let maxTableByteCount = 4096

    /// The pseudo-header fields of all requests.
    private let origin: [HeaderField]
    private var table = HeaderTable(capacity: maxTableByteCount)
    /// Sizes of the table that the next block announces: the smallest since the last block, and the present one.
    private var resizes: [Int] = []
    /// The last request and its block, but for the length; nil unless all its fields were in the table.
    private var prepared: (request: HTTP2Request, block: [UInt8])?

    /// Makes an encoder of requests to an origin.
    init(_ origin: HTTP2Origin) {
        self.origin = [HeaderField(":scheme", origin.scheme), HeaderField(":authority", origin.authority)]
    }

    /// Follows the server's SETTINGS_HEADER_TABLE_SIZE, in bytes.
    mutating func limitTable(to byteCount: Int) {
        let capacity = min(byteCount, Self.maxTableByteCount)
        guard capacity != table.capacity else { return }
        let smallest = min(resizes.first ?? capacity, capacity)
        resizes = smallest == capacity ? [capacity] : [smallest, capacity]
        table.resize(to: capacity)
        prepared = nil
    }

    /// Appends the header block of a request. Blocks must be sent in the order of these calls.
    mutating func append(_ request: HTTP2Request, bodyByteCount: Int, to bytes: inout [UInt8]) {
        for size in resizes { bytes.append(integer: size, after: 0b0010_0000, prefixBits: 5) }
        resizes = []
        if let prepared, prepared.request === request {
            bytes += prepared.block
        } else {
            let block = fields(of: request)
            bytes += block.bytes
            prepared = block.areIndexed ? (request, block.bytes) : nil
        }
        guard bodyByteCount > 0 || request.hasBody else { return }
        bytes += Self.contentLength
        bytes.append(text: String(bodyByteCount).utf8)
    }

    /// A literal field that is not added to the table, with the name at 28 of the static table: `content-length`.
    private static let contentLength: [UInt8] = {
        var bytes: [UInt8] = []
        bytes.append(integer: 28, after: 0b0000_0000, prefixBits: 4)
        return bytes
    }()

    private mutating func fields(of request: HTTP2Request) -> (bytes: [UInt8], areIndexed: Bool) {
        var (bytes, areIndexed): ([UInt8], Bool) = ([], true)
        // The pseudo-header fields must precede all others.
        for field in origin + request.fields {
            if let index = table.index(of: field) {
                bytes.append(integer: index, after: 0b1000_0000, prefixBits: 7)
                continue
            }
            areIndexed = false
            let isAdded = table.hasRoom(for: field)
            let nameIndex = table.index(ofName: field.name)
            bytes.append(integer: nameIndex ?? 0, after: isAdded ? 0b0100_0000 : 0b0000_0000, prefixBits: isAdded ? 6 : 4)
            if nameIndex == nil { bytes.append(text: field.name) }
            bytes.append(text: field.value)
            if isAdded { table.insert(field) }
        }
        return (bytes, areIndexed)
    }
}

extension [UInt8] {
    /// Appends an integer whose first bits share a byte with a pattern (RFC 7541 §5.1).
    fileprivate mutating func append(integer value: Int, after pattern: UInt8, prefixBits: Int) {
        let most = 1 << prefixBits - 1
        guard value >= most else { return append(pattern | UInt8(value)) }
        append(pattern | UInt8(most))
        var rest = value - most
        while rest >= 0x80 {
            append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends a string without Huffman code (RFC 7541 §5.2), whose time is worth it only for what is sent often.
    fileprivate mutating func append(text: some Collection<UInt8>) {
        append(integer: text.count, after: 0, prefixBits: 7)
        append(contentsOf: text)
    }
}
