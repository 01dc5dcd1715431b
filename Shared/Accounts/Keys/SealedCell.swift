public import FoundationEssentials
public import HeliographCrypto
internal import PostgresClient
internal import Push

/// The sealed bytes of one row of a ``SealedColumn``.
public struct SealedCell: Sendable {
    /// The primary key of the row.
    public let id: UUID
    let bytes: [UInt8]
    /// The context that the value is bound to; nil for the texts of a push, because each of them has a context of its own.
    private let context: [UInt8]?

    /// Reads the columns `id`, `bytes` and `owner`; nil when the row has no value that a key other than the current one may have sealed.
    init?(row: PostgresRow, of column: SealedColumn) throws(PostgresError) {
        guard let bytes: [UInt8] = try row.decode("bytes", as: [UInt8]?.self) else { return nil }
        self.bytes = bytes
        id = try row.decode("id")
        context =
            switch column.content {
            case .value(_, let context): context(try row.decode("owner"))
            case .hashed(_, let context): context(try row.decode("owner"))
            case .texts: nil
            }
    }

    /// Returns the bytes with each sealed value resealed by the sealer's current key; nil when that key sealed all of them.
    ///
    /// - Throws: ``CryptoError`` when a value does not open.
    public func resealed(by sealer: Sealer) throws(CryptoError) -> [UInt8]? {
        guard let context else { return try SealedText.resealed(in: bytes, of: id, with: sealer) }
        return try sealer.resealed(bytes, context: context)
    }

    /// Opens each sealed value of the bytes, and discards the plain text.
    ///
    /// - Throws: ``CryptoError`` when a value does not open.
    public func verify(with sealer: Sealer) throws(CryptoError) {
        if let context {
            _ = try sealer.open(bytes, context: context)
            return
        }
        for text in try SealedText.all(in: bytes) { _ = try text.opened(of: id, with: sealer) }
    }
}
