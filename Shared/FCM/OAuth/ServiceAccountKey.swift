internal import FoundationEssentials
internal import HeliographCrypto

/// The identity of a service account, as in the JSON key file Google hands out.
public struct ServiceAccountKey: Sendable, CustomStringConvertible {
    /// The Firebase project.
    public let projectID: String
    let clientEmail: String
    /// Tells Google which of the account's keys signed; nil when only the key itself is known.
    let privateKeyID: String?
    let privateKey: RSAPrivateKey
    /// Where the key file says tokens are had; ours to judge, see ``FCMConfiguration``.
    let tokenURI: String?

    /// Reads the text of a key file.
    ///
    /// - Throws: `configuration`, with the name and never the value of the member that is wrong.
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
            throw FCMError(.configuration, "the service-account key file is not the JSON of a key")
        }
        guard file.type == "service_account" else {
            throw FCMError(.configuration, "the key file is not one of a service account (type must be service_account)")
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
            throw FCMError(.configuration, "the private_key of the service-account key file is no RSA key")
        }
        tokenURI = file.token_uri
    }

    /// Makes a key of the parts of a key file that matter.
    ///
    /// - Parameter privateKey: the PEM text; its line ends may be written as `\n`, as they are in a key file.
    /// - Throws: `configuration` when it is no RSA key; the error does not repeat it.
    public init(projectID: String, clientEmail: String, privateKey: String) throws(FCMError) {
        self.projectID = projectID
        self.clientEmail = clientEmail
        privateKeyID = nil
        tokenURI = nil
        do throws(CryptoError) {
            self.privateKey = try RSAPrivateKey(pem: privateKey.replacing("\\n", with: "\n"))
        } catch {
            throw FCMError(.configuration, "the private key is no RSA key in PEM")
        }
    }

    /// Names the project and hides the key.
    public var description: String { "ServiceAccountKey(project: \(projectID))" }
}
