internal import CVips

/// Runs `body` with a stable pointer to bytes that libvips reads until the pixels are computed.
func withBytes<Result>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Result
) throws(ImagingError) -> Result {
    defer { trimHeap() }
    let result = bytes.withUnsafeBytes { file in Swift.Result { () throws(ImagingError) in try body(file) } }
    return try result.get()
}

/// Returns freed memory to the system. Each thread of libvips keeps freed memory in its own heap, some tens of megabytes a
/// picture; a worker that runs all day would keep several hundred.
private func trimHeap() {
    #if canImport(Glibc)
        malloc_trim(0)
    #endif
}
