public import FoundationEssentials

extension UUID {
    /// The id on the wire: 36 characters in lower case, as RFC 9562 asks of writers.
    public var wireString: String {
        let digits: StaticString = "0123456789abcdef"
        let bytes = uuid
        return String(unsafeUninitializedCapacity: 36) { output in
            withUnsafeBytes(of: bytes) { input in
                var end = 0
                for index in 0..<16 {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        output[end] = UInt8(ascii: "-")
                        end += 1
                    }
                    output[end] = digits.utf8Start[Int(input[index] >> 4)]
                    output[end + 1] = digits.utf8Start[Int(input[index] & 0xF)]
                    end += 2
                }
            }
            return 36
        }
    }

    /// Parses an id of 36 characters in either case; nil when the text is invalid.
    ///
    /// Foundation's own parser also takes signs and blanks for digits, so that two texts could name the same row.
    public init?(wireString text: some StringProtocol) {
        self.init(wireBytes: text.utf8)
    }

    /// Parses an id of 36 bytes in either case; nil when the text is invalid.
    ///
    /// Foundation's own parser uses `sscanf`, which showed in profiles of the bus.
    public init?(wireBytes text: some Collection<UInt8>) {
        let bytes = text.withContiguousStorageIfAvailable(Self.parse) ?? Array(text).withUnsafeBufferPointer(Self.parse)
        guard let bytes else { return nil }
        self.init(uuid: bytes)
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> uuid_t? {
        guard text.count == 36, [8, 13, 18, 23].allSatisfy({ text[$0] == UInt8(ascii: "-") }) else { return nil }
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &bytes) { output in
            var (position, union): (Int, UInt8) = (0, 0)
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 { position += 1 }
                let (high, low) = (hexValue(text[position]), hexValue(text[position + 1]))
                union |= high | low
                output[index] = high << 4 | low
                position += 2
            }
            return union < 16
        }
        return isValid ? bytes : nil
    }

    /// The value of a hexadecimal digit; 255 for another character.
    private static func hexValue(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: .max
        }
    }
}
