import HeliographCrypto
import JSON

@testable import IdentityAPI

extension FuzzTarget {
    /// The lengths of chunks, and a text in base64, in base64url or in a data URI.
    static let base64 = FuzzTarget(name: "base64") { bytes in
        var input = FuzzInput(bytes)
        let cuts = input.cuts()
        let text = input.bytes
        if let decoded = canonical(text) { try requireEqual(Array(Base64.encode(decoded).utf8), text, "the one spelling in base64") }
        try checkURLSafe(input.text)
        try checkWriting(text)
        let pieces = cuts.chunks(of: text)
        try requireEqual(streamed(pieces), streamed([text[...]]), "a stream in pieces and whole")
        try requireEqual(streamed([text[...]]), canonical(usualSpelling(text)), "a stream and Base64")
        let uri = dataURI([text[...]])
        try requireEqual(dataURI(pieces), uri, "a data URI in pieces and whole")
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            return try requireEqual(uri, streamed([text[...]]), "a text that is no data URI")
        }
        if uri != nil { try requireEqual(uri, streamed([text[(comma + 1)...]]), "the data of a data URI") }
    }

    private static func checkURLSafe(_ text: String) throws {
        let decoded = Base64URL.decode(text)
        if let decoded { try requireEqual(Base64URL.encode(decoded), text, "the one spelling in base64url") }
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return try requireEqual(decoded, nil, "signs of base64") }
        let standard = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        try requireEqual(decoded, canonical(standard + padding), "Base64URL and Base64")
    }

    private static func checkWriting(_ bytes: [UInt8]) throws {
        try requireEqual(Base64.decode(Base64.encode(bytes)), bytes, "what is read of base64")
        try requireEqual(Base64URL.decode(Base64URL.encode(bytes)), bytes, "what is read of base64url")
        var text: [UInt8] = []
        Base64.encode(bytes, into: &text)
        try requireEqual(canonical(text), bytes, "what is read of base64 that was appended")
    }

    private static func canonical(_ text: [UInt8]) -> [UInt8]? { text.withUnsafeBytes { Base64.decode($0) } }

    /// The text in the standard alphabet, padded and in one line.
    private static func usualSpelling(_ text: [UInt8]) -> [UInt8] {
        let signs = [UInt8(ascii: "-"): UInt8(ascii: "+"), UInt8(ascii: "_"): UInt8(ascii: "/")]
        var line = text.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { signs[$0] ?? $0 }
        if !line.contains(UInt8(ascii: "=")) { while line.count % 4 > 1 { line.append(UInt8(ascii: "=")) } }
        return line
    }

    private static func streamed(_ chunks: [ArraySlice<UInt8>]) -> [UInt8]? {
        var decoder = Base64StreamDecoder()
        var output: [UInt8] = []
        do throws(JSONError) {
            for chunk in chunks { try decoder.decode(Array(chunk).span.bytes, into: &output) }
            try decoder.finish(into: &output)
        } catch {
            return nil
        }
        return output
    }

    private static func dataURI(_ chunks: [ArraySlice<UInt8>]) -> [UInt8]? {
        var decoder = DataURIDecoder()
        var output: [UInt8] = []
        do throws(JSONError) {
            for chunk in chunks { try decoder.decode(Array(chunk).span.bytes, into: &output) }
            try decoder.finish(into: &output)
        } catch {
            return nil
        }
        return output
    }
}
