import Foundation

/// The files of folders.
enum FileTree {
    /// Returns the paths of all files below a folder, hidden ones too, relative to it; none when there is no such folder.
    static func files(below folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// Returns the content of a file; nil when it cannot be read.
    static func bytes(of path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { [UInt8]($0) } }
}
