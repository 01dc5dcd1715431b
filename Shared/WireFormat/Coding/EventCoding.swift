internal import JSON

/// Encodes bodies as JSON and decodes them: keys sorted, times as whole milliseconds, nothing escaped without need.
enum EventCoding {
    static func encode(_ body: some Event) throws(WireFormatError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            let encoder = BodyEncoder()
            try body.encode(to: encoder)
            bytes = encoder.json.bytes
        } catch {
            throw WireFormatError(.malformedBody, "the body cannot be written as JSON", underlying: error)
        }
        try EnvelopeLimits.check(bodyBytes: bytes.count)
        return bytes
    }

    static func decode<Body: Event>(_ type: Body.Type, from bytes: [UInt8]) throws(WireFormatError) -> Body {
        do {
            return try Body(from: BodyDecoder(JSONValue(parsing: bytes, limits: BodyDecoder.limits)))
        } catch let error as JSONError {
            throw WireFormatError(.malformedBody, "\(Body.type): the body is not JSON", underlying: error)
        } catch let error as DecodingError {
            throw WireFormatError(.malformedBody, "\(Body.type): \(describe(error))", underlying: error)
        } catch {
            throw WireFormatError(.malformedBody, "\(Body.type): the body is not readable", underlying: error)
        }
    }

    /// Describes the invalid field without its value, because values must not reach the log.
    private static func describe(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            let keys = context.codingPath + (last.map { [$0] } ?? [])
            return keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "field \(path(context, key)) is missing"
        case .valueNotFound(_, let context): return "field \(path(context)) is null"
        case .typeMismatch(let type, let context): return "field \(path(context)) is not a \(type)"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: return "the body is not JSON"
        case .dataCorrupted(let context): return "field \(path(context)) has a value that is not known"
        @unknown default: return "the body is not readable"
        }
    }
}
