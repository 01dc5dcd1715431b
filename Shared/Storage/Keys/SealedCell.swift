public import FoundationEssentials
public import HeliographCrypto
internal import PostgresClient
internal import WireFormat

/// The sealed bytes of one row of a ``SealedColumn``.
public struct SealedCell: Sendable {
    /// The primary key of the row.
    public let id: UUID
    let bytes: [UInt8]
    /// The context that the value is bound to; nil for parameters, because each parameter has a context of its own.
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
            case .parameters: nil
            }
    }

    /// Returns the bytes with each sealed value resealed by the sealer's current key; nil when that key sealed all of them.
    ///
    /// - Throws: ``CryptoError`` when a value does not open.
    public func resealed(by sealer: Sealer) throws(CryptoError) -> [UInt8]? {
        guard let context else { return try resealedParameters(by: sealer) }
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
        for (name, value) in SealedParameters.find(in: String(decoding: bytes, as: UTF8.self)) {
            guard let sealed = Base64URL.decode(value), let context = SealingContext.parameter(name, notificationID: id) else {
                throw CryptoError(.malformed, "a sealed parameter is not base64url")
            }
            _ = try sealer.open(sealed, context: context)
        }
    }

    private func resealedParameters(by sealer: Sealer) throws(CryptoError) -> [UInt8]? {
        var text = String(decoding: bytes, as: UTF8.self)
        var isChanged = false
        for (name, value) in SealedParameters.find(in: text) {
            guard let sealed = Base64URL.decode(value), let context = SealingContext.parameter(name, notificationID: id) else { continue }
            guard let new = try sealer.resealed(sealed, context: context) else { continue }
            // A sealed value is random: it is nowhere else in the text.
            text = text.replacing(value, with: Base64URL.encode(new))
            isChanged = true
        }
        return isChanged ? Array(text.utf8) : nil
    }
}

/// Finds sealed parameters in the JSON of a notification.
enum SealedParameters {
    /// The pattern of a parameter, with its name and its value, for Postgres and for Swift. It cannot match inside a JSON string, where
    /// its quotes would be escaped.
    static let pattern = "\"(\(NotificationParameter.sealedTexts.joined(separator: "|")))\": ?\"([A-Za-z0-9_-]+)\""

    static func find(in text: String) -> [(name: String, value: String)] {
        guard let regex = try? Regex(pattern, as: (Substring, Substring, Substring).self) else { return [] }
        return text.matches(of: regex).map { (String($0.output.1), String($0.output.2)) }
    }
}
