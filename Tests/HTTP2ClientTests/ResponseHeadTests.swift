import Testing

@testable import HTTP2Client

@Suite struct ResponseHeadTests {
    /// The head after blocks of fields, or nil when they are too large.
    private func head(_ blocks: [[(String, String)]], byteCountMax: Int = 1000) -> ResponseHead? {
        var head = ResponseHead()
        for block in blocks {
            head.begin()
            for (name, value) in block {
                let isTaken = Array(name.utf8).withUnsafeBufferPointer { name in
                    Array(value.utf8).withUnsafeBufferPointer { value in
                        head.receive(name: name, value: value, byteCountMax: byteCountMax)
                    }
                }
                if !isTaken { return nil }
            }
        }
        return head
    }

    @Test func `a refusal keeps its fields in their order`() {
        let head = head([[(":status", "429"), ("retry-after", "60"), ("date", "now")]])
        #expect(head?.status == 429)
        #expect(head?.fields.map(\.name) == ["retry-after", "date"])
        #expect(head?.fields.map(\.value) == ["60", "now"])
    }

    @Test func `an answer that says yes keeps its status only`() {
        let head = head([[(":status", "204"), ("date", "now")]])
        #expect(head?.status == 204)
        #expect(head?.fields.isEmpty == true)
    }

    @Test func `what comes before the answer and after it is not of it`() {
        let head = head([[(":status", "103"), ("link", "a")], [(":status", "500"), ("date", "now")], [("trailer", "b")]])
        #expect(head?.status == 500)
        #expect(head?.fields.map(\.name) == ["date"])
    }

    @Test func `all blocks together have one limit`() {
        #expect(head([[(":status", "200"), ("a", "b")]], byteCountMax: 12) != nil)
        #expect(head([[(":status", "200"), ("a", "b")]], byteCountMax: 11) == nil)
        #expect(head([[(":status", "103"), ("a", "b")], [(":status", "200")]], byteCountMax: 21) == nil)
    }
}
