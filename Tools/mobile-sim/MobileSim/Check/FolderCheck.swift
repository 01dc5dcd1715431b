internal import Foundation

/// Says which files of a client's folder must not be there once nothing is pending.
enum FolderCheck {
    /// The files that stay: the tokens, what the API knows of the phone, and the locks between processes.
    static let kept: Set<String> = [
        "credentials.json", "credentials.json.lock", "retired.json", "retired.json.lock", "registration.json", "sessions/lock", "jobs/lock",
        "uploads/lock", "secrets/lock", "secrets.lock",
    ]

    /// What an end of the process in the middle of a write leaves: one file a name, which the next write of the same replaces.
    static let replaced: Set<String> = ["credentials.json.new", "retired.json.new", "registration.json.new"]

    /// The paths of all files in a folder, in order, relative to it.
    static func files(in folder: URL) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder.appending(path: name).path, isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    /// The files that were left behind.
    static func leaked(_ files: [String]) -> [String] { files.filter { !kept.contains($0) && !replaced.contains($0) } }
}
