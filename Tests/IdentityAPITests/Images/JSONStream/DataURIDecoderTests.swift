import Foundation
import JSON
import Testing

@testable import IdentityAPI

@Suite struct DataURIDecoderTests {
    @Test(arguments: 0..<70)
    func `the output of Foundation is decoded, wherever it is split`(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
        let text = Array(Data(bytes).base64EncodedString().utf8)
        for position in 0...text.count {
            #expect(try decodeDataURI(cut(text, at: [position])) == bytes)
            #expect(try decodeDataURI(cut(text, at: [position / 2, position])) == bytes)
        }
    }

    @Test(arguments: [
        "data:image/jpeg;base64,QUJD", "DATA:image/PNG;base64,QUJD", "data:image/jpeg;charset=x;base64,QUJD", "data:;base64,QUJD",
        "data:text/plain;base64,QUJD", "QUJD",
    ])
    func `a data URI is decoded like bare base64, whatever type it declares`(text: String) throws {
        for position in 0...text.utf8.count {
            #expect(try decodeDataURI(cut(Array(text.utf8), at: [position])) == Array("ABC".utf8))
        }
    }

    @Test(arguments: ["\r\n", "\n", "\r"], [64, 76])
    func `line breaks are allowed between groups, wherever the text is split`(end: String, length: Int) throws {
        let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 41) }
        let base64 = Array(Data(bytes).base64EncodedString())
        let lines = stride(from: 0, to: base64.count, by: length).map { String(base64[$0..<min($0 + length, base64.count)]) }
        let joined = lines.joined(separator: end)
        for text in [joined, joined + end, "data:image/png;base64," + joined] {
            for position in 0...text.utf8.count { #expect(try decodeDataURI(cut(Array(text.utf8), at: [position])) == bytes) }
        }
    }

    @Test func `texts that begin like a scheme are decoded as base64`() throws {
        #expect(try decodeDataURI([Array("data".utf8)]) == [UInt8](try #require(Data(base64Encoded: "data"))))
        #expect(try decodeDataURI([Array("dataQUJD".utf8)]) == [UInt8](try #require(Data(base64Encoded: "dataQUJD"))))
        #expect(try decodeDataURI([[]]).isEmpty)
    }

    @Test(arguments: [
        "QUJD-_8=", "QUJD+/8=", "QUJD-_8", "QUJD+/8", " QUJD-_8", "QU\nJD\t-_ 8", "QUJD-_8\r\n=\r\n", "data:image/png; base64, QUJD-_8=",
        " data:image/png;base64,\nQUJD+/8", "data:image/png;base64 ,QUJD-/8=",
    ])
    func `alphabet, padding and white space make no difference`(text: String) throws {
        let bytes = Array(text.utf8)
        for position in 0...bytes.count { #expect(try decodeDataURI(cut(bytes, at: [position])) == [65, 66, 67, 0xFB, 0xFF]) }
    }

    @Test(arguments: [
        ("QUJ!", "not of base64"), ("QUI=QQ", "behind the padding"), ("=", "nothing to pad"), ("QUJDR", "not whole"), ("QR", "more bytes"),
        ("data:image/png,QUJD", ";base64"), ("data:image/png", "comma"),
    ])
    func `an error says what is wrong`(text: String, reason: String) {
        let error = #expect(throws: JSONError.self) { try decodeDataURI([Array(text.utf8)]) }
        #expect(error?.message.contains(reason) == true)
    }

    @Test(arguments: [
        "Q", "QUJDR", "QQ=", "Q===", "=", "====", "QQ==QQ==", "QQ==A", "QQ=A", "QUI=A", "QR==", "QR", "QUJDQR", "QUK=", "QUJ=",
        "QQ==\nQUJD",
        "QUJD\0", "QUJÐ", "QUJD\u{FEFF}", "data:image/jpeg,QUJD", "data:image/jpeg;base64QUJD", "data:", "data:x",
        "data:image/jpeg;base64,Q", "data:image/jpeg;base64;x,QUJD", "data:" + String(repeating: "a", count: 200) + ";base64,QUJD",
    ])
    func `any other text is refused, wherever it is split`(text: String) {
        let bytes = Array(text.utf8)
        for position in 0...bytes.count {
            let error = #expect(throws: JSONError.self) { try decodeDataURI(cut(bytes, at: [position])) }
            #expect(error?.code == .badBase64)
        }
    }
}
