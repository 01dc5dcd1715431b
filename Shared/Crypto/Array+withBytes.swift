extension Array where Element == UInt8 {
    /// Calls `withUnsafeBytes` with a typed error, which the standard library's function loses.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Value
    ) throws(CryptoError) -> Value {
        try withUnsafeBytes { bytes -> Result<Value, CryptoError> in
            do throws(CryptoError) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }.get()
    }
}
