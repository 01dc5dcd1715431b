internal import Foundation

/// Finds files in a client's folder that must not exist once no task is pending.
enum FolderCheck {
    /// The files that stay: the tokens, the key of the phone, the record of its registration, and the locks between
    /// processes.
    static let kept: Set<String> = [
        "credentials.json", "credentials.json.lock", "retired.json", "retired.json.lock", "registration.json", "sessions/lock", "jobs/lock",
        "uploads/lock", "secrets/lock", "secrets.lock", "device-key", "device-key.lock",
    ]

    /// The temporary file that remains when a process ends during a write: one for each file name. The next write of the same file replaces
    /// it.
    static let replaced: Set<String> = ["credentials.json.new", "retired.json.new", "registration.json.new", "device-key.new"]

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
