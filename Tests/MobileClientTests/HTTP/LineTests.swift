import Foundation
import Testing

@testable import MobileClient

@Suite struct LineTests {
    /// All lines of a text that arrives in pieces of a size.
    private func split(_ text: String, by size: Int) throws -> [String] {
        var splitter = LineSplitter()
        let bytes = Array(text.utf8)
        return try stride(from: 0, to: bytes.count, by: size).flatMap {
            try splitter.append(Data(bytes[$0..<min($0 + size, bytes.count)]))
        } + [splitter.rest()].compactMap(\.self)
    }

    @Test(arguments: 1...9) func `lines are the same however they arrive`(size: Int) throws {
        let text = "a\r\nbé🎨\n\rc\r\r\n\n:x\nend"
        #expect(try split(text, by: size) == ["a", "bé🎨", "", "c", "", "", ":x", "end"])
    }

    @Test func `a line is at most as long as is allowed`() throws {
        var splitter = LineSplitter(maxBytes: 3)
        #expect(try splitter.append(Data("abc\nabc".utf8)) == ["abc"])
        #expect(throws: LineSplitter.LineTooLong.self) { try splitter.append(Data("d".utf8)) }
    }

    private func events(_ text: String) throws -> [EventStreamParser.Event] {
        var parser = EventStreamParser()
        return try text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { try parser.append(String($0)) }
    }

    @Test func `an event has a name and the lines of its data`() throws {
        let text =
            ": comment\nid: 7\nretry: 10\nevent: state\ndata: {\"a\":1,\ndata:  \"b\":2}\n\n"
            + "data\ndata:x\n\nevent: none\n\nignored: y\ndata: z\n\n"
        #expect(
            try events(text) == [
                .init(name: "state", data: "{\"a\":1,\n \"b\":2}"), .init(name: "message", data: "\nx"), .init(name: "message", data: "z"),
            ])
    }

    @Test func `an event that is not ended is none`() throws { #expect(try events("event: state\ndata: x") == []) }

    @Test func `a byte order mark before the first line is ignored`() throws {
        #expect(try events("\u{FEFF}data: x\n\n") == [.init(name: "message", data: "x")])
    }

    @Test func `an event is at most as long as is allowed`() throws {
        var parser = EventStreamParser(maxBytes: 10)
        #expect(try parser.append("data: 123456789") == nil)
        #expect(throws: EventStreamParser.EventTooLong.self) { try parser.append("data: ") }
    }
}
