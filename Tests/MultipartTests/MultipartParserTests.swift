import Multipart
import Testing

@Suite struct MultipartParserTests {
    @Test func `A form of two fields gives two parts in order`() throws {
        let parts = try parse(form([("a", "one"), ("b", "two")]))
        #expect(parts.map(\.headers.name) == ["a", "b"])
        #expect(parts.map { String(decoding: $0.data, as: UTF8.self) } == ["one", "two"])
    }

    @Test func `The form that a client encodes has its fields and files`() throws {
        var form = MultipartForm()
        form.add("a", "one")
        form.add("b", file: "photo", [1, 2])
        let parts = try parse([form.encoded()[...]], boundary: MultipartBoundary(contentType: form.contentType).value)
        #expect(parts.map(\.headers.name) == ["a", "b"])
        #expect(parts.map(\.data) == [Array("one".utf8), [1, 2]])
    }

    @Test func `Preamble and epilogue are discarded`() throws {
        let body = "This is for old mail readers.\r\n\r\n" + form([("a", "one")]) + "and goodbye\r\n--b\r\nnot a part"
        #expect(try parse(body).map { String(decoding: $0.data, as: UTF8.self) } == ["one"])
    }

    @Test func `No line end is needed after the closing boundary`() throws {
        let body = form([("a", "one")])
        #expect(try parse(String(body.utf8.dropLast(2))!).count == 1)
    }

    @Test func `Blanks after a boundary belong to its line`() throws {
        let body = "--b \t \r\nContent-Disposition: form-data; name=a\r\n\r\none\r\n--b-- \r\n"
        #expect(try parse(body).map(\.data) == [Array("one".utf8)])
    }

    @Test func `A part may have no data, with and without a line end of its own`() throws {
        let header = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n"
        #expect(try parse(header + "\r\n--b--").map(\.data) == [[]])
        #expect(try parse(header + "--b--").map(\.data) == [[]])
        let second = "Content-Disposition: form-data; name=c\r\n\r\nx\r\n--b--"
        #expect(try parse(header + "--b\r\n" + second).map(\.data) == [[], [120]])
    }

    @Test func `A body without parts is complete`() throws {
        #expect(try parse("--b--\r\n").isEmpty)
        #expect(try parse("preamble\r\n--b--").isEmpty)
    }

    @Test(arguments: [
        "\r\n--", "\r\n--a", "\r\r\n--a", "\r\n\r\n", "\n--b", "\r--b", "x--b--", "\r\n-", "\r", "\n", "\r\n--\r\n--\r\n",
    ])
    func `Data that resembles a boundary stays data`(data: String) throws {
        let body = Array(form([("a", data), ("b", data + data)]).utf8)
        for offset in 0...body.count {
            let parts = try parse(cut(body, at: [offset]), boundary: "b")
            #expect(parts.map(\.data) == [Array(data.utf8), Array((data + data).utf8)], "cut at \(offset)")
        }
    }

    @Test func `A boundary with other bytes after it is refused`() {
        #expect(throws: MultipartError.self) { try parse(form([("a", "x\r\n--bc")])) }
        #expect(code { try parse("--bc\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b--") } == .malformedDelimiter)
        #expect(code { try parse("--b-x") } == .malformedDelimiter)
        #expect(code { try parse("--b\rx") } == .malformedDelimiter)
        #expect(code { try parse("--b\nContent-Disposition: form-data; name=a\n\nx\n--b--") } == .malformedDelimiter)
    }

    @Test func `A body that ends early is truncated`() throws {
        let whole = Array(form([("a", "one"), ("b", "two")]).utf8)
        let end = whole.count - 2
        for length in 0..<end {
            let expected: MultipartError.Code = length < 3 ? .missingBoundary : .truncated
            #expect(code { try parse([whole[..<length]], boundary: "b") } == expected, "after \(length) bytes")
        }
        #expect(try parse([whole[..<end]], boundary: "b").count == 2)
    }

    @Test func `A body split in three anywhere parses the same`() throws {
        let body = Array(("x\r\n" + form([("a", "\r\n--\r\n"), ("ü", "")], boundary: "a-b")).utf8)
        let whole = try parse([body[...]], boundary: "a-b")
        for first in 0...body.count {
            for second in first...body.count {
                #expect(try parse(cut(body, at: [first, second]), boundary: "a-b") == whole)
            }
        }
    }

    @Test func `A body in single bytes parses the same`() throws {
        let body = Array(form([("a", "\r\n--b\u{0}".replacing("--b", with: "--")), ("b", "two")]).utf8)
        #expect(try parse(cut(body, at: Array(0...body.count)), boundary: "b") == parse([body[...]], boundary: "b"))
    }

    @Test func `A big part is returned in slices of the chunk, not in copies`() throws {
        let data = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
        let header = "--b\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n"
        let body = Array(header.utf8) + data + Array("\r\n--b--".utf8)
        var parser = MultipartParser(boundary: try MultipartBoundary("b"))
        var position = 0
        var ranges: [Range<Int>] = []
        while let event = try parser.nextEvent(in: body.span.bytes, at: &position) {
            if case .partData(let range) = event { ranges.append(range) }
        }
        #expect(ranges.map(\.count) == [100_000])
    }

    @Test func `Every limit is enforced`() {
        var limits = MultipartLimits()
        limits.parts = 1
        #expect(code { try parse(form([("a", "1"), ("b", "2")]), limits: limits) } == .limitExceeded)
        limits = MultipartLimits()
        #expect(code { try parse(String(repeating: "x", count: limits.preambleBytes + 1) + form([])) } == .missingBoundary)
        #expect(code { try parse("--b" + String(repeating: " ", count: limits.paddingBytes + 1)) } == .limitExceeded)
        let longHeader = "X: " + String(repeating: "x", count: limits.headerBytes) + "\r\n"
        #expect(code { try parse("--b\r\n" + longHeader) } == .limitExceeded)
        let manyHeaders = String(repeating: "X: y\r\n", count: limits.headerLines + 1)
        #expect(code { try parse("--b\r\n" + manyHeaders + "\r\n") } == .limitExceeded)
    }
}

/// The code of the error for a body, or nil when it parses.
func code(_ body: () throws -> [Part]) -> MultipartError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? MultipartError)?.code
    }
}
