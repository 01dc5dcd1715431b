internal import Foundation

/// An IPv4 or IPv6 address; an IPv4 address mapped into IPv6 is equal to the plain one.
struct IPAddress: Sendable, Hashable {
    /// The 16 bytes of the IPv6 form, in two halves.
    let high: UInt64
    let low: UInt64

    private static let mappedPrefix: UInt64 = 0x0000_FFFF_0000_0000

    /// The address for a peer without one, as on a Unix socket.
    static let none = IPAddress(high: 0, low: 0)

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the usual text form, without port or brackets; nil for anything else.
    init?(_ text: some StringProtocol) {
        var v4 = in_addr()
        var v6 = in6_addr()
        let text = String(text)
        // C reads up to the first NUL only.
        guard !text.utf8.contains(0) else { return nil }
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(high: 0, low: Self.mappedPrefix | UInt64(UInt32(bigEndian: v4.s_addr)))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            let halves = withUnsafeBytes(of: v6) { bytes in
                (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
        } else {
            return nil
        }
    }

    /// Reads an element of `X-Forwarded-For`: an address between spaces, with or without a port, an IPv6 address also in brackets.
    init?(forwarded text: some StringProtocol) {
        var text = text.drop { $0 == " " }.prefix { $0 != " " }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = text[..<end].dropFirst()
        } else if text.count(where: { $0 == ":" }) == 1 {
            text = text.prefix { $0 != ":" }
        }
        self.init(text)
    }

    private var isV4: Bool { high == 0 && low >> 32 == Self.mappedPrefix >> 32 }

    /// The address that limits apply to: an IPv4 address itself, an IPv6 address's /64, which is the smallest block of one subscriber.
    var subscriber: IPAddress { isV4 ? self : IPAddress(high: high, low: 0) }

    /// The block that one organisation may hold: an IPv4 address itself, an IPv6 address's /48.
    var site: IPAddress { isV4 ? self : masked(to: 48) }

    /// The block of a size that the address is part of.
    func prefix(_ block: Block) -> IPAddress {
        switch block {
        case .subscriber: subscriber
        case .customer: isV4 ? self : masked(to: 56)
        case .organisation: masked(to: isV4 ? 96 + 24 : 48)
        }
    }

    /// The first bits of the address; for an IPv4 address, the first bits of its IPv6-mapped form.
    fileprivate func masked(to bits: Int) -> IPAddress {
        IPAddress(
            high: bits >= 64 ? high : high & ~(.max >> UInt64(bits)),
            low: bits >= 128 ? low : bits <= 64 ? 0 : low & ~(.max >> UInt64(bits - 64)))
    }

    fileprivate var bitCount: Int { isV4 ? 32 : 128 }
}

extension IPAddress {
    /// A block of addresses that are limited together.
    enum Block: CaseIterable, Sendable {
        /// A subscriber: an IPv4 address, a /64 of IPv6.
        case subscriber
        /// A customer of a provider: a /56 of IPv6.
        case customer
        /// An organisation: a /24 of IPv4, a /48 of IPv6.
        case organisation

        /// How many times the rate of a subscriber the block has.
        var allowance: Int {
            switch self {
            case .subscriber: 1
            case .customer: 4
            case .organisation: 16
            }
        }
    }
}

/// A CIDR block of addresses, as in `10.0.0.0/8`.
struct AddressBlock: Sendable, Equatable {
    private let base: IPAddress
    /// The length of the common prefix, in bits of the IPv6 form.
    private let bits: Int

    /// Reads an address, or an address, a slash and a number of bits; nil for anything else.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        var length = address.bitCount
        if parts.count == 2 {
            guard let number = Int(parts[1]), 0...length ~= number else { return nil }
            length = number
        }
        bits = length + (128 - address.bitCount)
        base = address.masked(to: bits)
    }

    func contains(_ address: IPAddress) -> Bool { address.masked(to: bits) == base }
}
