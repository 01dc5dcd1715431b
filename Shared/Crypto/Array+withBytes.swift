internal import COpenSSL

extension Array where Element == UInt8 {
    /// Appends bytes of 0 by one call into C: an unoptimised build would append them one at a time, for milliseconds.
    mutating func appendZeros(_ count: Int) {
        self += [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            if let base = buffer.baseAddress { OPENSSL_cleanse(base, count) }
            initializedCount = count
        }
    }

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
