extension String {
    /// Calls `body` with the UTF-8 of the text, which is valid during the call only; `withUTF8` for a constant.
    @inlinable
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text = self
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// Creates a text from bytes; nil when they are not UTF-8.
    ///
    /// Decoding ASCII, which nearly all texts are, takes half the time of validating.
    package init?(utf8Bytes bytes: UnsafeRawBufferPointer) {
        var union: UInt8 = 0
        for byte in bytes { union |= byte }
        if union < 0x80 {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }
}
