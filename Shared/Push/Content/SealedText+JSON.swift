public import FoundationEssentials
public import HeliographCrypto
internal import JSON
internal import WireFormat

extension SealedText {
    /// The pattern of the sealed bytes in the JSON of an event or a row, for Postgres. It cannot match inside of a JSON string, where its
    /// quotes would be escaped.
    public static let pattern = #""\#(sealedMember)":"([A-Za-z0-9_-]+)""#
    /// The text by which Postgres finds JSON with sealed texts.
    public static let marker = #""\#(sealedMember)":""#
    /// The replacement of ``pattern`` that removes the bytes.
    public static let removal = #""\#(sealedMember)":"""#

    /// Finds the sealed texts in the JSON of an event or a row, at any depth.
    ///
    /// - Throws: `malformed` when it is not JSON, or a sealed text cannot be read.
    public static func all(in json: [UInt8]) throws(CryptoError) -> [SealedText] {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: json, limits: JSONLimits(maxDepth: 128, allowsRepeatedNames: true))
        } catch {
            throw CryptoError(.malformed, "the text around sealed values is not JSON")
        }
        var found: [SealedText] = []
        try find(in: document.root, &found)
        return found
    }

    private static func find(in element: JSONElement, _ found: inout [SealedText]) throws(CryptoError) {
        if element[sealedMember] != nil, element[useMember] != nil {
            guard let text = try? SealedText(json: element) else { throw CryptoError(.malformed, "a sealed text cannot be read") }
            found.append(text)
            return
        }
        for child in element.elements ?? [] { try find(in: child, &found) }
        try element.forEachMember { _, child throws(CryptoError) in try find(in: child, &found) }
    }

    /// Returns the JSON with its sealed texts sealed by the sealer's current key; nil when that key sealed all of them.
    ///
    /// - Throws: ``CryptoError`` when a text does not open.
    public static func resealed(
        in json: [UInt8], of notificationID: UUID, with sealer: Sealer
    ) throws(CryptoError) -> [UInt8]? {
        var text = String(decoding: json, as: UTF8.self)
        var isChanged = false
        for old in try all(in: json) where !old.bytes.isEmpty {
            guard let new = try sealer.resealed(old.bytes, context: context(old.use, of: notificationID)) else { continue }
            // Sealed bytes are random: they are nowhere else in the JSON.
            text = text.replacing(Base64URL.encode(old.bytes), with: Base64URL.encode(new))
            isChanged = true
        }
        return isChanged ? Array(text.utf8) : nil
    }
}
