import Testing

@testable import HTTPClient

@Suite struct ResponseHeadTests {
    /// Returns the head after blocks of fields, or nil when they are too large.
    private func head(_ blocks: [[(String, String)]], maxByteCount: Int = 1000) -> ResponseHead? {
        var head = ResponseHead()
        for block in blocks {
            head.begin()
            for (name, value) in block {
                let isTaken = Array(name.utf8).withUnsafeBufferPointer { name in
                    Array(value.utf8).withUnsafeBufferPointer { value in
                        head.receive(name: name, value: value, maxByteCount: maxByteCount)
                    }
                }
                if !isTaken { return nil }
            }
        }
        return head
    }

    @Test func `an error response keeps its fields in order`() {
        let head = head([[(":status", "429"), ("retry-after", "60"), ("date", "now")]])
        #expect(head?.status == 429)
        #expect(head?.fields.map(\.name) == ["retry-after", "date"])
        #expect(head?.fields.map(\.value) == ["60", "now"])
    }

    @Test func `a 2xx response keeps its status only`() {
        let head = head([[(":status", "204"), ("date", "now")]])
        #expect(head?.status == 204)
        #expect(head?.fields.isEmpty == true)
    }

    @Test func `interim heads and trailers do not belong to the response`() {
        let head = head([[(":status", "103"), ("link", "a")], [(":status", "500"), ("date", "now")], [("trailer", "b")]])
        #expect(head?.status == 500)
        #expect(head?.fields.map(\.name) == ["date"])
    }

    @Test func `the limit applies to all blocks together`() {
        #expect(head([[(":status", "200"), ("a", "b")]], maxByteCount: 12) != nil)
        #expect(head([[(":status", "200"), ("a", "b")]], maxByteCount: 11) == nil)
        #expect(head([[(":status", "103"), ("a", "b")], [(":status", "200")]], maxByteCount: 21) == nil)
    }
}
