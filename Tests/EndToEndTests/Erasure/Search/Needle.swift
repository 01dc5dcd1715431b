import Foundation
import HeliographCrypto

/// A fact about a person that is searched for, with the bytes as which it may be stored.
struct Needle: Sendable {
    /// What it is, such as `e-mail`; never its value.
    let name: String
    /// The byte strings any of which is the fact.
    let forms: [[UInt8]]

    private init(_ name: String, _ forms: [[UInt8]]) {
        self.name = name
        self.forms = Array(Set(forms))
    }

    /// A text: as it is, in either case, as hexadecimal digits and in base64.
    static func text(_ name: String, _ text: String) -> Needle {
        let spellings = [text, text.lowercased(), text.uppercased()].map { Array($0.utf8) }
        return Needle(name, spellings + spellings.flatMap(encodings))
    }

    /// Bytes: as they are, as hexadecimal digits and in base64.
    static func bytes(_ name: String, _ bytes: [UInt8]) -> Needle { Needle(name, [bytes] + encodings(bytes)) }

    /// An id: as a text with and without hyphens, and as its 16 bytes.
    static func id(_ name: String, _ id: UUID) -> Needle {
        let bytes = withUnsafeBytes(of: id.uuid) { Array($0) }
        return Needle(name, text(name, id.uuidString).forms + [bytes] + encodings(bytes))
    }

    /// Pieces of a file such as a picture, so that it is also found with other metadata or cut short.
    static func pieces(_ name: String, of file: [UInt8]) -> Needle {
        let starts = [1, 2, 3].map { $0 * (file.count - pieceLength) / 4 }
        return Needle(name, starts.flatMap { bytes(name, piece(of: file, from: $0)).forms })
    }

    private static let pieceLength = 48
    /// The number of different bytes of a piece. The code of a white area has few, and is the same in many pictures.
    private static let pieceVariety = 30

    /// Returns the next piece that no other file has by chance.
    private static func piece(of file: [UInt8], from start: Int) -> [UInt8] {
        for start in start...(file.count - pieceLength) {
            let piece = file[start..<(start + pieceLength)]
            if Set(piece).count >= pieceVariety { return Array(piece) }
        }
        preconditionFailure("a file of \(file.count) bytes has nothing of its own")
    }

    private static func encodings(_ bytes: [UInt8]) -> [[UInt8]] {
        let hex = Hex.encode(bytes)
        return [Array(hex.utf8), Array(hex.uppercased().utf8)] + base64(bytes)
    }

    /// The characters of base64 that depend on these bytes alone, whatever stands before and behind them.
    private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<3).flatMap { offset -> [[UInt8]] in
            let padded = [UInt8](repeating: 0, count: offset) + bytes
            let own = (offset == 0 ? 0 : offset + 1)..<(padded.count * 8 / 6)
            return [Base64.encode(padded), Base64URL.encode(padded)].map { Array(Array($0.utf8)[own]) }
        }
    }
}
