internal import Foundation

/// Keeps the secrets of pending tasks, such as the token of an eKYC session: ``FileSecrets`` in apps.
protocol PendingSecrets: Sendable {
    /// Stores a secret under a key of 1 to 100 letters, digits, `-`, `_` and `.`; replaces an existing secret.
    func set(_ secret: String, for key: String) async throws(HeliographError)

    /// The secret of a key; nil without a secret.
    func secret(for key: String) async throws(HeliographError) -> String?

    /// Removes the secret of a key, if there is one.
    func remove(_ key: String) async throws(HeliographError)

    /// All keys that have a secret, with the times at which these were set.
    func keys() async throws(HeliographError) -> [String: Date]
}

/// Keeps secrets as files that only the user of the process can read, each under the name of its key.
///
/// On iOS they can be read and written once the device was unlocked after its start: the answer to an upload, or a push about it, may come
/// while it is locked.
struct FileSecrets: PendingSecrets {
    let folder: URL
    let files: any FileOperations

    init(folder: URL, files: any FileOperations = SystemFiles()) {
        self.folder = folder
        self.files = files
    }

    func set(_ secret: String, for key: String) async throws(HeliographError) {
        let file = try url(of: key)
        try HeliographError.storing("a secret cannot be kept") {
            try files.createFolder(folder)
            // The key is unique and has one writer, so its temporary file is too. Keys cannot contain `~`.
            try files.replace(file, with: Data(secret.utf8), by: folder.appending(path: key + "~new"))
        }
    }

    func secret(for key: String) async throws(HeliographError) -> String? {
        let file = try url(of: key)
        return try HeliographError.storing("a secret cannot be read") { try files.read(file).map { String(decoding: $0, as: UTF8.self) } }
    }

    func remove(_ key: String) async throws(HeliographError) {
        let file = try url(of: key)
        try HeliographError.storing("a secret cannot be removed") {
            try files.remove(folder.appending(path: key + "~new"))
            try files.remove(file)
        }
    }

    func keys() async throws(HeliographError) -> [String: Date] {
        try HeliographError.storing("the secrets cannot be listed") {
            let entries = try files.list(folder).map { entry in
                (entry.name.hasSuffix("~new") ? String(entry.name.dropLast(4)) : entry.name, entry.modifiedAt)
            }
            return Dictionary(entries, uniquingKeysWith: max)
        }
    }

    private func url(of key: String) throws(HeliographError) -> URL {
        guard key.isPlain(upTo: 100, dots: true), !key.hasPrefix(".") else {
            throw HeliographError(.invalidArgument, "a key of a secret has letters, digits, -, _ and . only")
        }
        return folder.appending(path: key)
    }
}
