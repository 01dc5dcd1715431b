internal import HeliographCrypto

/// The app on a phone that a push is sent to: its FCM registration token, or its Firebase installation id.
///
/// A token begins with the installation id it was minted for, up to a colon. That part stays the same when the token is replaced and
/// when an app moves from tokens to installation ids, so it identifies a device; otherwise a device would get two pushes.
public enum PushTarget: Sendable, Equatable, CustomStringConvertible {
    /// A registration token.
    case token(String)
    /// A Firebase installation id, which replaces tokens in newer SDKs.
    case fid(String)

    /// The kind of value that an app registered.
    public enum Kind: String, Sendable, CaseIterable {
        /// An FCM registration token.
        case token
        /// A Firebase installation id.
        case fid
    }

    /// The maximum length of a value. Real ones have 22 to about 200 bytes; Google does not specify a maximum.
    public static let maxBytes = 4096

    /// Makes a target of a value that was accepted when it was registered.
    public init(_ value: String, registeredAs kind: Kind) {
        switch kind {
        case .token: self = .token(value)
        case .fid: self = .fid(value)
        }
    }

    /// Whether it is a token or an installation id.
    public var kind: Kind {
        switch self {
        case .token: .token
        case .fid: .fid
        }
    }

    /// The value as sent. Never logged.
    public var value: String {
        switch self {
        case .token(let value), .fid(let value): value
        }
    }

    /// The kind; the value is hidden, because it allows pushing to the device.
    public var description: String { kind.rawValue }

    /// The installation id: the value up to its colon, but the whole of a long value that does not begin with one.
    private var installationID: Substring {
        let id = value.prefix { $0 != ":" }
        guard value.utf8.count >= Self.minOpaqueBytes else { return id }
        return Self.isInstallationID(id.utf8) || id.utf8.count == Self.legacyIDLength ? id : value[...]
    }

    /// The hash by which the installation is found: `PushInstall.installationKey`.
    ///
    /// An installation id of Firebase has 128 random bits, so that its hash cannot be guessed without a key. See
    /// `docs/adr/0027-lookup-keys.md`.
    public var installationKey: [UInt8] { SHA256.hash(Array("installation:".utf8) + Array(installationID.utf8)) }

    /// The hash by which a change of the value is detected: `PushInstall.valueHash`.
    public var valueHash: [UInt8] { SHA256.hash(Array("push_value:".utf8) + Array(value.utf8)) }
}

/// The kind of a value is derived from its shape. Limits count by installation id, and an installation belongs to one user, so a text that
/// many phones send in place of a token must never become an id.
extension PushTarget {
    /// The minimum length of a token that may have any form; present tokens have 142 bytes and more.
    private static let minOpaqueBytes = 100
    /// The length of the id with which tokens began before 2020.
    private static let legacyIDLength = 11

    /// Accepts a registration token or an installation id; `nil` for anything else.
    public init?(_ value: String) {
        do throws(Fault) { try self.init(checking: value) } catch { return nil }
    }

    /// Accepts such a value.
    ///
    /// - Throws: ``Fault`` for anything else, and for what phones send in place of a token.
    public init(checking value: String) throws(Fault) {
        if let fault = Fault(of: value) { throw fault }
        self = Self.isInstallationID(value.utf8) ? .fid(value) : .token(value)
    }

    /// Whether a value has the shape of an installation id, or of a token.
    ///
    /// A long value is a token in any form, because Google may change the form of its tokens; a value of hexadecimal digits only is a token
    /// of Apple. Texts in place of a token are short, and many phones send the same one. So a short value must be an installation id, or
    /// `<installation id>:<secret>`.
    static func hasShape(_ value: String.UTF8View) -> Bool {
        guard value.count <= maxBytes, value.allSatisfy({ 0x21...0x7E ~= $0 && !"\"'`()<>{}[]".utf8.contains($0) }) else { return false }
        if value.count >= minOpaqueBytes { return !value.allSatisfy { UnicodeScalar($0).properties.isASCIIHexDigit } }
        let parts = value.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        return isInstallationID(parts[0]) && isRandom(parts[0]) && parts.last?.isEmpty == false
    }

    /// Whether an id of 22 characters is not a phrase such as `demo_token_placeholder`: one in 30 million random ids has no capital and no
    /// digit.
    private static func isRandom(_ id: Substring.UTF8View) -> Bool {
        id.contains { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// An installation id is 22 base64url characters whose first four bits are 0111: it begins with c, d, e or f.
    private static func isInstallationID(_ bytes: some Collection<UInt8>) -> Bool {
        guard bytes.count == 22, let first = bytes.first else { return false }
        return UInt8(ascii: "c")...UInt8(ascii: "f") ~= first && bytes.allSatisfy(isURLSafe)
    }

    private static func isURLSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
