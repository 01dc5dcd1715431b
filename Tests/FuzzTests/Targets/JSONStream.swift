import JSON

@testable import IdentityAPI

extension FuzzTarget {
    /// The lengths of chunks, and an object of which `image` is streamed.
    static let jsonStream = FuzzTarget(name: "json-stream") { bytes in
        var input = FuzzInput(bytes)
        let cuts = input.cuts()
        let body = input.bytes
        let whole = StreamedObject.outcome([body[...]])
        try requireEqual(StreamedObject.outcome(cuts.chunks(of: body)), whole, "the body in pieces and whole")
        let read = Result { () throws(JSONError) -> JSONValue in try JSONValue(parsing: body, limits: JSONLimits(maxDepth: 17)) }
        switch (whole, read) {
        case (.success(let object), .success(let value)): try checkSame(object, value)
        case (.success(let object), .failure(let error)):
            // A streamed text may have bytes that are no UTF-8.
            let isText = object.image.map { String(validating: $0, as: UTF8.self) != nil } ?? true
            try require(!isText, "the stream accepts what is refused whole: \(error)")
        case (.failure(let error), .success(let value)):
            try require(isStricter(error, about: value, body), "the stream refuses what is accepted whole: \(error)")
        case (.failure, .failure):
            break
        }
    }

    private static func checkSame(_ object: StreamedObject, _ value: JSONValue) throws {
        let image = value["image"]
        try requireEqual(object.image, image?.string.map { Array($0.utf8) }, "the streamed text")
        let others = (value.members ?? []).filter { $0.name != "image" || image == .null }
        try requireEqual(object.members, others, "the other members")
    }

    /// The stream has limits of its own, takes objects only, and refuses a streamed member that is no text or has escapes beyond ASCII.
    private static func isStricter(_ error: JSONError, about value: JSONValue, _ body: [UInt8]) -> Bool {
        switch error.code {
        case .limitExceeded, .notString: true
        case .malformed: value.members == nil
        case .notASCII: value["image"]?.string.map { $0.utf8.contains { $0 >= 0x80 } } == true
        case .duplicateName, .truncated, .badBase64: false
        }
    }
}

/// What a streamed body consists of.
private struct StreamedObject: Equatable {
    var members: [JSONValue.Member] = []
    /// The text of `image`.
    var image: [UInt8]?

    static func outcome(_ chunks: [ArraySlice<UInt8>]) -> Result<StreamedObject, JSONError> {
        Result { () throws(JSONError) -> StreamedObject in
            var parser = JSONStreamParser(streaming: ["image"])
            var object = StreamedObject()
            for chunk in chunks {
                let chunk = Array(chunk)
                var position = 0
                while let event = try parser.nextEvent(in: chunk.span.bytes, at: &position) {
                    switch event {
                    case .member(let name, let value): object.members.append(.init(name, value))
                    case .textBegan: object.image = []
                    case .text(let range): object.image?.append(contentsOf: chunk[range])
                    case .escaped(let byte): object.image?.append(byte)
                    case .textEnded, .finished: break
                    }
                }
            }
            try parser.finish()
            return object
        }
    }
}
