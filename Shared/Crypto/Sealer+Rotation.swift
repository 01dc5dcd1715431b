extension Sealer {
    /// The id of the key that seals.
    public var currentKeyID: String { keyRing.current.id }

    /// The ids of all keys of the ring, in its order: the first one seals.
    public var keyIDs: [String] { keyRing.keys.map(\.id) }

    /// Returns the bytes with which every value begins that this build seals whole with a key: version, kind, and the key's id.
    public static func start(ofValuesWithKey keyID: String) -> [UInt8] { SealHeader.start(kind: .whole, keyID: keyID) }

    /// Returns the id of the key that sealed a value or a stream, whether or not a ring has it; nil for bytes that are not sealed.
    ///
    /// - Parameter sealed: The sealed bytes; their first ``SealedSegments/maxHeaderByteCount`` are sufficient.
    public static func keyID(of sealed: [UInt8]) -> String? {
        for kind in [SealHeader.Kind.whole, .stream] {
            if let header = try? SealHeader(reading: sealed, expected: kind) { return String(decoding: header.keyID, as: UTF8.self) }
        }
        return nil
    }

    /// Returns the value resealed with the current key, under the same context; nil when that key sealed it.
    ///
    /// - Throws: `malformed`, `unknownKey`, or `authenticationFailed` when it does not open.
    public func resealed(_ sealed: [UInt8], context: [UInt8]) throws(CryptoError) -> [UInt8]? {
        guard Self.keyID(of: sealed) != currentKeyID else { return nil }
        return try seal(try open(sealed, context: context), context: context)
    }
}
