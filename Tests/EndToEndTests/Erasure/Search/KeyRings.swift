import Accounts
import HeliographCrypto
import TestSupport

/// All key rings of an installation, as no service has them.
struct KeyRings: Sendable {
    private let sealers: [KeyPurpose: Sealer]

    init(of stack: Stack) throws {
        var sealers: [KeyPurpose: Sealer] = [:]
        for purpose in KeyPurpose.sealing {
            guard let text = stack.setting(purpose.setting) else {
                throw DeadlineExceeded(description: "the stack has no \(purpose.setting)")
            }
            sealers[purpose] = Sealer(keyRing: try KeyRing(parsing: text))
        }
        self.sealers = sealers
    }

    /// Seals a value, as the service that has the ring does.
    func seal(_ bytes: [UInt8], for purpose: KeyPurpose, context: [UInt8]) throws -> [UInt8] {
        guard let sealer = sealers[purpose] else { return [] }
        return try sealer.seal(bytes, context: context)
    }

    /// Opens a value with any ring; nil when none opens it.
    func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        sealers.values.lazy.compactMap { try? $0.open(sealed, context: context) }.first
    }

    /// Opens an object of the blob store with any ring, whichever way it was written; nil when none opens it.
    func openObject(_ sealed: [UInt8], key: String) -> [UInt8]? {
        for kind in ["blob", "media"] {
            for sealer in sealers.values {
                if let plain = try? Self.open(sealed, by: sealer, context: Array("\(kind):\(key)".utf8)) { return plain }
            }
        }
        return nil
    }

    private static func open(_ sealed: [UInt8], by sealer: Sealer, context: [UInt8]) throws -> [UInt8] {
        var opener = try sealer.makeStreamOpener(context: context)
        return try opener.update(sealed) + opener.finish()
    }
}
