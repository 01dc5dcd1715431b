internal import HeliographCrypto

/// An FCM registration token or Firebase installation id of an app, with valid syntax.
///
/// A token begins with the installation id it was minted for, up to a colon. That part stays the same when the token is replaced and
/// when an app moves from tokens to installation ids, so it identifies a device; otherwise a device would get two pushes.
public struct PushTarget: Sendable, Equatable {
    /// The kind of value that an app registered.
    public enum Kind: String, Sendable, CaseIterable {
        /// An FCM registration token.
        case token
        /// A Firebase installation id.
        case fid
    }

    /// The maximum length of a value. Real ones have 22 to about 200 bytes; Google does not specify a maximum.
    public static let maxBytes = 4096

    /// Whether it is a token or an installation id.
    public let kind: Kind
    /// The value as sent. Never logged.
    public let value: String

    /// Accepts a value of 1 to 4096 bytes of printable ASCII without spaces that does not begin with a colon, which would leave the
    /// installation id empty; `nil` for anything else.
    public init?(_ value: String) {
        do throws(Fault) { try self.init(checking: value) } catch { return nil }
    }

    /// Accepts such a value.
    ///
    /// - Throws: ``Fault`` for anything else, and for what phones send in place of a token.
    public init(checking value: String) throws(Fault) {
        if let fault = Fault(of: value) { throw fault }
        self.value = value
        self.kind = Self.isInstallationID(value.utf8) ? .fid : .token
    }

    /// The installation id: the value up to its colon.
    private var installationID: Substring {
        value.prefix { $0 != ":" }
    }

    /// The hash by which the installation is found: `PushInstall.installationKey`.
    ///
    /// An installation id of Firebase has 128 random bits, so that its hash cannot be guessed without a key. See
    /// `docs/adr/0027-lookup-keys.md`.
    public var installationKey: [UInt8] { SHA256.hash(Array("installation:".utf8) + Array(installationID.utf8)) }

    /// The hash by which a change of the value is detected: `PushInstall.valueHash`.
    public var valueHash: [UInt8] { SHA256.hash(Array("push_value:".utf8) + Array(value.utf8)) }

    /// An installation id is 22 base64url characters whose first four bits are 0111: it begins with c, d, e or f.
    private static func isInstallationID(_ bytes: String.UTF8View) -> Bool {
        guard bytes.count == 22, let first = bytes.first, (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(first) else {
            return false
        }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
