internal import FoundationEssentials
internal import HeliographCrypto

/// The identity of a service account, as in Google's JSON key file.
public struct ServiceAccountKey: Sendable, CustomStringConvertible {
    /// The Firebase project.
    public let projectID: String
    let clientEmail: String
    /// The id of the key, by which Google finds it among the account's keys; nil when only the key itself is known.
    let privateKeyID: String?
    let privateKey: RSAPrivateKey
    /// The token endpoint named by the key file; used only when it is Google's, see ``FCMEndpoints``.
    let tokenURI: String?

    /// Parses a key file.
    ///
    /// - Throws: `configuration`, with the name of the invalid member and never its value.
    public init(json: [UInt8]) throws(FCMError) {
        struct File: Decodable {
            let type: String?
            let project_id: String?
            let private_key_id: String?
            let private_key: String?
            let client_email: String?
            let token_uri: String?
        }
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: Data(json))
        } catch {
            // The error of the decoder may quote the file.
            throw FCMError(.configuration, "the service-account key file is not valid JSON of a key")
        }
        guard file.type == "service_account" else {
            throw FCMError(.configuration, "the key file is not of a service account (type must be service_account)")
        }
        func member(_ name: String, _ value: String?) throws(FCMError) -> String {
            guard let value, !value.isEmpty else {
                throw FCMError(.configuration, "the service-account key file has no \(name)")
            }
            return value
        }
        projectID = try member("project_id", file.project_id)
        clientEmail = try member("client_email", file.client_email)
        privateKeyID = try member("private_key_id", file.private_key_id)
        let pem = try member("private_key", file.private_key)
        do throws(CryptoError) {
            privateKey = try RSAPrivateKey(pem: pem)
        } catch {
            throw FCMError(.configuration, "the private_key of the service-account key file is not an RSA key")
        }
        tokenURI = file.token_uri
    }

    /// Makes a key from the members of a key file that matter.
    ///
    /// - Parameter privateKey: The PEM text; its line ends may be written as `\n`, as they are in a key file.
    /// - Throws: `configuration` when it is not an RSA key; the error does not repeat it.
    public init(projectID: String, clientEmail: String, privateKey: String) throws(FCMError) {
        self.projectID = projectID
        self.clientEmail = clientEmail
        privateKeyID = nil
        tokenURI = nil
        do throws(CryptoError) {
            self.privateKey = try RSAPrivateKey(pem: privateKey.replacing("\\n", with: "\n"))
        } catch {
            throw FCMError(.configuration, "the private key is not an RSA key in PEM")
        }
    }

    /// The project; the key is hidden.
    public var description: String { "ServiceAccountKey(project: \(projectID))" }
}
