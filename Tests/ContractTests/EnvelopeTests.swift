import Foundation
import Push
import TestSupport
import Testing

@testable import WireFormat

@Suite("The envelope")
struct EnvelopeTests {
    private let full = Envelope(
        GoldenEvents.ekycRequested, id: GoldenEvents.second, occurredAt: GoldenEvents.time,
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", requestID: "req-7",
        expiresAt: GoldenEvents.time.addingTimeInterval(60))

    private func fields(_ change: (inout [StreamField]) -> Void = { _ in }) throws -> [StreamField] {
        var fields = try full.encoded().streamFields
        change(&fields)
        return fields
    }

    private func code(_ fields: [StreamField]) -> WireFormatError.Code? {
        do {
            _ = try EncodedEnvelope(streamFields: fields)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `stream fields keep their names, order and values`() throws {
        let lines = try fields().map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" }
        let golden = try JSONDecoder().decode([String].self, from: Data(GoldenEvents.fixture("envelope.fields")))
        #expect(lines == golden)
    }

    @Test func `a message survives the round trip over the stream`() throws {
        let read = try EncodedEnvelope(streamFields: fields()).decode(EkycRequested.self)
        #expect(read == full)
    }

    @Test func `optional parts may be absent`() throws {
        let sparse = Envelope(GoldenEvents.ekycRequested, id: GoldenEvents.second, occurredAt: GoldenEvents.time)
        let encoded = try sparse.encoded()
        #expect(encoded.streamFields.map(\.name) == ["i", "t", "v", "k", "c", "b"])
        #expect(try EncodedEnvelope(streamFields: encoded.streamFields).decode(EkycRequested.self) == sparse)
    }

    @Test(arguments: EncodedEnvelope.Field.allCases)
    func `a field is found by its own name`(field: EncodedEnvelope.Field) {
        let name = Array(field.name.utf8)
        #expect(name.withUnsafeBytes { EncodedEnvelope.Field(name: $0) } == field)
        #expect((name + name).withUnsafeBytes { EncodedEnvelope.Field(name: $0) } == nil)
    }

    @Test func `fields with unknown names are ignored`() throws {
        #expect(code(try fields { $0.append((name: "zz", value: [0xFF])) }) == nil)
    }

    @Test func `more than 64 fields are refused, unknown ones included`() throws {
        let most = try fields { fields in while fields.count < 64 { fields.append((name: "zz", value: [])) } }
        #expect(code(most) == nil)
        #expect(code(most + [(name: "zz", value: [])]) == .invalidField("zz"))
    }

    @Test(arguments: ["i", "t", "v", "k", "c", "b"])
    func `a missing field is named`(name: String) throws {
        #expect(code(try fields { $0.removeAll { $0.name == name } }) == .missingField(name))
    }

    @Test(arguments: ["i", "t", "v", "k", "c", "tp", "r", "x", "b"])
    func `a repeated field is named`(name: String) throws {
        #expect(code(try fields { $0.append($0.first { $0.name == name }!) }) == .invalidField(name))
    }

    @Test(arguments: [
        ("i", "not-a-uuid"), ("i", "0195f3a0-1b2c-7d3e-8f40-5162738495a"), ("v", "0"), ("v", "-1"), ("v", "x"), ("v", ""),
        ("v", "99999999999"), ("c", "1.5"), ("c", "253402300800000"), ("c", "9999999999999999"), ("x", "+1"), ("k", ""),
        ("t", ""), ("tp", ""), ("r", ""),
    ])
    func `a malformed field is named`(name: String, value: String) throws {
        let broken = try fields { fields in
            let index = fields.firstIndex { $0.name == name }!
            fields[index].value = Array(value.utf8)
        }
        #expect(code(broken) == .invalidField(name))
    }

    @Test(arguments: [("k", 201), ("t", 65), ("tp", 129), ("r", 129)])
    func `a field over its limit is named`(name: String, length: Int) throws {
        let long = try fields { fields in
            let index = fields.firstIndex { $0.name == name }!
            fields[index].value = Array(repeating: UInt8(ascii: "a"), count: length)
        }
        #expect(code(long) == .invalidField(name))
    }

    @Test func `text that is not UTF-8 is refused`() throws {
        #expect(code(try fields { $0[3].value = [0xC3, 0x28] }) == .invalidField("k"))
    }

    @Test func `a body of 64 KiB passes and one byte more does not`() throws {
        #expect(code(try fields { $0[8].value = Array(repeating: 0, count: 65_536) }) == nil)
        #expect(code(try fields { $0[8].value = Array(repeating: 0, count: 65_537) }) == .bodyTooLarge)
        let huge = PhotoUploaded(photoID: GoldenEvents.first, topic: String(repeating: "x", count: 70_000))
        #expect { try Envelope(huge).encoded() } throws: { ($0 as? WireFormatError)?.code == .bodyTooLarge }
    }

    @Test func `decoding as another type is refused`() throws {
        let encoded = try full.encoded()
        #expect { try encoded.decode(ImageRequested.self) } throws: {
            ($0 as? WireFormatError)?.code == .typeMismatch
        }
    }

    @Test func `a newer version is refused`() throws {
        let future = try EncodedEnvelope(streamFields: fields { $0[2].value = Array("2".utf8) })
        #expect { try future.decode(EkycRequested.self) } throws: {
            ($0 as? WireFormatError)?.code == .unsupportedVersion
        }
    }

    @Test(arguments: [
        ("", "the body is not JSON"), ("[]", "the body is not an object"), ("{}", "field event is missing"),
        (#"{"session_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","event":"sign_out"}"#, "field event has a value that is not known"),
        (#"{"session_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","event":7}"#, "field event is not a text"),
        (#"{"session_id":"0195f3a0-1b2c-7d3e-8f40-5162738495a6","event":"sign_ups"}"#, "field event has a value that is not known"),
        (#"{"session_id":7,"event":"sign_up","lane":"new"}"#, "field session_id is not a UUID"),
        (#"{"session_id":"7","event":"sign_up","lane":"new"}"#, "field session_id is not a UUID"),
        (#"{"session_id":null,"event":"sign_up","lane":"new"}"#, "field session_id is null"),
    ])
    func `a malformed body is refused with the field but not its value`(body: String, says: String) throws {
        let broken = try EncodedEnvelope(streamFields: fields { $0[8].value = Array(body.utf8) })
        #expect { try broken.decode(EkycRequested.self) } throws: { error in
            guard let error = error as? WireFormatError else { return false }
            return error.code == .malformedBody && error.message.contains(says) && !error.message.contains("sign_out")
        }
    }

    @Test(arguments: [Int64.min, -1, 253_402_300_800_000, .max])
    func `a body with a time that no message can have is refused`(milliseconds: Int64) throws {
        let request = try Envelope(GoldenEvents.notificationRequested).encoded()
        let body = String(decoding: request.body, as: UTF8.self).replacing("1761559200125", with: "\(milliseconds)")
        #expect(body.contains("\(milliseconds)"))
        let broken = try EncodedEnvelope(
            id: request.id, type: request.type, version: 1, key: request.key, occurredAt: request.occurredAt, body: Array(body.utf8))
        #expect { try broken.decode(NotificationRequested.self) } throws: { ($0 as? WireFormatError)?.code == .malformedBody }
    }

    @Test func `random fields never crash the decoder`() {
        var random = SeededGenerator(seed: 42)
        let names = ["i", "t", "v", "k", "c", "tp", "r", "x", "b", "?"]
        for _ in 0..<20_000 {
            let fields: [StreamField] = (0..<Int.random(in: 0...11, using: &random)).map { _ in
                let length = Int.random(in: 0...40, using: &random)
                let value = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                return (name: names.randomElement(using: &random)!, value: value)
            }
            #expect(code(fields) != nil)
        }
    }
}
