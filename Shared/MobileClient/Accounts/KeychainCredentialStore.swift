#if canImport(Security)
    public import Foundation
    internal import Security

    /// Keeps credentials in the Keychain, in an access group that app and notification extension share.
    ///
    /// They can be read once the device was unlocked after its start. They are not in backups, and not transferred to another device.
    public struct KeychainCredentialStore: CredentialStore {
        private let service: String
        private let accessGroup: String?
        private let lock: FileLock

        /// - Parameters:
        ///   - service: Names the credentials; one a base URL of the API.
        ///   - accessGroup: The group of app and extension (entitlement `keychain-access-groups`), with the team's prefix; nil for the app
        ///   alone.
        ///   - folder: A folder that app and extension share, for a lock file.
        public init(service: String, accessGroup: String?, folder: URL) {
            self.service = service
            self.accessGroup = accessGroup
            lock = FileLock(folder.appending(path: "credentials.lock"))
        }

        /// Reads the item of the Keychain; nil without an item.
        ///
        /// - Throws: `NSError` with the `OSStatus`, for instance before the device was first unlocked.
        public func read() async throws -> Data? { try readItem() }

        /// Changes the item under a lock of the file beside it; an equal value is not written.
        ///
        /// - Throws: The error of `change`, `storage` when another process holds the lock for seconds, or `NSError` with the `OSStatus`.
        public func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer {
            try FileManager.default.createDirectory(at: lock.file.deletingLastPathComponent(), withIntermediateDirectories: true)
            return try await lock.withLock { Result { try changeItem(change) } }.get()
        }

        private func changeItem<Answer>(_ change: (inout Data?) throws -> Answer) throws -> Answer {
            let kept = try readItem()
            var data = kept
            let answer = try change(&data)
            if data != kept { try write(data, replacing: kept) }
            return answer
        }

        private var item: [String: Any] {
            var item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: "account", kSecUseDataProtectionKeychain as String: true,
            ]
            item[kSecAttrAccessGroup as String] = accessGroup
            return item
        }

        private func readItem() throws -> Data? {
            var found: CFTypeRef?
            let query = item.merging([kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne]) { $1 }
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw Self.error(status) }
            return found as? Data
        }

        private func write(_ data: Data?, replacing kept: Data?) throws {
            guard let data else {
                let status = SecItemDelete(item as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.error(status) }
                return
            }
            let values: [String: Any] = [
                kSecValueData as String: data,
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            let status =
                kept == nil
                ? SecItemAdd(item.merging(values) { $1 } as CFDictionary, nil)
                : SecItemUpdate(item as CFDictionary, values as CFDictionary)
            guard status == errSecSuccess else { throw Self.error(status) }
        }

        private static func error(_ status: OSStatus) -> NSError { NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
    }
#endif
