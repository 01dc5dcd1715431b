internal import Foundation
public import HeliographCrypto

/// An e-mail address in the normalised spelling that identifies an account.
///
/// White space around it is dropped, the rest is composed (NFC) and lower-cased, local part included: people spell their own address
/// in different ways, and no major provider distinguishes upper and lower case.
public struct EmailAddress: Sendable, Equatable {
    /// The maximum length of an address in bytes (RFC 5321 §4.5.3.1.3, erratum 1690).
    public static let maxBytes = 254
    private static let maxLocalBytes = 64
    private static let maxLabelBytes = 63

    /// The normalised address. Never logged.
    public let normalised: String

    /// Normalises a typed address; nil for an invalid one.
    public init?(_ text: String) {
        let address = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping.lowercased()
        guard address.utf8.count <= Self.maxBytes else { return nil }
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isLocalPart(parts[0]), Self.isDomain(parts[1]) else { return nil }
        normalised = address
    }

    /// Takes an address that was normalised when it was stored.
    init(stored: String) { normalised = stored }

    /// The lookups by which its account is found: `email_lookups.lookup`.
    ///
    /// - Parameter keys: `LOOKUP_KEYS`.
    public func lookups(under keys: LookupKeys) -> [[UInt8]] { keys.lookups(of: "email:\(normalised)") }

    private static func isLocalPart(_ part: Substring) -> Bool {
        guard 1...maxLocalBytes ~= part.utf8.count else { return false }
        // Between dots: the characters of RFC 5322's atoms, or any letter beyond ASCII (RFC 6531). No quoted strings.
        return part.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty
                && atom.unicodeScalars.allSatisfy { scalar in
                    scalar.isASCII
                        ? scalar.properties.isAlphabetic || "0123456789!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
                        : isVisible(scalar)
                }
        }
    }

    private static func isDomain(_ domain: Substring) -> Bool {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                1...maxLabelBytes ~= label.utf8.count && label.first != "-" && label.last != "-"
                    && label.unicodeScalars.allSatisfy { scalar in
                        scalar.isASCII
                            ? scalar.properties.isAlphabetic || "0123456789-".unicodeScalars.contains(scalar) : isVisible(scalar)
                    }
            }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            false
        default:
            true
        }
    }
}
