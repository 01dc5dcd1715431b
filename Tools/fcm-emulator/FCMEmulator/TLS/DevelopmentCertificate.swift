import FoundationEssentials
import HeliographCrypto

/// A self-signed certificate for this machine only; a client trusts it by naming its file.
enum DevelopmentCertificate {
    private static let keyBits = 2048
    private static let validityDays = 825

    /// Makes both files unless they exist. Blocking.
    static func ensure(certificateFile: String, keyFile: String, names: [String], now: Date) throws(EmulatorError) {
        let files = FileManager.default
        if files.fileExists(atPath: certificateFile), files.fileExists(atPath: keyFile) { return }
        do {
            let key = try RSAPrivateKey.generate(bits: keyBits)
            let certificate = try make(key: key, names: names, now: now)
            try KeyFiles.write(try key.pem(), to: keyFile)
            try KeyFiles.write(certificate, to: certificateFile)
        } catch {
            throw EmulatorError(.certificate, "cannot make the certificate \(certificateFile)", underlying: error)
        }
    }

    private static func make(key: RSAPrivateKey, names: [String], now: Date) throws -> String {
        let algorithm = DER.sequence(DER.identifier(1, 2, 840, 113549, 1, 1, 11), DER.null)
        let name = DER.sequence(
            DER.set(DER.sequence(DER.identifier(2, 5, 4, 3), DER.utf8("Heliograph FCM emulator"))))
        let validity = DER.sequence(
            DER.utcTime(utcTime(now.addingTimeInterval(-3600))),
            DER.utcTime(utcTime(now.addingTimeInterval(Double(validityDays) * 86_400))))
        let body = DER.sequence(
            DER.explicit(0, DER.integer([2])), DER.integer(SecureRandom.bytes(15)), algorithm, name, validity, name,
            try subjectPublicKeyInfo(key), DER.explicit(3, extensions(names: names)))
        let signature = try key.signRS256(body)
        return pem("CERTIFICATE", DER.sequence(body, algorithm, DER.bits(signature)))
    }

    private static func extensions(names: [String]) -> [UInt8] {
        let alternatives = names.map { name in
            let octets = name.split(separator: ".").compactMap { UInt8($0) }
            return octets.count == 4 ? DER.value(0x87, octets) : DER.value(0x82, Array(name.utf8))
        }
        return DER.sequence(
            // Basic constraints: an authority, because it signs itself; key usage: digitalSignature and keyCertSign; extended: server.
            DER.sequence(DER.identifier(2, 5, 29, 19), DER.yes, DER.octets(DER.sequence(DER.yes))),
            DER.sequence(DER.identifier(2, 5, 29, 15), DER.yes, DER.octets(DER.bits([0b1000_0100], unused: 2))),
            DER.sequence(
                DER.identifier(2, 5, 29, 37), DER.octets(DER.sequence(DER.identifier(1, 3, 6, 1, 5, 5, 7, 3, 1)))),
            DER.sequence(
                DER.identifier(2, 5, 29, 17), DER.octets(DER.value(0x30, Array(alternatives.joined())))))
    }

    /// The public key as certificates carry it, which is what its PEM file holds.
    private static func subjectPublicKeyInfo(_ key: RSAPrivateKey) throws -> [UInt8] {
        let lines = try key.publicKey.pem().split(separator: "\n").filter { !$0.hasPrefix("-----") }
        guard let data = Data(base64Encoded: lines.joined()) else {
            throw EmulatorError(.certificate, "the public key is not a PEM file")
        }
        return [UInt8](data)
    }

    private static func pem(_ label: String, _ bytes: [UInt8]) -> String {
        let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }

    /// `YYMMDDhhmmssZ`.
    private static func utcTime(_ date: Date) -> String {
        date.formatted(.iso8601).filter { $0.isNumber || $0 == "Z" }.dropFirst(2).description
    }
}
