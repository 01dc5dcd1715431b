import EventBus
import Foundation
import WireFormat

extension FuzzTarget {
    /// The fields of an entry of a stream, one a line: `name=value`.
    static let envelopes = FuzzTarget(name: "envelopes") { bytes in
        let fields = bytes.split(separator: UInt8(ascii: "\n")).map { line -> StreamField in
            let name = line.prefix { $0 != UInt8(ascii: "=") }
            return (String(decoding: name, as: UTF8.self), Array(line[name.endIndex...].dropFirst()))
        }
        guard let encoded = try? EncodedEnvelope(streamFields: fields) else { return }
        try requireEqual(try EncodedEnvelope(streamFields: encoded.streamFields), encoded, "the message that is read from its own fields")
        for event in EventCatalog.events where event.type == encoded.type { try checkBody(encoded, as: event) }
    }

    /// An event that can be read can be written, and is read back the same.
    private static func checkBody<Body: Event>(_ encoded: EncodedEnvelope, as _: Body.Type) throws {
        guard let envelope = try? encoded.decode(Body.self) else { return }
        let written: EncodedEnvelope
        do throws(WireFormatError) {
            written = try envelope.encoded()
        } catch {
            // A key, or a body with everything that was left out, may be over its limit.
            return try require(error.code != .malformedBody, "an event that cannot be written: \(error)")
        }
        let again: Envelope<Body> = try written.decode()
        try requireEqual(again, envelope, "the event that is read from what was written")
    }
}
