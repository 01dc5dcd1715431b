#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The lexical rules of JSON strings.
package enum JSONString {
    /// U+FEFF in UTF-8.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    static func isEqual(_ bytes: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == other.count, let start = bytes.baseAddress, let otherStart = other.baseAddress else {
            return bytes.isEmpty && other.isEmpty
        }
        return memcmp(start, otherStart, bytes.count) == 0
    }

    /// Finds a byte with `memchr`, which takes a millisecond for a picture of megabytes.
    static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        guard let base = bytes.baseAddress, let found = memchr(base + range.lowerBound, Int32(byte), range.count) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// Finds the end of the text from `start` on that stands for itself: the first quotation mark, backslash or control character, or the
    /// end of the bytes.
    static func plainText(in bytes: UnsafeRawBufferPointer, from start: Int) -> (end: Int, isASCII: Bool) {
        var index = start
        var union: UInt64 = 0
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let found = marks(below: 0x20, word) | marks(below: 1, word ^ (ones * 0x22)) | marks(below: 1, word ^ (ones * 0x5C))
            if found != 0 {
                let bits = found.trailingZeroBitCount & ~7
                return (index + bits / 8, (union | word & ((1 << bits) - 1)) & (ones << 7) == 0)
            }
            union |= word
            index += 8
        }
        while index < bytes.count, bytes[index] >= 0x20, bytes[index] != 0x22, bytes[index] != 0x5C {
            union |= UInt64(bytes[index])
            index += 1
        }
        return (index, union & (ones << 7) == 0)
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }

    /// Marks the bytes of a word that are below a limit, which is at most 0x80, by their highest bits; returns zero without such a byte.
    ///
    /// The lowest mark is right. A byte above it may be marked as well, since the subtraction borrows from it.
    private static func marks(below limit: UInt64, _ word: UInt64) -> UInt64 { (word &- ones &* limit) & ~word & (ones << 7) }

    /// Whether a byte is white space between tokens (RFC 8259 §2).
    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Decodes the bytes between two quotation marks.
    package static func decode(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> String {
        if let control = bytes.firstIndex(where: { $0 < 0x20 }) {
            throw JSONError(.malformed, "Illegal control character in string.", at: control)
        }
        let text =
            bytes.contains(UInt8(ascii: "\\"))
            ? String(validating: try unescape(bytes), as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        guard let text else { throw JSONError(.malformed, "Invalid UTF-8.", at: bytes.startIndex) }
        return text
    }

    /// Resolves the escapes of the bytes between two quotation marks.
    static func unescape(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var rest = bytes
        while let escape = rest.firstIndex(of: UInt8(ascii: "\\")) {
            text += rest[..<escape]
            rest = rest[(escape + 1)...]
            text.append(contentsOf: UTF8.encode(try unescapeOne(&rest))!)
        }
        return text + rest
    }

    /// Decodes the escape after a backslash, including the second half of a surrogate pair.
    private static func unescapeOne(_ rest: inout ArraySlice<UInt8>) throws(JSONError) -> Unicode.Scalar {
        guard let kind = rest.popFirst() else { throw fault("Closing quote expected in string.", rest) }
        guard kind == UInt8(ascii: "u") else {
            guard let byte = simpleEscape(kind) else { throw fault("Invalid escape sequence.", rest) }
            return Unicode.Scalar(byte)
        }
        let first = try hexUnit(&rest)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u") else {
            throw fault("Missing low surrogate.", rest)
        }
        let second = try hexUnit(&rest)
        guard UTF16.isTrailSurrogate(second) else { throw fault("Invalid low surrogate.", rest) }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private static func hexUnit(_ rest: inout ArraySlice<UInt8>) throws(JSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst().flatMap(hexDigit) else { throw fault("Illegal hex string.", rest) }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    private static func fault(_ message: String, _ rest: ArraySlice<UInt8>) -> JSONError {
        JSONError(.malformed, message, at: rest.startIndex)
    }

    /// The byte for the letter of an escape; nil when JSON has no such escape.
    package static func simpleEscape(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The value of a hexadecimal digit; nil for any other byte.
    package static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
