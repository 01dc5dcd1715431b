/// The bytes of one or more commands, in memory that is freed with the last of them.
///
/// `@unchecked Sendable`: nothing writes to the memory after the initialiser, and only `deinit` frees it.
final class EncodedCommands: @unchecked Sendable {
    private let bytes: UnsafeBufferPointer<UInt8>

    /// - Parameter bytes: The bytes, at the start of a piece of memory that was allocated.
    init(owning bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    deinit { bytes.deallocate() }

    var count: Int { bytes.count }

    /// Calls `body` with a part of the bytes, which is valid during the call only.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range]))) }
    }
}
