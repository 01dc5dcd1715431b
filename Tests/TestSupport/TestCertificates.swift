import Foundation

/// Makes a certificate authority and a server certificate with the openssl command.
public enum TestCertificates {
    /// The names of a server on this machine.
    public static let localNames = "DNS:localhost,IP:127.0.0.1"
    /// The name of another server.
    public static let otherName = "DNS:other.example"

    /// Writes the three PEM files; the authority's key, the request and the extensions remain in `folder`.
    ///
    /// - Parameter names: The names of the server, in the form of openssl's `subjectAltName`.
    public static func make(
        authority: String, certificate: String, key: String, folder: String, names: String = localNames
    ) async throws {
        let authorityKey = folder + "/ca.key"
        let request = folder + "/server.csr"
        let extensions = folder + "/server.ext"
        try "subjectAltName=\(names)\n".write(toFile: extensions, atomically: true, encoding: .utf8)
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await CommandLineTool.run(
            ["openssl", "req", "-x509"] + newKey
                + ["-keyout", authorityKey, "-out", authority, "-days", "2", "-subj", "/CN=Heliograph test CA"])
        try await CommandLineTool.run(
            ["openssl", "req"] + newKey + ["-keyout", key, "-out", request, "-subj", "/CN=Heliograph test server"])
        try await CommandLineTool.run([
            "openssl", "x509", "-req", "-in", request, "-CA", authority, "-CAkey", authorityKey, "-CAcreateserial",
            "-out", certificate, "-days", "2", "-extfile", extensions,
        ])
        chmod(key, 0o644)
    }
}
