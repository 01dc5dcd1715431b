public import Foundation

/// Where a client keeps tokens and the key of the device: files, or the Keychain on Apple's systems.
public struct ClientStorage: Sendable {
    /// The tokens of the sign-in.
    var credentials: any CredentialStore
    /// The tokens of sign-ins whose logout the API has not confirmed.
    var retired: any CredentialStore
    /// The tokens of sessions by face.
    var secrets: any PendingSecrets
    /// The archive of the device's key (``DeviceSigningKey/archive``). It stays when the person signs out, because the account knows the
    /// device by it.
    var deviceKey: any CredentialStore
    /// Makes the device's key; nil for sign-ins without one.
    var keyMaker: (any DeviceKeyMaker)?

    /// Keeps tokens in files that the user of the process alone can read.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files.
    ///   - keys: Makes the key to which sign-ins are bound; nil for sign-ins without a key.
    public init(files folder: URL, keys: (any DeviceKeyMaker)? = Self.systemKeys) {
        credentials = FileCredentialStore(file: folder.appending(path: "credentials.json"))
        retired = FileCredentialStore(file: folder.appending(path: "retired.json"))
        secrets = FileSecrets(folder: folder.appending(path: "secrets"))
        deviceKey = FileCredentialStore(file: folder.appending(path: "device-key"))
        keyMaker = keys
    }

    /// The keys of the system: of CryptoKit on Apple's systems, none elsewhere.
    public static var systemKeys: (any DeviceKeyMaker)? {
        #if canImport(CryptoKit)
            CryptoKitKeys()
        #else
            nil
        #endif
    }

    #if canImport(Security)
        /// Stores tokens in the Keychain, but the tokens of sessions, which are valid for a day, in files.
        ///
        /// - Parameters:
        ///   - service: Names the tokens; one a base URL of the API.
        ///   - accessGroup: The group of app and extension (entitlement `keychain-access-groups`); nil for the app alone.
        ///   - folder: A folder that app and extension share.
        ///   - keys: Makes the key to which sign-ins are bound; nil for sign-ins without a key.
        public init(
            keychainService service: String, accessGroup: String?, folder: URL, keys: (any DeviceKeyMaker)? = Self.systemKeys
        ) {
            credentials = KeychainCredentialStore(service: service, accessGroup: accessGroup, folder: folder)
            retired = KeychainCredentialStore(service: service + ".retired", accessGroup: accessGroup, folder: folder)
            secrets = FileSecrets(folder: folder.appending(path: "secrets"))
            // The Keychain's items outlive the app, so that a person who installs it again has a device that the account knows.
            deviceKey = KeychainCredentialStore(service: service + ".device-key", accessGroup: accessGroup, folder: folder)
            keyMaker = keys
        }
    #endif
}
