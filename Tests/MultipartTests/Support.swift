import Multipart

/// One parsed part.
struct Part: Equatable, CustomStringConvertible {
    var headers: MultipartPartHeaders
    var data: [UInt8]

    var description: String { "\(headers.name)=\(data.count) bytes" }
}

/// Parses a body that arrives in the given chunks.
func parse(
    _ chunks: [ArraySlice<UInt8>], boundary: String, limits: MultipartLimits = MultipartLimits()
) throws(MultipartError) -> [Part] {
    var parser = MultipartParser(boundary: try MultipartBoundary(boundary), limits: limits)
    var parts: [Part] = []
    var isOpen = false
    for chunk in chunks {
        var position = 0
        while let event = try parser.nextEvent(in: chunk.span.bytes, at: &position) {
            switch event {
            case .partBegan(let headers):
                precondition(!isOpen, "a part begins inside another")
                isOpen = true
                parts.append(Part(headers: headers, data: []))
            case .partData(let range):
                precondition(isOpen && !range.isEmpty)
                parts[parts.count - 1].data += chunk.dropFirst(range.lowerBound).prefix(range.count)
            case .heldData(let bytes):
                precondition(isOpen && !bytes.isEmpty)
                parts[parts.count - 1].data += bytes
            case .partEnded:
                precondition(isOpen)
                isOpen = false
            case .finished:
                precondition(!isOpen)
            }
        }
        precondition(position == chunk.count, "a chunk is not consumed")
    }
    try parser.finish()
    return parts
}

func parse(_ body: String, boundary: String = "b", limits: MultipartLimits = MultipartLimits()) throws(MultipartError) -> [Part] {
    try parse([Array(body.utf8)[...]], boundary: boundary, limits: limits)
}

/// Cuts bytes into chunks at the given offsets.
func cut(_ bytes: [UInt8], at offsets: [Int]) -> [ArraySlice<UInt8>] {
    var chunks: [ArraySlice<UInt8>] = []
    var start = 0
    for offset in offsets.sorted() where offset >= start && offset <= bytes.count {
        chunks.append(bytes[start..<offset])
        start = offset
    }
    return chunks + [bytes[start...]]
}

/// A well-formed body of plain fields.
func form(_ fields: [(name: String, value: String)], boundary: String = "b") -> String {
    fields.map { "--\(boundary)\r\nContent-Disposition: form-data; name=\"\($0.name)\"\r\n\r\n\($0.value)\r\n" }.joined()
        + "--\(boundary)--\r\n"
}
