internal import Foundation

/// The name of a host on the internet.
package enum DomainName {
    private static let maxLabelBytes = 63

    /// Returns a name in A-labels (RFC 5890), in which each international name has one spelling; nil for an invalid one (UTS 46).
    package static func ascii(_ typed: some StringProtocol) -> String? {
        // The full stops of East Asian keyboards (UTS 46 §2.3).
        let domain = String(typed.map { "\u{3002}\u{FF0E}\u{FF61}".contains($0) ? "." : $0 })
        guard isDomain(domain) else { return nil }
        if domain.utf8.allSatisfy({ $0 < 0x80 }) { return domain }
        guard let host = URL(string: "https://\(domain)")?.host(percentEncoded: false), host.utf8.allSatisfy({ $0 < 0x80 }), isDomain(host)
        else { return nil }
        return host
    }

    private static func isDomain(_ domain: String) -> Bool {
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

    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            false
        default:
            true
        }
    }
}
