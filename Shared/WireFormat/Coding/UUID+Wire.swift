public import FoundationEssentials

extension UUID {
    /// The id on the wire: 36 characters in lower case, as RFC 9562 asks of writers.
    public var wireString: String {
        String(unsafeUninitializedCapacity: 36) { output in
            write(to: output)
            return 36
        }
    }

    /// Calls `body` with the text of ``wireString``, which is valid during the call only; saves the allocation of a `String`.
    public func withWireText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
            write(to: text)
            return body(UnsafeRawBufferPointer(text))
        }
    }

    private func write(to output: UnsafeMutableBufferPointer<UInt8>) {
        let digits: StaticString = "0123456789abcdef"
        withUnsafeBytes(of: uuid) { input in
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
        let dash = UInt8(ascii: "-")
        guard text.count == 36, text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash else { return nil }
        let text = UnsafeRawBufferPointer(text)
        func four(_ offset: Int) -> UInt64 { UInt64(UInt32(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt32.self))) }
        func eight(_ offset: Int) -> UInt64 { four(offset) | four(offset + 4) << 32 }
        guard let first = bytes(of: eight(0)), let second = bytes(of: four(9) | four(14) << 32),
            let third = bytes(of: four(19) | four(24) << 32), let fourth = bytes(of: eight(28))
        else { return nil }
        return unsafeBitCast((first, second, third, fourth), to: uuid_t.self)
    }

    /// The four bytes that eight hexadecimal digits write, the first digit in the lowest byte; nil when a character is not a digit.
    ///
    /// All at once, without a branch for each: a parser of single digits took three times as long for random ids.
    private static func bytes(of digits: UInt64) -> UInt32? {
        func all(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 * UInt64(byte) }
        // Sets the highest bit of each byte that is at least the bound; bytes of 128 and more are refused below.
        func atLeast(_ bound: UInt8, _ bytes: UInt64) -> UInt64 { bytes &+ all(0x80 - bound) }
        let lower = digits | all(0x20)
        let isDecimal = atLeast(UInt8(ascii: "0"), digits) & ~atLeast(UInt8(ascii: ":"), digits)
        let isLetter = atLeast(UInt8(ascii: "a"), lower) & ~atLeast(UInt8(ascii: "g"), lower)
        guard digits & all(0x80) == 0, (isDecimal | isLetter) & all(0x80) == all(0x80) else { return nil }
        // The lower four bits of a decimal digit's character are its value; for a letter, whose bit 6 is set, the value is 9 more.
        let values = (digits & all(0xF)) &+ (digits >> 6 & all(1)) &* 9
        let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        let halves = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: halves | halves >> 16).littleEndian
    }
}
