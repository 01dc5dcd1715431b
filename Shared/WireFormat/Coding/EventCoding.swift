internal import JSON

/// Encodes bodies as JSON and decodes them.
enum EventCoding {
    /// A body is of a limited size already; writers in other languages may repeat a name.
    private static let limits = JSONLimits(maxDepth: 128, allowsRepeatedNames: true)

    static func encode(_ body: some Event) throws(WireFormatError) -> [UInt8] {
        let bytes = JSONWriter.bytes(capacity: 192) { body.write(to: &$0) }
        try EnvelopeLimits.check(bodyBytes: bytes.count)
        return bytes
    }

    static func decode<Body: Event>(_ type: Body.Type, from bytes: [UInt8]) throws(WireFormatError) -> Body {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes, limits: limits)
        } catch {
            throw WireFormatError(.malformedBody, "\(Body.type): the body is not JSON", underlying: error)
        }
        do throws(BodyFault) {
            return try Body(json: document.root)
        } catch {
            throw WireFormatError(.malformedBody, "\(Body.type): \(error)")
        }
    }
}
