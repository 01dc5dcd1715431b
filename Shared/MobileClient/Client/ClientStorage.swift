public import Foundation

/// Where a client keeps tokens: files, or the Keychain on Apple's systems.
public struct ClientStorage: Sendable {
    /// The tokens of the sign-in.
    var credentials: any CredentialStore
    /// The tokens of sign-ins whose logout the API has not confirmed.
    var retired: any CredentialStore
    /// The tokens of sessions by face.
    var secrets: any PendingSecrets

    /// Keeps tokens in files that the user of the process alone can read.
    public init(files folder: URL) {
        credentials = FileCredentialStore(file: folder.appending(path: "credentials.json"))
        retired = FileCredentialStore(file: folder.appending(path: "retired.json"))
        secrets = FileSecrets(folder: folder.appending(path: "secrets"))
    }

    #if canImport(Security)
        /// Stores tokens in the Keychain, but the tokens of sessions, which are valid for a day, in files.
        ///
        /// - Parameters:
        ///   - service: Names the tokens; one a base URL of the API.
        ///   - accessGroup: The group of app and extension (entitlement `keychain-access-groups`); nil for the app alone.
        ///   - folder: A folder that app and extension share.
        public init(keychainService service: String, accessGroup: String?, folder: URL) {
            credentials = KeychainCredentialStore(service: service, accessGroup: accessGroup, folder: folder)
            retired = KeychainCredentialStore(service: service + ".retired", accessGroup: accessGroup, folder: folder)
            secrets = FileSecrets(folder: folder.appending(path: "secrets"))
        }
    #endif
}
