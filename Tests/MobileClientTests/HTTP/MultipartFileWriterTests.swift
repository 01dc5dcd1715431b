import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct MultipartFileWriterTests {
    typealias Part = MultipartFileWriter.Part

    let folder: TemporaryFolder
    var output: URL { folder.url.appendingPathComponent("body") }

    init() throws { folder = try TemporaryFolder() }

    /// A part as a reader of RFC 7578 sees it.
    private struct Parsed: Equatable {
        var name: String
        var fileName: String?
        var contentType: String?
        var content: Data
    }

    /// Reads a body back, strictly.
    private func parse(_ body: Data, _ boundary: String) throws -> [Parsed] {
        let delimiter = Data("--\(boundary)".utf8)
        var parts: [Parsed] = []
        var rest = body
        while true {
            try #require(rest.starts(with: delimiter))
            rest = rest.dropFirst(delimiter.count)
            if rest == Data("--\r\n".utf8) { return parts }
            let headEnd = try #require(rest.range(of: Data("\r\n\r\n".utf8)))
            let next = try #require(rest.range(of: Data("\r\n".utf8) + delimiter, in: headEnd.upperBound..<rest.endIndex))
            let head = String(decoding: rest[..<headEnd.lowerBound], as: UTF8.self)
            let lines = head.components(separatedBy: "\r\n")
            let match = try #require(lines[1].wholeMatch(of: /Content-Disposition: form-data; name="([^"]*)"(?:; filename="([^"]*)")?/))
            let type = try lines.dropFirst(2).map { try #require($0.wholeMatch(of: /Content-Type: (.*)/)).1 }
            try #require(lines[0] == "" && type.count <= 1)
            func unquoted(_ text: Substring) -> String { text.replacingOccurrences(of: "%22", with: "\"") }
            parts.append(
                Parsed(
                    name: unquoted(match.1), fileName: match.2.map(unquoted), contentType: type.first.map(String.init),
                    content: rest[headEnd.upperBound..<next.lowerBound]))
            rest = rest[next.lowerBound...].dropFirst(2)
        }
    }

    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test(arguments: 1...60) func `what was written is read back`(seed: UInt64) async throws {
        var random = Random(state: seed &* 7919)
        let letters = Array("abcXYZ019 _-.;='\"äß🎨)(<>@,/")
        func name() -> String { String((0..<Int.random(in: 1...12, using: &random)).map { _ in letters.randomElement(using: &random)! }) }
        let letterBytes: [UInt8] = [0x0D, 0x0A, 0x2D, 0x2D, 0x00, 0xFF, 0x61]
        func bytes() -> Data {
            let size = [0, 1, 2, 100, 65535, 65536, 65537, 200_000].randomElement(using: &random)!
            return Data((0..<size).map { _ in letterBytes[Int(random.next() % 7)] })
        }
        var parts: [Part] = []
        var expected: [Parsed] = []
        for index in 0..<Int.random(in: 0...6, using: &random) {
            let (content, data): (Part.Content, Data)
            switch random.next() % 3 {
            case 0:
                let text = name() + "\r\n--" + name()
                (content, data) = (.text(text), Data(text.utf8))
            case 1:
                data = bytes()
                content = .data(data)
            default:
                data = bytes()
                let file = folder.url.appendingPathComponent("\(index)")
                try data.write(to: file)
                content = .file(file)
            }
            let (fileName, type) = (Bool.random(using: &random) ? name() : nil, Bool.random(using: &random) ? "image/jpeg" : nil)
            parts.append(Part(name(), fileName: fileName, contentType: type, content))
            expected.append(Parsed(name: parts[index].name, fileName: fileName, contentType: type, content: data))
        }
        let written = try await MultipartFileWriter().write(parts, to: output)
        let body = try Data(contentsOf: written.file)
        #expect(written.file == output && written.length == body.count)
        #expect(try parse(body, written.boundary) == expected)
    }

    @Test func `each body has another boundary, of token characters`() async throws {
        let first = try await MultipartFileWriter().write([], to: output)
        let second = try await MultipartFileWriter().write([], to: folder.url.appendingPathComponent("second"))
        #expect(first.boundary != second.boundary && first.boundary.count <= 70 && HeaderRules.isName(first.boundary))
    }

    private func expectFailure(_ code: HeliographError.Code, _ parts: [Part], maxBytes: Int = 1_000_000) async {
        let before = folder.files
        let error = await #expect(throws: HeliographError.self) {
            try await MultipartFileWriter(maxBytes: maxBytes).write(parts, to: output)
        }
        #expect(error?.code == code && folder.files == before)
    }

    @Test(arguments: ["a\r\nX-B: c", "a\nb", "a\rb", "a\0b", "", "a\\", "\u{7F}"]) func `a name cannot begin another header`(name: String)
        async
    {
        await expectFailure(.invalidArgument, [Part(name, .text("x"))])
        await expectFailure(.invalidArgument, [Part("a", fileName: name, .text("x"))])
        if name != "a\\" { await expectFailure(.invalidArgument, [Part("a", contentType: name, .text("x"))]) }
    }

    @Test func `a body that would be too long is not begun`() async throws {
        let written = try await MultipartFileWriter().write([Part("a", .text("x"))], to: output)
        try FileManager.default.removeItem(at: output)
        await expectFailure(.payloadTooLarge, [Part("a", .text("x"))], maxBytes: written.length - 1)
        #expect(try await MultipartFileWriter(maxBytes: written.length).write([Part("a", .text("x"))], to: output).length == written.length)
    }

    @Test func `a file that cannot be read is an error`() async throws {
        await expectFailure(.storage, [Part("a", .text("x")), Part("f", .file(folder.url.appendingPathComponent("none")))])
        await expectFailure(.storage, [Part("f", .file(folder.url))])
    }

    @Test func `a file that exists is not written over`() async throws {
        try Data("mine".utf8).write(to: output)
        await expectFailure(.storage, [Part("a", .text("x"))])
        #expect(try Data(contentsOf: output) == Data("mine".utf8))
    }

    @Test func `a task that is cancelled leaves no file`() async throws {
        let file = folder.url.appendingPathComponent("photo")
        try Data(count: 100_000).write(to: file)
        let task = Task { [output] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await MultipartFileWriter().write([Part("f", .file(file))], to: output)
        }
        let error = await #expect(throws: HeliographError.self) { try await task.value }
        #expect(error?.code == .cancelled && folder.files == ["photo"])
    }
}
