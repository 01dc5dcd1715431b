/// The bytes of one or more commands, in memory that is freed with the last of them.
final class EncodedCommands: Sendable {
    private let bytes: FrozenBuffer<UInt8>

    init(_ bytes: consuming FrozenBuffer<UInt8>) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// Calls `body` with a part of the bytes, which is valid during the call only.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result { bytes.withBytes(range, body) }
}
