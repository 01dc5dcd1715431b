import FoundationEssentials
import HeliographCrypto
import JSON

/// The identity that the notifier proves: a service account as in the key file that Google issues.
struct ServiceAccount: Sendable {
    let projectID: String
    let clientEmail: String
    let privateKeyID: String
    let tokenURI: String
    let publicKey: RSAPublicKey

    /// The size of a key made here, in bits: the size of Google's keys.
    private static let keyBits = 2048

    /// Reads the key file; without a key file, creates an account and writes its key file.
    ///
    /// Blocking: reads and writes files and may generate a key.
    static func loadOrCreate(
        file: String, projectID: String, tokenURI: String
    ) throws(EmulatorError) -> ServiceAccount {
        do {
            if !FileManager.default.fileExists(atPath: file) {
                try KeyFiles.write(try makeKeyFile(projectID: projectID, tokenURI: tokenURI), to: file)
            }
            return try ServiceAccount(keyFile: [UInt8](try Data(contentsOf: URL(filePath: file))))
        } catch let error as EmulatorError {
            throw error
        } catch {
            let message = "cannot read or write the service-account key file \(file)"
            throw EmulatorError(.serviceAccount, message, underlying: error)
        }
    }

    /// Parses a key file.
    init(keyFile: [UInt8]) throws {
        let json = try? JSONValue(parsing: keyFile)
        func field(_ name: String) throws -> String {
            guard let text = json?[name]?.string else {
                throw EmulatorError(.serviceAccount, "the service-account key file has no \(name)")
            }
            return text
        }
        projectID = try field("project_id")
        clientEmail = try field("client_email")
        privateKeyID = try field("private_key_id")
        tokenURI = try field("token_uri")
        publicKey = try RSAPrivateKey(pem: try field("private_key")).publicKey
    }

    private static func makeKeyFile(projectID: String, tokenURI: String) throws -> String {
        let key = try RSAPrivateKey.generate(bits: keyBits)
        let account = "firebase-adminsdk-local@\(projectID).iam.gserviceaccount.com"
        let file: JSONValue = [
            "type": "service_account",
            "project_id": .string(projectID),
            "private_key_id": .string(RandomText.hexadecimal(40)),
            "private_key": .string(try key.pem()),
            "client_email": .string(account),
            "client_id": .string(RandomText.digits(21)),
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": .string(tokenURI),
            "universe_domain": "googleapis.com",
        ]
        return file.prettyText
    }
}
