import FoundationEssentials
import HeliographCrypto

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A self-signed certificate for this machine only; a client trusts it by naming its file.
enum DevelopmentCertificate {
    private static let keyBits = 2048
    private static let validityDays = 825

    /// Makes both files with the openssl command unless they exist. Blocking.
    static func ensure(certificateFile: String, keyFile: String, names: [String]) throws(EmulatorError) {
        let files = FileManager.default
        if files.fileExists(atPath: certificateFile), files.fileExists(atPath: keyFile) { return }
        // A folder of its own, because openssl would write the certificate in place, and readable for all.
        let folder = "\(certificateFile).\(UUID().uuidString)"
        defer { try? files.removeItem(atPath: folder) }
        do {
            // Made here: openssl would print its progress.
            let key = try RSAPrivateKey.generate(bits: keyBits).pem()
            try KeyFiles.write(key, to: folder + "/key.pem")
            try run(request(keyFile: folder + "/key.pem", certificateFile: folder + "/certificate.pem", names: names))
            let certificate = try Data(contentsOf: URL(filePath: folder + "/certificate.pem"))
            try KeyFiles.write(key, to: keyFile)
            try KeyFiles.write(String(decoding: certificate, as: UTF8.self), to: certificateFile)
        } catch {
            throw EmulatorError(.certificate, "cannot make the certificate \(certificateFile)", underlying: error)
        }
    }

    private static func request(keyFile: String, certificateFile: String, names: [String]) -> [String] {
        let alternatives = names.map { name in
            let octets = name.split(separator: ".").compactMap { UInt8($0) }
            return octets.count == 4 ? "IP:\(name)" : "DNS:\(name)"
        }
        let extensions = [
            // An authority, because it signs itself.
            "basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature,keyCertSign", "extendedKeyUsage=serverAuth",
            "subjectAltName=\(alternatives.joined(separator: ","))",
        ]
        // The machine's own configuration could add extensions.
        return ["openssl", "req", "-x509", "-config", "/dev/null", "-key", keyFile, "-out", certificateFile, "-sha256"]
            + ["-days", "\(validityDays)", "-subj", "/CN=Heliograph FCM emulator"] + extensions.flatMap { ["-addext", $0] }
    }

    /// Runs a program to its end, with an empty environment; its error messages go to the standard error.
    private static func run(_ command: [String]) throws {
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var pid: pid_t = 0
        var status = posix_spawnp(&pid, command[0], nil, nil, &arguments, &environment)
        guard status == 0 else { throw EmulatorError(.certificate, "cannot run \(command[0]): \(String(cString: strerror(status)))") }
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw EmulatorError(.certificate, "\(command[0]) failed") }
    }
}
