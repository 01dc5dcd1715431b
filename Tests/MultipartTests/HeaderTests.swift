import Multipart
import Testing

@Suite struct HeaderTests {
    private func headers(_ lines: String) throws(MultipartError) -> MultipartPartHeaders {
        let parts = try parse("--b\r\n\(lines)\r\n\r\nx\r\n--b--")
        return parts[0].headers
    }

    private func refusal(_ lines: String) -> MultipartError.Code? {
        code { try parse("--b\r\n\(lines)\r\n\r\nx\r\n--b--") }
    }

    @Test(arguments: [
        // Written by curl, browsers and URLSession.
        (#"Content-Disposition: form-data; name="a"; filename="b.jpg""#, "a", "b.jpg"),
        (#"content-disposition:form-data;name="a";filename="b.jpg""#, "a", "b.jpg"),
        ("Content-Disposition: FORM-DATA; NAME=a; Filename=b.jpg;", "a", "b.jpg"),
        // Quotes: escaped with a backslash (older curl), percent-encoded (browsers), other escapes left alone.
        (#"Content-Disposition: form-data; name="a"; filename="say \"hi\".jpg""#, "a", #"say "hi".jpg"#),
        (#"Content-Disposition: form-data; name="a"; filename="say %22hi%22.jpg""#, "a", #"say "hi".jpg"#),
        (#"Content-Disposition: form-data; name="a"; filename="C:\Users\me\b.jpg""#, "a", #"C:\Users\me\b.jpg"#),
        (#"Content-Disposition: form-data; name="a"; filename="a\\b%41%0D%0A.jpg""#, "a", "a\\b%41\r\n.jpg"),
        (#"Content-Disposition: form-data; name="a"; filename="x; name=\"b\".jpg""#, "a", #"x; name="b".jpg"#),
        // UTF-8, as RFC 7578 §5.1 requires, and the extended form, which it forbids but some clients send.
        (#"Content-Disposition: form-data; name="a"; filename="写真 📷.jpg""#, "a", "写真 📷.jpg"),
        (#"Content-Disposition: form-data; name="a"; filename="x"; filename*=UTF-8''%E5%86%99.jpg"#, "a", "写.jpg"),
        (#"Content-Disposition: form-data; name="a"; filename="x.jpg"; filename*=latin1''%E9"#, "a", "x.jpg"),
        (#"Content-Disposition: form-data; name="a"; filename="x.jpg"; filename*=UTF-8''%zz"#, "a", "x.jpg"),
        // A folded line, and an empty file name.
        ("Content-Disposition: form-data;\r\n name=\"a\";\r\n\tfilename=\"b.jpg\"", "a", "b.jpg"),
        (#"Content-Disposition: form-data; name="a"; filename="""#, "a", ""),
    ])
    func `Names are decoded as clients send them`(line: String, name: String, filename: String) throws {
        #expect(try headers(line) == MultipartPartHeaders(name: name, filename: filename))
    }

    @Test func `The content type is kept and unknown headers are ignored`() throws {
        let found = try headers("X-What: (ever)\r\nContent-Type:  image/jpeg \r\nContent-Disposition: form-data; name=a")
        #expect(found == MultipartPartHeaders(name: "a", contentType: "image/jpeg"))
    }

    @Test(arguments: [
        ("Content-Type: text/plain", MultipartError.Code.malformedHeader),
        ("Content-Disposition: attachment; name=a", .malformedHeader),
        ("Content-Disposition: form-data", .missingName),
        (#"Content-Disposition: form-data; name="""#, .missingName),
        (#"Content-Disposition: form-data; filename="x""#, .missingName),
        (#"Content-Disposition: form-data; name="a"#, .malformedHeader),
        (#"Content-Disposition: form-data; name="a\"#, .malformedHeader),
        (#"Content-Disposition: form-data; name=a"b""#, .malformedHeader),
        ("Content-Disposition: form-data; name=", .malformedHeader),
        ("Content-Disposition: form-data; =a", .malformedHeader),
        ("Content-Disposition: form-data name=a", .malformedHeader),
        ("Content-Disposition: form-data; name=a; name=b", .malformedHeader),
        ("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b", .malformedHeader),
        ("Content-Disposition: form-data; name=\"a\u{0}b\"", .malformedHeader),
        ("Content-Disposition: form-data; name=\"a\nb\"", .malformedHeader),
        ("Content-Disposition", .malformedHeader),
        (": form-data; name=a", .malformedHeader),
        ("Content Disposition: form-data; name=a", .malformedHeader),
        ("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64", .unsupportedTransferEncoding),
    ])
    func `A malformed header block is refused`(lines: String, expected: MultipartError.Code) {
        #expect(refusal(lines) == expected)
    }

    @Test func `A name that is not UTF-8 is refused`() {
        let body = Array("--b\r\nContent-Disposition: form-data; name=\"".utf8) + [0xC3, 0x28] + Array("\"\r\n\r\n--b--".utf8)
        #expect(code { try parse([body[...]], boundary: "b") } == .malformedHeader)
    }

    @Test(arguments: ["7bit", "8bit", "Binary"])
    func `A part in a plain encoding is accepted`(encoding: String) throws {
        #expect(try headers("Content-Transfer-Encoding: \(encoding)\r\nContent-Disposition: form-data; name=a").name == "a")
    }
}

@Suite struct BoundaryTests {
    @Test(arguments: [
        ("multipart/form-data; boundary=abc", "abc"),
        ("Multipart/Form-Data;boundary=\"a b\"", "a b"),
        ("multipart/form-data; charset=utf-8; boundary=----WebKitFormBoundaryx", "----WebKitFormBoundaryx"),
        (#"multipart/form-data; Boundary="a:b=c?d/e,f(g)'+_.-""#, "a:b=c?d/e,f(g)'+_.-"),
        ("multipart/form-data; boundary=a;", "a"), ("multipart/form-data; boundary=*****", "*****"),
        ("multipart/form-data; boundary=\"<a>;b*\"", "<a>;b*"),
    ])
    func `The boundary is read from the content type`(contentType: String, boundary: String) throws {
        #expect(try MultipartBoundary(contentType: contentType).value == boundary)
    }

    @Test(arguments: [
        ("application/json", MultipartError.Code.notMultipart),
        ("", .notMultipart),
        ("multipart/mixed; boundary=a", .notMultipart),
        ("multipart/form-data", .badBoundary),
        ("multipart/form-data; boundary=", .badBoundary),
        ("multipart/form-data; boundary=\"\"", .badBoundary),
        ("multipart/form-data; boundary=\"a", .badBoundary),
        ("multipart/form-data; boundary=a; boundary=b", .badBoundary),
        ("multipart/form-data; boundary=\"a \"", .badBoundary),
        ("multipart/form-data; boundary=\"a\u{0B}\"", .badBoundary),
        ("multipart/form-data; boundary=é", .badBoundary),
        ("multipart/form-data; boundary=" + String(repeating: "a", count: 201), .badBoundary),
        ("multipart/form-data, boundary=a", .badBoundary),
    ])
    func `A content type without a usable boundary is refused`(contentType: String, expected: MultipartError.Code) {
        #expect(throws: MultipartError.self) { try MultipartBoundary(contentType: contentType) }
        do throws(MultipartError) {
            _ = try MultipartBoundary(contentType: contentType)
        } catch {
            #expect(error.code == expected)
        }
    }

    @Test func `A boundary of two hundred characters works`() throws {
        let boundary = String(repeating: "a", count: 200)
        #expect(try parse(form([("a", "x")], boundary: boundary), boundary: boundary).count == 1)
    }
}
