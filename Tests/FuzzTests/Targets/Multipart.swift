import Multipart

extension FuzzTarget {
    /// The value of `Content-Type`, a line feed, the lengths of chunks, and a body.
    static let multipart = FuzzTarget(name: "multipart") { bytes in
        var input = FuzzInput(bytes)
        guard let boundary = try? MultipartBoundary(contentType: input.line()) else { return }
        let escaped = boundary.value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let quoted = "multipart/form-data; boundary=\"\(escaped)\""
        try requireEqual(try MultipartBoundary(contentType: quoted), boundary, "a boundary that is written in quotation marks")
        let cuts = input.cuts()
        let body = input.bytes
        let whole = MultipartBodyParts.outcome([body[...]], boundary)
        try requireEqual(MultipartBodyParts.outcome(cuts.chunks(of: body), boundary), whole, "the body in pieces and whole")
        guard case .success(let parts) = whole else { return }
        try require(parts.count <= MultipartLimits().parts, "the limit of parts")
        try requireEqual(parts.map(\.data), delimited(body, boundary), "the data of the parts and the bytes between boundaries")
        // Unquoted names keep an escape of browsers, which quoted ones cannot express.
        guard !parts.contains(where: { $0.headers.name.contains("%") }) else { return }
        let again = MultipartBodyParts.outcome([MultipartBodyParts.encode(parts, boundary)[...]], boundary)
        try requireEqual(
            again.map { $0.map { [Array($0.headers.name.utf8), $0.data] } },
            .success(parts.map { [Array($0.headers.name.utf8), $0.data] }),
            "the parts of a body that is written from parts")
    }

    /// The data of the parts of a body that is known to be well-formed: a search for all boundaries at once, unlike the parser's.
    private static func delimited(_ body: [UInt8], _ boundary: MultipartBoundary) -> [[UInt8]] {
        let delimiter = Array("\r\n--\(boundary.value)".utf8)
        let text = [13, 10] + body
        var starts = text.indices.filter { text[$0] == 13 && text[$0...].starts(with: delimiter) }[...]
        var parts: [[UInt8]] = []
        while let start = starts.popFirst(), !text[(start + delimiter.count)...].starts(with: "--".utf8) {
            // The blank line of the header block; its line end may be that of the next boundary.
            let block = start + delimiter.count
            guard let blank = (block..<text.count - 3).first(where: { text[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }),
                let end = starts.first(where: { $0 >= blank + 2 })
            else { return parts }
            parts.append(end > blank + 4 ? Array(text[(blank + 4)..<end]) : [])
            starts = starts.drop { $0 < end }
        }
        return parts
    }
}

/// A part of a body, complete.
private struct MultipartPart: Equatable {
    let headers: MultipartPartHeaders
    var data: [UInt8] = []
}

private enum MultipartBodyParts {
    static func outcome(_ chunks: [ArraySlice<UInt8>], _ boundary: MultipartBoundary) -> Result<[MultipartPart], MultipartError> {
        Result { () throws(MultipartError) -> [MultipartPart] in
            var parser = MultipartParser(boundary: boundary)
            var parts: [MultipartPart] = []
            for chunk in chunks {
                let chunk = Array(chunk)
                var position = 0
                while let event = try parser.nextEvent(in: chunk.span.bytes, at: &position) {
                    switch event {
                    case .partBegan(let headers): parts.append(MultipartPart(headers: headers))
                    case .partData(let range): parts[parts.count - 1].data += chunk[range]
                    case .heldData(let bytes): parts[parts.count - 1].data += bytes
                    case .partEnded, .finished: break
                    }
                }
            }
            try parser.finish()
            return parts
        }
    }

    static func encode(_ parts: [MultipartPart], _ boundary: MultipartBoundary) -> [UInt8] {
        var body: [UInt8] = []
        for part in parts {
            let name = part.headers.name.unicodeScalars.map { scalar in
                switch scalar {
                case "\"", "\\": "\\\(scalar)"
                case "\r": "%0D"
                case "\n": "%0A"
                default: String(scalar)
                }
            }.joined()
            body += Array("--\(boundary.value)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8) + part.data + [13, 10]
        }
        return body + Array("--\(boundary.value)--".utf8)
    }
}
