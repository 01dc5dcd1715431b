internal import Foundation

/// The file with the last registration that was sent to the API, for a later process. It contains no token.
///
/// It only saves requests: without it, or when it cannot be read, the registration is repeated at the next launch. One process uses it, the
/// app: an extension registers nothing.
struct RegistrationFile: Sendable {
    /// The content of the file. A file of another version counts as none.
    private struct Content: Codable {
        static let version = 1

        var version = Self.version
        var registration: TokenRegistrarReducer.Registration
    }

    let url: URL
    var operations: any FileOperations = SystemFiles()

    func load() -> TokenRegistrarReducer.Registration? {
        guard let data = try? operations.read(url), let content = try? JSONDecoder().decode(Content.self, from: data),
            content.version == Content.version
        else { return nil }
        return content.registration
    }

    /// Replaces the record in one step. If that fails, the record is removed, because the old one would not be true any more.
    ///
    /// Removing a file needs no space on the disk, so a record can always be invalidated.
    func save(_ registration: TokenRegistrarReducer.Registration?) {
        let folder = url.deletingLastPathComponent()
        if let registration {
            do {
                // The app's own folder may have other files in it: not one of this module's, which are left out of backups.
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let data = try JSONEncoder().encode(Content(registration: registration))
                return try operations.replace(url, with: data, by: url.appendingPathExtension("new"))
            } catch {
                // Without space there is no record.
            }
        }
        try? operations.remove(url)
        try? operations.syncFolder(folder)
    }
}
