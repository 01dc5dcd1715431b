import Multipart
import TestSupport
import Testing

@Suite struct FuzzTests {
    /// Pieces that bodies are composed of, so that nearly-boundaries are frequent.
    private static let pieces: [String] = [
        "\r\n--XyZ", "--XyZ", "--XyZ--", "\r\n--XyZ--", "\r\n", "\r", "\n", "-", "--", "\r\n--", "\r\n--Xy", "XyZ", " ",
        "\t", "data", "\0", header, "\r\n" + header, "--XyZ\r\n" + header, "\r\n--XyZ\r\n" + header,
    ]
    private static let header = "Content-Disposition: form-data; name=\"f\"\r\n\r\n"

    @Test(arguments: 0..<8)
    func `The streaming parser agrees with the reference parser`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var wellFormed = 0
        for _ in 0..<2_000 {
            var text = Bool.random(using: &random) ? Self.pieces[18] : ""
            for _ in 0..<Int.random(in: 0..<14, using: &random) { text += Self.pieces.randomElement(using: &random)! }
            if Bool.random(using: &random) { text += "\r\n--XyZ--" }
            let body = Array(text.utf8)
            let cuts = (0..<Int.random(in: 0..<6, using: &random)).map { _ in Int.random(in: 0...body.count, using: &random) }
            let streamed = try? parse(cut(body, at: cuts), boundary: "XyZ").map(\.data)
            let expected = ReferenceParser.parse(body, boundary: "XyZ")
            #expect(streamed == expected, "\(text.debugDescription) cut at \(cuts)")
            if expected?.isEmpty == false { wellFormed += 1 }
        }
        #expect(wellFormed > 100, "the generator makes too few bodies that parse")
    }

    @Test func `Random bytes never trap and give the same result however they are split`() {
        var random = SeededGenerator(seed: 2_046)
        for _ in 0..<3_000 {
            let alphabet: [UInt8] = [13, 10, 45, 98, 58, 59, 34, 92, 61, 32, 0, 255, UInt8.random(in: 0...255, using: &random)]
            let body = (0..<Int.random(in: 0..<200, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
            let prefixed = Array("--b\r\nContent-Disposition: form-data; ".utf8) + body
            for bytes in [body, prefixed] {
                let whole = outcome([bytes[...]])
                let cuts = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &random) }
                #expect(outcome(cut(bytes, at: cuts)) == whole)
            }
        }
    }

    private func outcome(_ chunks: [ArraySlice<UInt8>]) -> Result<[Part], MultipartError> {
        Result { () throws(MultipartError) -> [Part] in try parse(chunks, boundary: "b") }
    }
}
