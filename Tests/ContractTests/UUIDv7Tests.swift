import Foundation
import Testing
import WireFormat

@Suite("UUIDs of version 7")
struct UUIDv7Tests {
    @Test func `ids have version and variant`() {
        for _ in 0..<100 {
            let bytes = UUIDv7.generate().uuid
            #expect(bytes.6 >> 4 == 7)
            #expect(bytes.8 >> 6 == 0b10)
        }
    }

    @Test func `ids hold their creation time to the millisecond`() {
        let time = Date(millisecondsSince1970: 1_761_559_200_125)
        #expect(UUIDv7.timestamp(of: UUIDv7.generate(at: time)) == time)
        #expect(UUIDv7.timestamp(of: UUID()) == nil)
    }

    @Test func `ids sort by time, also within a millisecond`() {
        let start = 1_761_559_200.0
        let ids = (0..<2000).map { UUIDv7.generate(at: Date(timeIntervalSince1970: start + Double($0) * 0.00001)).wireString }
        let firstOfEachTick = stride(from: 0, to: ids.count, by: 10).map { ids[$0] }
        #expect(firstOfEachTick == firstOfEachTick.sorted())
    }

    @Test func `ids of one moment do not repeat, whichever threads make them`() async {
        let now = Date()
        let ids = await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { (0..<10_000).map { _ in UUIDv7.generate(at: now) } } }
            return await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        #expect(ids.count == 80_000)
    }

    @Test func `ids are written in lower case`() {
        for _ in 0..<100 {
            let id = UUID()
            #expect(id.wireString == id.uuidString.lowercased())
        }
    }

    @Test func `ids are parsed in either case, and only when they are complete`() {
        for _ in 0..<100 {
            let id = UUID()
            #expect(UUID(wireBytes: id.wireString.utf8) == id)
            #expect(UUID(wireBytes: id.uuidString.utf8) == id)
            #expect(UUID(wireBytes: id.wireString.utf8.dropLast()) == nil)
        }
        #expect(UUID(wireBytes: "0195f3a0-1b2c-7d3e-8f40-5162738495ag".utf8) == nil)
        #expect(UUID(wireBytes: "0195f3a001b2c-7d3e-8f40-5162738495a6".utf8) == nil)
        #expect(UUID(wireBytes: "------------------------------------".utf8) == nil)
    }

    @Test func `a character of an id is a digit in its place, or a dash in its own`() {
        let text = Array("0195f3a0-1b2c-7d3e-8f40-5162738495a6".utf8)
        for place in text.indices {
            for character in UInt8.min ... .max {
                var changed = text
                changed[place] = character
                let isDash = [8, 13, 18, 23].contains(place)
                let isValid = isDash ? character == UInt8(ascii: "-") : "0123456789abcdefABCDEF".utf8.contains(character)
                let id = UUID(wireBytes: changed)
                #expect((id != nil) == isValid, "\(character) at \(place)")
                #expect(id.map { $0.wireString } == (isValid ? String(decoding: changed, as: UTF8.self).lowercased() : nil))
            }
        }
    }

    @Test func `the bytes of an id that are written are those of its text`() {
        let id = UUID()
        #expect(id.withWireText { String(decoding: $0, as: UTF8.self) } == id.wireString)
    }

    @Test(arguments: [
        "+a95f3a0-1b2c-7d3e-8f40-5162738495a6", "0195f3a0-1b2c-7d3e-8f40-51627384950x", " a95f3a0-1b2c-7d3e-8f40-5162738495a6",
    ])
    func `signs, blanks and prefixes are no digits of an id`(text: String) {
        #expect(UUID(wireString: text) == nil)
        #expect(UUID(wireString: String(text.map { $0.isHexDigit || $0 == "-" ? $0 : "0" })) != nil)
    }
}
