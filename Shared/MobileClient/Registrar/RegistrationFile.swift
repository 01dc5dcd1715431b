internal import Foundation

/// The file that tells a later process what the API was told last. It contains no token.
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

    /// Replaces the record in one step. Where that fails there is none afterwards: an old one would claim what is not true any more.
    ///
    /// To remove a file needs no space on the disk, so that a record can always be put in doubt.
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
