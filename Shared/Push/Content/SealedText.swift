public import FoundationEssentials
public import HeliographCrypto
public import JSON
public import WireFormat

/// A text of a push, sealed under the ring `tokens`: it is bound to its notification and to its use, and only notifier opens it.
///
/// In JSON it is an object of its own form, by which a rotation of keys finds it.
public struct SealedText: BodyObject, Hashable {
    /// The use of a text. A text of one use does not open as a text of another.
    public enum Use: String, BodyWord {
        /// The beginning of a chat message.
        case chatPreview = "chat_preview"
        /// The name of a chat message's sender.
        case chatSenderName = "chat_sender_name"
        /// The nonce that proves the possession of an installation.
        case possessionNonce = "possession_nonce"
        /// The content from an app's own server (``AppContent``).
        case appContent = "app_content"
    }

    /// The use.
    public let use: Use
    /// The sealed bytes; empty when the text was removed.
    public let bytes: [UInt8]

    /// Takes sealed bytes.
    public init(_ use: Use, bytes: [UInt8]) {
        self.use = use
        self.bytes = bytes
    }

    /// Seals a text.
    ///
    /// - Parameter notificationID: The notification that it belongs to.
    public init(sealing text: String, _ use: Use, of notificationID: UUID, with sealer: Sealer) throws(CryptoError) {
        self.init(use, bytes: try sealer.seal(Array(text.utf8), context: Self.context(use, of: notificationID)))
    }

    /// Opens the text.
    ///
    /// - Throws: ``CryptoError`` when it belongs to another notification, or the ring has not its key.
    public func opened(of notificationID: UUID, with sealer: Sealer) throws(CryptoError) -> String {
        String(decoding: try sealer.open(bytes, context: Self.context(use, of: notificationID)), as: UTF8.self)
    }

    static func context(_ use: Use, of notificationID: UUID) -> [UInt8] {
        Array("\(use.rawValue):\(notificationID.wireString)".utf8)
    }

    static let (sealedMember, useMember) = ("sealed", "use")

    /// Reads `sealed` and `use`.
    public init(from body: BodyReader) throws(BodyFault) {
        let sealed: String = try body.read(Self.sealedMember)
        guard let bytes = Base64URL.decode(sealed) else { throw BodyFault("has bytes that are not base64url") }
        self.init(try body.read(Self.useMember), bytes: bytes)
    }

    /// Writes `sealed` and `use`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member(Self.sealedMember, Base64URL.encode(bytes))
        body.member(Self.useMember, use)
    }
}

extension BodyReader {
    /// Reads a sealed text that has to be there; refuses a text of another use.
    func read(_ name: String, sealedFor use: SealedText.Use) throws(BodyFault) -> SealedText {
        guard let text = try readIfPresent(name, sealedFor: use) else { throw BodyFault("has no \(name)") }
        return text
    }

    /// Reads a sealed text that may be absent; refuses a text of another use.
    func readIfPresent(_ name: String, sealedFor use: SealedText.Use) throws(BodyFault) -> SealedText? {
        guard let text: SealedText = try readIfPresent(name) else { return nil }
        guard text.use == use else { throw BodyFault("has a \(name) of another use") }
        return text
    }
}
