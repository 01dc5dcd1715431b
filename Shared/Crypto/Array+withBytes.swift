extension Array where Element == UInt8 {
    /// Does what `withUnsafeBytes` does and keeps the type of the error, which the standard library's loses.
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
